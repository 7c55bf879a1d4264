use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_ports::store::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use rustix::fs::{Access, CWD, FileType, Mode, access, fsync, mknodat};
use rustix::io::Errno;

use crate::failure::{failed, impossible};

/// "Ambt": tells a store from every other SQLite file (`file` shows it too).
const APPLICATION_ID: i64 = 0x416d_6274;

/// Each step takes the schema from the version of its place to the next. A step that was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("schema/1.sql")];

/// Makes an empty file with mode 0600 where there is none. SQLite gives its log the same mode.
///
/// The file is never opened here: closing any descriptor of a file drops the locks that this process holds on it, and
/// with them those of another connection.
pub(crate) fn ensure_file(path: &Path) -> Result<(), StoreError> {
    match mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) => {
            let directory = match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            let directory =
                std::fs::File::open(directory).map_err(|error| StoreError::Failed(error.into()))?;
            return fsync(directory).map_err(refused_by_system);
        }
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(refused_by_system(errno)),
    }
    let kind = std::fs::symlink_metadata(path).map_err(|error| StoreError::Failed(error.into()))?;
    if !kind.is_file() {
        return Err(StoreError::Foreign);
    }
    access(path, Access::READ_OK | Access::WRITE_OK).map_err(refused_by_system)
}

fn refused_by_system(errno: Errno) -> StoreError {
    let source = Box::new(std::io::Error::from(errno));
    match errno {
        Errno::NOSPC | Errno::DQUOT => StoreError::NoSpace(source),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => StoreError::ReadOnly(source),
        _ => StoreError::Failed(source),
    }
}

/// Brings a store to the newest version, or refuses what is none, is newer, or lacks a part.
pub(crate) fn prepare(connection: &mut Connection, busy_wait: Duration) -> Result<(), StoreError> {
    // Before anything is written, so that what is not ours stays as it is.
    version(&connection.transaction().map_err(failed)?)?;
    write_ahead(connection, busy_wait)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have been faster.
    let found = version(&transaction)?;
    for (step, sql) in MIGRATIONS.iter().enumerate().skip(found) {
        transaction.execute_batch(sql).map_err(failed)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        transaction.pragma_update(None, "user_version", step as u64 + 1).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    compare(connection).map_err(failed)
}

/// Turns the write-ahead log on. SQLite may answer that the file is busy without having waited, since two that turn it on at
/// once could wait for each other; so it is tried anew.
fn write_ahead(connection: &Connection, busy_wait: Duration) -> Result<(), StoreError> {
    let since = Instant::now();
    loop {
        let turned = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match turned.map_err(failed) {
            Ok::<String, _>(mode) if mode == "wal" => return Ok(()),
            Ok(_) => return Err(StoreError::Failed("the file system cannot hold a write-ahead log".into())),
            Err(StoreError::Busy(_)) if since.elapsed() < busy_wait => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
}

/// The version of the schema; 0 where nothing was written yet. A transaction, so that all of it is of one moment.
fn version(connection: &Transaction<'_>) -> Result<usize, StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    if application != APPLICATION_ID {
        let things: u64 = connection
            .query_one("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))
            .map_err(failed)?;
        return if application == 0 && version == 0 && things == 0 {
            Ok(0)
        } else {
            Err(StoreError::Foreign)
        };
    }
    match usize::try_from(version) {
        Ok(0) | Err(_) => Err(damaged("a store without a version")),
        Ok(version) if version > MIGRATIONS.len() => Err(StoreError::NewerSchema {
            found: u32::try_from(version).unwrap_or(u32::MAX),
            known: u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX),
        }),
        Ok(version) => Ok(version),
    }
}

fn damaged(why: &'static str) -> StoreError {
    crate::failure::translate(&Arc::new(impossible(0, why)))
}

/// Compares the whole schema with that of a new store: a trigger that was dropped guards nothing. What `ANALYZE` leaves
/// is no part of it.
fn compare(connection: &Connection) -> rusqlite::Result<()> {
    let fresh = Connection::open_in_memory()?;
    for sql in MIGRATIONS {
        fresh.execute_batch(sql)?;
    }
    if parts(connection)? == parts(&fresh)? {
        Ok(())
    } else {
        Err(impossible(0, "a table, an index or a trigger of the store was dropped, added or changed"))
    }
}

fn parts(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    connection
        .prepare(
            "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name",
        )?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}
