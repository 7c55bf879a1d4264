use std::error::Error;
use std::sync::Arc;

use ambit_ports::store::StoreError;
use rusqlite::ErrorCode;
use rusqlite::types::Type;

/// Why work on the database came to no answer.
pub(crate) enum Stop<R> {
    /// The store refuses it: everything that this work did is undone, and nothing else is.
    Refused(R),
    /// The storage failed, and the transaction may be gone.
    Failed(rusqlite::Error),
}

impl<R> From<rusqlite::Error> for Stop<R> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

/// What a failure of the storage means to those who use the store. One failure may concern several of them.
pub(crate) fn translate(error: &Arc<rusqlite::Error>) -> StoreError {
    use rusqlite::Error as E;
    let source = Box::new(Arc::clone(error));
    match error.as_ref() {
        E::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => StoreError::NoSpace(source),
            // The index of the log lies in a file beside it, which could not be made larger.
            _ if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => StoreError::NoSpace(source),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                StoreError::Busy(source)
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly(source),
            // Every constraint of the schema holds in a store that only this crate has written to.
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch => StoreError::Damaged(source),
            _ => StoreError::Failed(source),
        },
        // The statements are constants: where one does not fit, it is the schema that changed.
        E::SqlInputError { .. }
        | E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::Utf8Error(..)
        | E::InvalidColumnType(..) => StoreError::Damaged(source),
        _ => StoreError::Failed(source),
    }
}

pub(crate) fn failed(error: rusqlite::Error) -> StoreError {
    translate(&Arc::new(error))
}

/// A value that no store of this version writes.
pub(crate) fn impossible(column: usize, why: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Null, why.into())
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_log_whose_index_cannot_grow_means_that_the_disk_is_full() {
        let code = |extended| failed(rusqlite::Error::SqliteFailure(ffi::Error::new(extended), None)).code();
        assert_eq!(code(ffi::SQLITE_IOERR_SHMSIZE), "STORAGE_FULL");
        assert_eq!(code(ffi::SQLITE_FULL), "STORAGE_FULL");
        assert_eq!(code(ffi::SQLITE_IOERR_READ), "STORE_FAILED");
    }
}
