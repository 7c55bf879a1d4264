//! What somebody can do who may write to the file of the store, but does not hold the log key.

use ambit_evidence::{StreamName, leaf_hash};
use ambit_ids::{Digest, RunId, Scope};
use ambit_ports::store::SignedHead;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::world::{Site, scope};

/// A row: the bytes, and the hash that is stored with them.
pub(crate) type Row = (Vec<u8>, Digest);

/// A client of the store's file that cares for no rule in it.
pub(crate) struct Attacker {
    connection: Connection,
    guards: Vec<(String, String)>,
}

/// The stream of a run, or of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    scope: Scope,
    run: Option<RunId>,
}

impl Target {
    pub(crate) fn run(run: &RunId) -> Self {
        Self { scope: scope(), run: Some(run.clone()) }
    }

    pub(crate) fn project() -> Self {
        Self { scope: scope(), run: None }
    }

    pub(crate) fn of(scope: Scope, run: Option<RunId>) -> Self {
        Self { scope, run }
    }

    pub(crate) fn name(&self) -> StreamName {
        StreamName {
            organization: self.scope.organization.clone(),
            project: Some(self.scope.project.clone()),
            run: self.run.clone(),
        }
    }

    fn key(&self) -> [&str; 3] {
        let run = self.run.as_ref().map_or("", RunId::as_str);
        [self.scope.organization.as_str(), self.scope.project.as_str(), run]
    }
}

impl Attacker {
    pub(crate) fn of(site: &Site) -> Self {
        let connection = Connection::open(site.store_path()).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF;
                 CREATE TEMP TABLE pristine_record AS SELECT * FROM main.record;
                 CREATE TEMP TABLE pristine_stream AS SELECT * FROM main.stream;",
            )
            .unwrap();
        let mut guards =
            connection.prepare("SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'").unwrap();
        let guards_found =
            guards.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        drop(guards);
        Self { connection, guards: guards_found }
    }

    /// Does something behind the back of the triggers, which are there again afterwards.
    fn unguarded(&self, act: impl FnOnce(&Connection)) {
        let transaction = self.connection.unchecked_transaction().unwrap();
        for (name, _) in &self.guards {
            transaction.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        act(&transaction);
        for (_, sql) in &self.guards {
            transaction.execute_batch(sql).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Makes everything in the store as it was.
    pub(crate) fn restore(&self) {
        self.unguarded(|connection| {
            connection
                .execute_batch(
                    "DELETE FROM main.record; DELETE FROM main.stream;
                     INSERT INTO main.stream SELECT * FROM temp.pristine_stream;
                     INSERT INTO main.record SELECT * FROM temp.pristine_record;",
                )
                .unwrap();
        });
    }

    pub(crate) fn rows(&self, target: &Target) -> Vec<Row> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT bytes, leaf FROM record WHERE organization = ? AND project = ? AND run = ? ORDER BY seq",
            )
            .unwrap();
        let rows = statement
            .query_map(target.key(), |row| Ok((row.get(0)?, Digest::from_bytes(row.get(1)?))))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }

    pub(crate) fn values(&self, target: &Target) -> Vec<Value> {
        self.rows(target).iter().map(|(bytes, _)| serde_json::from_slice(bytes).unwrap()).collect()
    }

    /// Puts rows in the place of a stream, at positions without a gap.
    pub(crate) fn put(&self, target: &Target, rows: &[Row]) {
        self.unguarded(|connection| {
            let [organization, project, run] = target.key();
            connection
                .execute(
                    "DELETE FROM record WHERE organization = ? AND project = ? AND run = ?",
                    target.key(),
                )
                .unwrap();
            let mut insert = connection
                .prepare_cached(
                    "INSERT INTO record (organization, project, run, seq, time_ms, kind, leaf, bytes)
                     VALUES (?, ?, ?, ?, 0, 'any', ?, ?)",
                )
                .unwrap();
            for (seq, (bytes, leaf)) in rows.iter().enumerate() {
                let seq = i64::try_from(seq).unwrap();
                insert.execute(params![organization, project, run, seq, leaf.as_bytes(), bytes]).unwrap();
            }
        });
    }

    /// Takes one row away and leaves a gap.
    pub(crate) fn cut(&self, target: &Target, seq: usize) {
        self.unguarded(|connection| {
            let [organization, project, run] = target.key();
            let seq = i64::try_from(seq).unwrap();
            connection
                .execute(
                    "DELETE FROM record WHERE organization = ? AND project = ? AND run = ? AND seq = ?",
                    params![organization, project, run, seq],
                )
                .unwrap();
        });
    }

    /// Puts one row in the place of another.
    pub(crate) fn overwrite(&self, target: &Target, seq: usize, (bytes, leaf): &Row) {
        self.unguarded(|connection| {
            let [organization, project, run] = target.key();
            let seq = i64::try_from(seq).unwrap();
            connection
                .prepare_cached(
                    "UPDATE record SET bytes = ?, leaf = ?
                     WHERE organization = ? AND project = ? AND run = ? AND seq = ?",
                )
                .unwrap()
                .execute(params![bytes, leaf.as_bytes(), organization, project, run, seq])
                .unwrap();
        });
    }

    pub(crate) fn set_head(&self, target: &Target, head: &SignedHead) {
        self.unguarded(|connection| {
            let [organization, project, run] = target.key();
            connection
                .execute(
                    "UPDATE stream SET head_seq = ?, head_leaf = ?, head_key = ?, head_signature = ?
                     WHERE organization = ? AND project = ? AND run = ?",
                    params![
                        i64::try_from(head.seq.0).unwrap(),
                        head.leaf.as_bytes(),
                        head.signature.key.as_bytes(),
                        head.signature.bytes,
                        organization,
                        project,
                        run
                    ],
                )
                .unwrap();
        });
    }

    pub(crate) fn remove_head(&self, target: &Target) {
        self.unguarded(|connection| {
            connection
                .execute(
                    "DELETE FROM stream WHERE organization = ? AND project = ? AND run = ?",
                    target.key(),
                )
                .unwrap();
        });
    }
}

/// The rows of records whose positions, predecessors and hashes are made to fit, from `from` on.
pub(crate) fn chained(mut values: Vec<Value>, from: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::with_capacity(values.len());
    for (seq, value) in values.iter_mut().enumerate() {
        if seq >= from {
            value["seq"] = seq.into();
            if let Some((_, before)) = rows.last() {
                value["prev"] = before.to_string().into();
            }
        }
        rows.push(row(value));
    }
    rows
}

/// The row of one record as it is.
pub(crate) fn row(value: &Value) -> Row {
    let bytes = ambit_canonical::encode(value).unwrap().into_bytes();
    let leaf = leaf_hash(&bytes);
    (bytes, leaf)
}

pub(crate) fn kind(value: &Value) -> &str {
    value["kind"].as_str().unwrap()
}

/// Changes the turn that the record is of, or else the first thing in its body that has a value at all.
pub(crate) fn alter(value: &mut Value) {
    if value["body"].get("turn").is_some() {
        assert!(alter_leaf(&mut value["body"]["turn"]));
        return;
    }
    assert!(alter_leaf(&mut value["body"]), "nothing to alter in {value}");
}

fn alter_leaf(value: &mut Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(held) => {
            *held = !*held;
            true
        }
        Value::Number(number) => {
            *value = (number.as_u64().unwrap() + 1).into();
            true
        }
        Value::String(text) => {
            // The last character of whatever it is stays of its alphabet.
            let last = text.pop().unwrap_or('1');
            text.push(if last == '1' { '2' } else { '1' });
            true
        }
        Value::Array(items) => items.iter_mut().any(alter_leaf),
        Value::Object(members) => members.iter_mut().any(|(_, member)| alter_leaf(member)),
    }
}
