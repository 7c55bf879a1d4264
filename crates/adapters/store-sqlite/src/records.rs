use ambit_ids::{Digest, OrganizationId, ProjectId, RunId, Scope};
use ambit_ports::signer::Signature;
use ambit_ports::store::{OutboxEntry, Seq, SignedHead, StoredRecord};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::failure::impossible;
use crate::key::{StreamKey, scope_columns};

/// A number for a column or a LIMIT. What lies past the largest that SQLite has lies past every row.
fn bounded(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A page of a stream. Where a position is missing, somebody else has deleted it, and there is no page.
pub(crate) fn page(
    connection: &Connection,
    key: StreamKey<'_>,
    from: Seq,
    limit: usize,
) -> rusqlite::Result<Vec<StoredRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, leaf, bytes FROM record
         WHERE organization = ? AND project = ? AND run = ? AND seq >= ? ORDER BY seq LIMIT ?",
    )?;
    let rows = statement.query_map(
        params![key.organization, key.project, key.run, bounded(from.0), bounded(limit)],
        |row| {
            Ok(StoredRecord {
                seq: Seq(row.get(0)?),
                leaf: Digest::from_bytes(row.get(1)?),
                bytes: row.get(2)?,
            })
        },
    )?;
    let mut records = Vec::new();
    for (index, record) in rows.enumerate() {
        let record = record?;
        if record.seq.0 - from.0 != index as u64 {
            return Err(impossible(0, format!("a record of a stream is missing before {}", record.seq.0)));
        }
        records.push(record);
    }
    Ok(records)
}

/// The head of a stream.
pub(crate) fn head(connection: &Connection, key: StreamKey<'_>) -> rusqlite::Result<Option<SignedHead>> {
    connection
        .prepare_cached(
            "SELECT head_seq, head_leaf, head_key, head_signature FROM stream
             WHERE organization = ? AND project = ? AND run = ?",
        )?
        .query_one(key.columns(), |row| {
            Ok(SignedHead {
                seq: Seq(row.get(0)?),
                leaf: Digest::from_bytes(row.get(1)?),
                signature: Signature { key: Digest::from_bytes(row.get(2)?), bytes: row.get(3)? },
            })
        })
        .optional()
}

/// The runs of a project after one of them, by the age of their first record.
pub(crate) fn runs(
    connection: &Connection,
    scope: &Scope,
    after: Option<&RunId>,
    limit: usize,
) -> rusqlite::Result<Vec<RunId>> {
    let [organization, project] = scope_columns(scope);
    let start: Option<i64> = match after {
        None => Some(0),
        Some(run) => connection
            .prepare_cached("SELECT ordinal FROM stream WHERE organization = ? AND project = ? AND run = ?")?
            .query_one([organization, project, run.as_str()], |row| row.get(0))
            .optional()?,
    };
    let Some(start) = start else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT run FROM stream
         WHERE organization = ? AND project = ? AND run <> '' AND ordinal > ? ORDER BY ordinal LIMIT ?",
    )?;
    let runs = statement.query_map(params![organization, project, start, bounded(limit)], |row| {
        RunId::new(row.get::<_, String>(0)?).map_err(|error| impossible(0, error))
    })?;
    runs.collect()
}

/// Every project that has a stream.
pub(crate) fn scopes(connection: &Connection) -> rusqlite::Result<Vec<Scope>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT organization, project FROM stream WHERE project <> '' ORDER BY organization, project",
    )?;
    let scopes = statement.query_map((), |row| {
        let organization =
            OrganizationId::new(row.get::<_, String>(0)?).map_err(|error| impossible(0, error))?;
        let project = ProjectId::new(row.get::<_, String>(1)?).map_err(|error| impossible(1, error))?;
        Ok(Scope { organization, project })
    })?;
    scopes.collect()
}

/// The messages of a project after a place.
pub(crate) fn outbox(
    connection: &Connection,
    scope: &Scope,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<OutboxEntry>> {
    let [organization, project] = scope_columns(scope);
    connection
        .prepare_cached(
            "SELECT id, event_type, bytes FROM outbox
             WHERE organization = ? AND project = ? AND id > ? ORDER BY id LIMIT ?",
        )?
        .query_map(params![organization, project, bounded(after), bounded(limit)], |row| {
            Ok(OutboxEntry { id: row.get(0)?, event_type: row.get(1)?, bytes: row.get(2)? })
        })?
        .collect()
}
