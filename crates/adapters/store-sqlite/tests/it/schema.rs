use std::os::unix::fs::PermissionsExt as _;

use ambit_conformance::children::{child, said_by};
use ambit_conformance::store::sample::{commit, project_stream};
use ambit_ports::store::{Seq, Store as _, StoreError};
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use rusqlite::Connection;

use crate::place::{Place, dump};

fn refusal(place: &Place, name: &str) -> StoreError {
    match SqliteStore::open(&place.file(name), StoreOptions::default()) {
        Ok(_) => panic!("{name} was opened"),
        Err(error) => error,
    }
}

fn number(client: &Connection, pragma: &str) -> i64 {
    client.pragma_query_value(None, pragma, |row| row.get(0)).unwrap()
}

// proves E-T46
// break crates/adapters/store-sqlite/src/schema.rs: `transaction.pragma_update(None, "user_version", step as u64 + 1).map_err(failed)?;` -> `let _ = step;`
#[test]
fn a_new_store_says_what_it_is() {
    let place = Place::new();
    drop(place.open("store"));
    let client = place.client("store");
    assert_eq!(number(&client, "user_version"), 1);
    assert_eq!(number(&client, "application_id"), i64::from(u32::from_be_bytes(*b"Ambt")));
    let mode: String = client.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let file = std::fs::metadata(place.file("store")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

// proves E-T46
// break crates/adapters/store-sqlite/src/schema/1.sql: `    UNIQUE (organization, project, run, seq),` -> `    UNIQUE (organization, project, run, seq)); CREATE TABLE other (organization TEXT, project TEXT, run TEXT,`
#[test]
fn a_record_without_a_stream_is_refused() {
    let place = Place::new();
    drop(place.open("store"));
    let client = place.client("store");
    client.pragma_update(None, "foreign_keys", true).unwrap();
    let orphan = client.execute(
        "INSERT INTO record (organization, project, run, seq, time_ms, kind, leaf, bytes)
         VALUES ('acme', 'shop', '', 0, 1, 'k', zeroblob(32), x'00')",
        (),
    );
    assert!(orphan.unwrap_err().to_string().contains("FOREIGN KEY constraint failed"));
}

/// SQLite takes such a name for a URI unless it is told otherwise.
#[test]
fn a_name_is_a_name() {
    let place = Place::new();
    said_by(child("schema::child_that_opens_a_uri").current_dir(place.directory()));
    let size = std::fs::metadata(place.file(URI)).unwrap().len();
    assert!(size > 0);
}

const URI: &str = "file:store?mode=memory";

#[test]
#[ignore = "a_name_is_a_name runs it in another directory"]
fn child_that_opens_a_uri() {
    drop(SqliteStore::open(URI.as_ref(), StoreOptions::default()).unwrap());
}

#[tokio::test]
async fn opening_again_changes_nothing() {
    let place = Place::new();
    place.open("store").commit(commit(&project_stream(), 0, None, &["a"])).await.unwrap();
    let before = dump(&place.client("store"));
    let store = place.open("store");
    assert_eq!(store.read(&project_stream(), Seq(0), 9).await.unwrap().len(), 1);
    assert_eq!(dump(&place.client("store")), before);
}

// proves E-T46
// break crates/adapters/store-sqlite/src/schema.rs: `Ok(version) if version > MIGRATIONS.len() => Err(StoreError::NewerSchema {` -> `Ok(version) if version > 1 + MIGRATIONS.len() => Err(StoreError::NewerSchema {`
#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let place = Place::new();
    drop(place.open("store"));
    place.client("store").pragma_update(None, "user_version", 2).unwrap();
    let refusal = refusal(&place, "store");
    assert!(matches!(refusal, StoreError::NewerSchema { found: 2, known: 1 }), "{refusal:?}");
    place.client("store").pragma_update(None, "user_version", 1).unwrap();
    drop(place.open("store"));
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let place = Place::new();
    let other = place.client("other");
    other.execute_batch("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine');").unwrap();
    let before = dump(&other);
    assert_eq!(refusal(&place, "other").code(), "STORE_FOREIGN");
    assert_eq!(dump(&other), before);
    other.execute_batch("DROP TABLE notes; PRAGMA application_id = 7;").unwrap();
    assert_eq!(refusal(&place, "other").code(), "STORE_FOREIGN");
    drop(other);

    std::fs::write(place.file("text"), "not a database, ".repeat(100)).unwrap();
    assert_eq!(refusal(&place, "text").code(), "STORE_DAMAGED");
    std::fs::create_dir(place.file("directory")).unwrap();
    assert_eq!(refusal(&place, "directory").code(), "STORE_FOREIGN");
    drop(place.open("store"));
    std::os::unix::fs::symlink(place.file("store"), place.file("link")).unwrap();
    assert_eq!(refusal(&place, "link").code(), "STORE_FOREIGN");
    assert_eq!(refusal(&place, "no/such/directory").code(), "STORE_FAILED");
    std::fs::write(place.file("empty"), "").unwrap();
    drop(place.open("empty"));
}

/// A store whose guards were taken away is not used as if they stood.
#[test]
fn a_store_that_lacks_a_part_is_refused() {
    for harm in [
        "DROP TRIGGER record_guards_update",
        "DROP TRIGGER record_guards_update;
         CREATE TRIGGER record_guards_update BEFORE UPDATE ON record BEGIN SELECT 1; END",
        "CREATE TRIGGER leak AFTER INSERT ON record BEGIN DELETE FROM inbox; END",
        "DROP INDEX stream_by_project",
        "DROP TABLE outbox",
    ] {
        let place = Place::new();
        drop(place.open("store"));
        place.client("store").execute_batch(harm).unwrap();
        assert_eq!(refusal(&place, "store").code(), "STORE_DAMAGED", "{harm}");
    }
}

/// Many processes start on a machine where there is no store yet.
#[test]
fn a_store_that_is_made_by_many_at_once_is_one() {
    for _ in 0..10 {
        let place = Place::new();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| place.open("store"));
            }
        });
        assert_eq!(number(&place.client("store"), "user_version"), 1);
    }
}
