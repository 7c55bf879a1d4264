//! What another client of the file can do to it with SQL. Not tried, because no trigger can stop it: dropping the
//! trigger, writing to `sqlite_schema`, or editing the file. A store with a part missing is refused when it is opened
//! next (see `schema`), and the signed head with its chain of hashes tells the rest.

use ambit_conformance::store::sample::{claim, commit, fence, message, run_stream};
use ambit_ports::store::Store as _;
use rusqlite::Connection;

use crate::place::{Place, dump};

async fn filled(place: &Place) -> Connection {
    let store = place.open("store");
    let fence = fence(&store, &run_stream(1), "owner", 0).await;
    let mut commit = commit(&run_stream(1), 0, Some(fence), &["a", "b"]);
    commit.claims = vec![claim("name/one", "run_00000001")];
    commit.outbox = vec![message("a")];
    store.commit(commit).await.unwrap();
    place.client("store")
}

const RECORD: &str = "'acme', 'shop', 'run_00000001', 0, 1, 'forged', zeroblob(32), x'00'";

/// Each statement would rewrite what happened. Conflict clauses are there because a row that is replaced is deleted
/// without asking the triggers for deletion.
fn rewrites() -> Vec<String> {
    let columns = "organization, project, run, seq, time_ms, kind, leaf, bytes";
    let mut statements: Vec<String> = [
        "UPDATE record SET bytes = x'00'",
        "UPDATE OR REPLACE record SET seq = 0 WHERE seq = 1",
        "UPDATE record SET project = 'other'",
        "DELETE FROM record",
        "DELETE FROM record WHERE seq = 1",
        "UPDATE stream SET head_seq = 0",
        "UPDATE stream SET head_leaf = zeroblob(32)",
        "UPDATE stream SET organization = 'other', head_seq = 9",
        "DELETE FROM stream",
        "UPDATE claim SET value = 'forged'",
        "DELETE FROM claim",
        "REPLACE INTO claim SELECT organization, project, key, 'forged', run, seq FROM claim",
        "UPDATE outbox SET bytes = x'00'",
        "DELETE FROM outbox",
        "REPLACE INTO outbox SELECT id, organization, project, run, event_type, x'00' FROM outbox",
        "UPDATE lease SET fence = 0",
        "UPDATE lease SET owner = 'thief'",
        "DELETE FROM lease",
        "REPLACE INTO lease SELECT organization, project, run, 'thief', 1, 9 FROM lease",
        "REPLACE INTO stream SELECT ordinal, organization, project, run, 9, head_leaf, head_key, head_signature
         FROM stream",
        "REPLACE INTO stream (organization, project, run, head_seq, head_leaf, head_key, head_signature)
         SELECT organization, project, run, 9, head_leaf, head_key, head_signature FROM stream",
    ]
    .map(str::to_owned)
    .to_vec();
    for verb in ["INSERT", "REPLACE", "INSERT OR IGNORE"] {
        statements.push(format!("{verb} INTO record ({columns}) VALUES ({RECORD})"));
        // The place of an old row under a position that would be the next.
        statements.push(format!(
            "{verb} INTO record (position, {columns})
             VALUES (1, 'acme', 'shop', 'run_00000001', 2, 1, 'forged', zeroblob(32), x'00')"
        ));
        // A gap.
        statements.push(format!(
            "{verb} INTO record ({columns})
             VALUES ('acme', 'shop', 'run_00000001', 3, 1, 'forged', zeroblob(32), x'00')"
        ));
    }
    statements.push(format!(
        "INSERT INTO record ({columns}) VALUES ({RECORD})
         ON CONFLICT (organization, project, run, seq) DO UPDATE SET bytes = x'00'"
    ));
    statements
}

// proves E-M01
// break crates/adapters/store-sqlite/src/schema/1.sql: `CREATE TRIGGER record_guards_update BEFORE UPDATE ON record` -> `CREATE TRIGGER record_guards_update BEFORE UPDATE OF position ON record`
#[tokio::test]
async fn another_client_rewrites_nothing() {
    let place = Place::new();
    let client = filled(&place).await;
    let before = dump(&client);
    for statement in rewrites() {
        let refusal = client.execute(&statement, ()).expect_err(&statement).to_string();
        assert!(refusal.contains("only") || refusal.contains("never"), "{statement}: {refusal}");
        assert_eq!(dump(&client), before, "{statement}");
    }
}

/// The control of the test above: the same client may append, so what it was refused was the rewriting.
#[tokio::test]
async fn another_client_appends_like_everybody() {
    let place = Place::new();
    let client = filled(&place).await;
    let before = dump(&client).len();
    let appended = client.execute(
        "INSERT INTO record (organization, project, run, seq, time_ms, kind, leaf, bytes)
         VALUES ('acme', 'shop', 'run_00000001', 2, 1, 'sample.taken', zeroblob(32), x'00')",
        (),
    );
    assert_eq!(appended.unwrap(), 1);
    client.execute("UPDATE stream SET head_seq = 2", ()).unwrap();
    client.execute("UPDATE lease SET fence = fence + 1, owner = 'next'", ()).unwrap();
    assert_eq!(dump(&client).len(), before + 1);
}
