//! Ordinary files, and failures that name their place.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ambit_ports::images::ImageError;
use rustix::fs::OFlags;

/// Opens a regular file for reading; fails on a link instead of following it, and never waits on a pipe.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// Makes of an I/O error one that names its place.
pub(crate) fn failed_at(path: &Path) -> impl Fn(io::Error) -> ImageError {
    move |source| ImageError::Io { path: path.to_path_buf(), source }
}
