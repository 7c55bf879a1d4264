//! Work that waits for the disk, and what the errors of a file system mean to those who use blobs.

use std::io;

use ambit_ports::blobs::BlobError;
use rustix::io::Errno;

/// Runs what waits for the disk on a thread that may. It is done even where the future is dropped.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, BlobError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, BlobError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(BlobError::Io(io::Error::other(error))),
    }
}

pub(crate) fn failed(errno: Errno) -> BlobError {
    refused(errno.into())
}

/// What an error of the file system means to those who use blobs.
pub(crate) fn refused(error: io::Error) -> BlobError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::NoSpace(error),
        _ => BlobError::Io(error),
    }
}
