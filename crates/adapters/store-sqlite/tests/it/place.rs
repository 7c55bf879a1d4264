//! Directories with stores in them, and another client that looks into the same file.

use std::path::{Path, PathBuf};

use ambit_store_sqlite::{SqliteStore, StoreOptions};
use rusqlite::Connection;
use tempfile::TempDir;

/// A directory of stores that goes when it is dropped.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn open(&self, name: &str) -> SqliteStore {
        SqliteStore::open(&self.file(name), StoreOptions::default()).unwrap()
    }

    /// Another client of the same file, with SQLite's defaults.
    pub(crate) fn client(&self, name: &str) -> Connection {
        let client = Connection::open(self.file(name)).unwrap();
        client.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        client
    }
}

/// Every row of every table, as text.
pub(crate) fn dump(client: &Connection) -> Vec<String> {
    let tables: Vec<String> = client
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut rows = Vec::new();
    for table in tables {
        let mut statement = client.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let width = statement.column_count();
        let found = statement.query_map((), |row| {
            (0..width)
                .map(|column| row.get::<_, rusqlite::types::Value>(column))
                .collect::<Result<Vec<_>, _>>()
        });
        rows.extend(found.unwrap().map(|row| format!("{table} {:?}", row.unwrap())));
    }
    rows
}
