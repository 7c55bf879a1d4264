//! Files that a person names on the command line. None is read further than it may be long.

use std::path::Path;

use ambit_blueprint::DocumentError;
use ambit_ids::limits;

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

/// The first bytes of a file, however many there are.
fn read_start(file: &Path, length: usize) -> Result<Vec<u8>, Failure> {
    use std::io::Read as _;
    let failed = |error: std::io::Error| {
        Failure::new("USAGE_FILE_UNREADABLE", format!("{} cannot be read: {error}", file.display()))
    };
    let opened = std::fs::File::open(file).map_err(failed)?;
    let mut bytes = Vec::new();
    opened.take(length as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
