//! What a bundle answers to whoever would write to it.

use std::io;

use ambit_ports::blobs::BlobError;
use ambit_ports::store::StoreError;

/// Why nothing can be written.
#[derive(Debug, thiserror::Error)]
#[error("an evidence bundle is read and never written to")]
pub(crate) struct ReadOnly;

pub(crate) fn store<T>() -> Result<T, StoreError> {
    Err(StoreError::ReadOnly(Box::new(ReadOnly)))
}

pub(crate) fn blobs<T>() -> Result<T, BlobError> {
    Err(BlobError::Io(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, ReadOnly)))
}
