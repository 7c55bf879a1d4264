//! Files that a person names on the command line. None is read further than it may be long.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
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
    let bytes = start(file, &opened(file)?, limits::DOCUMENT_BYTES + 1)?;
    parse(&file.to_string_lossy(), &bytes).map_err(Failure::of_document)
}

/// Reads a file that must not be larger than it may be.
pub(crate) fn read_bytes(file: &Path, limit: usize) -> Result<Vec<u8>, Failure> {
    whole(file, &opened(file)?, limit)
}

/// Reads a file that holds a secret. One that others can read, or write, is refused: nobody knows who has it.
pub(crate) fn read_secret(file: &Path, limit: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let found = opened(file)?;
    // Of what was opened, and not of what stands under the name by now.
    let mode = found.metadata().map_err(|error| unreadable(file, &error))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Failure::new(
            "CREDENTIAL_REFUSED",
            format!("{} has the mode {mode:o}, so that others can read or write it", file.display()),
        )
        .help(format!("nothing was changed; `chmod 600 {}` closes it", file.display())));
    }
    whole(file, &found, limit).map(Zeroizing::new)
}

/// A regular file. A pipe or a device could be waited for without end.
fn opened(file: &Path) -> Result<File, Failure> {
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let failed = |error: io::Error| unreadable(file, &error);
    let opened = OpenOptions::new().read(true).custom_flags(at_once).open(file).map_err(failed)?;
    if !opened.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is no regular file")).help("name a file"));
    }
    Ok(opened)
}

fn whole(file: &Path, opened: &File, limit: usize) -> Result<Vec<u8>, Failure> {
    let bytes = start(file, opened, limit + 1)?;
    if bytes.len() > limit {
        return Err(Failure::new(
            "USAGE_FILE_TOO_LARGE",
            format!("{} has more than the {limit} bytes that are read", file.display()),
        ));
    }
    Ok(bytes)
}

/// The first bytes of a file, however many there are.
fn start(file: &Path, opened: &File, length: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    opened.take(length as u64).read_to_end(&mut bytes).map_err(|error| unreadable(file, &error))?;
    Ok(bytes)
}

fn unreadable(file: &Path, error: &io::Error) -> Failure {
    Failure::new("USAGE_FILE_UNREADABLE", format!("{} cannot be read: {error}", file.display()))
}
