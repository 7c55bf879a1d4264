//! Files that a person names on the command line. None is read further than it may be long.

use std::path::Path;

use ambit_blueprint::DocumentError;
use ambit_ids::limits;
use rustix::fs::OFlags;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// Reads a document from a file, and tells what is wrong with it with its place.
pub(crate) fn read_document<T>(
    file: &Path,
    parse: impl Fn(&str, &[u8]) -> Result<T, DocumentError>,
) -> Result<T, Failure> {
    // One byte more than a document may have, so that it is refused as a document is.
    let bytes = read_start(file, limits::DOCUMENT_BYTES + 1)?;
    parse(&file.to_string_lossy(), &bytes).map_err(Failure::of_document)
}

/// Reads a file that must not be larger than it may be.
pub(crate) fn read_bytes(file: &Path, limit: usize) -> Result<Vec<u8>, Failure> {
    let bytes = read_start(file, limit + 1)?;
    if bytes.len() > limit {
        return Err(Failure::new(
            "USAGE_FILE_TOO_LARGE",
            format!("{} has more than the {limit} bytes that are read", file.display()),
        ));
    }
    Ok(bytes)
}

/// Reads a file that holds a secret. One that others can read, or write, is refused: nobody knows who has it.
pub(crate) fn read_secret(file: &Path, limit: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(file).map(|found| found.permissions().mode() & 0o777);
    if let Ok(mode) = mode
        && mode & 0o077 != 0
        && file.is_file()
    {
        return Err(Failure::new(
            "CREDENTIAL_REFUSED",
            format!("{} has the mode {mode:o}, so that others can read or write it", file.display()),
        )
        .help(format!("nothing was changed; `chmod 600 {}` closes it", file.display())));
    }
    read_bytes(file, limit).map(Zeroizing::new)
}

/// The first bytes of a file, however many there are. A pipe or a device could be waited for without end.
fn read_start(file: &Path, length: usize) -> Result<Vec<u8>, Failure> {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let failed = |error: std::io::Error| {
        Failure::new("USAGE_FILE_UNREADABLE", format!("{} cannot be read: {error}", file.display()))
    };
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(at_once).open(file).map_err(failed)?;
    if !opened.metadata().map_err(failed)?.is_file() {
        return Err(failed(std::io::Error::other("it is no regular file")).help("name a file"));
    }
    let mut bytes = Vec::new();
    opened.take(length as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
