use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::options::StoreOptions;

/// Opens a file that exists.
pub(crate) fn connect(path: &Path, options: StoreOptions) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    wait_when_busy(&mut connection, options.busy_wait)?;
    // FULL: the log is on the disk before a commit answers. The last two are for files that somebody tampered with.
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;",
    )?;
    if let Some(limit) = options.size_limit {
        let page_bytes: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(limit.get() / page_bytes).unwrap_or(i64::MAX);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

/// Opens a store that is ready, and cannot write to it.
pub(crate) fn connect_to_read(path: &Path, options: StoreOptions) -> rusqlite::Result<Connection> {
    let connection = connect(path, options)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Waits for another process in steps of about a millisecond. SQLite's own handler sleeps up to 100 ms at a time: one
/// process that commits without a pause would then keep another out for seconds.
fn wait_when_busy(connection: &mut Connection, longest: Duration) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |count: i32| {
        if count == 0 {
            since = Instant::now();
        }
        let spread = u64::from(since.elapsed().subsec_nanos() % 1_000);
        std::thread::sleep(Duration::from_micros(200 + spread));
        since.elapsed() < longest
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves E-T46
    // break crates/adapters/store-sqlite/src/connection.rs: `         PRAGMA foreign_keys = ON;` -> `         PRAGMA foreign_keys = OFF;`
    #[test]
    fn a_connection_is_durable_and_keeps_foreign_keys() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        std::fs::write(&path, "").unwrap();
        let connection = connect(&path, StoreOptions::default()).unwrap();
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(pragma("foreign_keys"), 1);
        assert_eq!(pragma("synchronous"), 2, "FULL");
        connection
            .execute_batch("CREATE TABLE a (b INTEGER REFERENCES c (d)); CREATE TABLE c (d UNIQUE)")
            .unwrap();
        let orphan = connection.execute("INSERT INTO a VALUES (1)", ()).unwrap_err();
        assert_eq!(crate::failure::failed(orphan).code(), "STORE_DAMAGED");
        let reader = connect_to_read(&path, StoreOptions::default()).unwrap();
        assert!(reader.execute("INSERT INTO c VALUES (1)", ()).is_err(), "a reader does not write");
    }
}
