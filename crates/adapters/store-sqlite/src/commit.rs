use ambit_ports::leases::Fence;
use ambit_ports::store::{Claim, Commit, Seq, SignedHead, StoreError, StreamId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::failure::Stop;
use crate::key::StreamKey;

type Step = Result<(), Stop<StoreError>>;

fn refuse<T>(error: StoreError) -> Result<T, Stop<StoreError>> {
    Err(Stop::Refused(error))
}

/// Makes a checked commit within the transaction of the caller, or refuses it.
pub(crate) fn apply(connection: &Connection, commit: &Commit) -> Step {
    let key = StreamKey::of(&commit.stream);
    if let Some(fence) = commit.fence {
        check_fence(connection, key, &commit.stream, fence)?;
    }
    let found = next_seq(connection, key)?;
    if found != commit.expected {
        return refuse(StoreError::Moved { stream: commit.stream.clone(), expected: commit.expected, found });
    }
    advance_head(connection, key, found, &commit.head)?;
    append_records(connection, key, commit)?;
    for claim in &commit.claims {
        take_claim(connection, key, claim, commit.head.seq)?;
    }
    for vacant in &commit.vacant {
        if let Some(holder) = holder(connection, key.organization, key.project, vacant)? {
            return refuse(StoreError::Claimed { key: vacant.clone(), holder });
        }
    }
    for message in &commit.outbox {
        connection
            .prepare_cached(
                "INSERT INTO outbox (organization, project, run, event_type, bytes) VALUES (?, ?, ?, ?, ?)",
            )?
            .execute(params![
                key.organization,
                key.project,
                key.run,
                message.event_type,
                message.body.as_bytes()
            ])?;
    }
    for id in &commit.answered {
        if !crate::inbox::take(connection, key, *id)? {
            return refuse(StoreError::Malformed("it answers a command that does not wait in its stream"));
        }
    }
    Ok(())
}

/// Only the newest fence of a stream writes to it.
fn check_fence(connection: &Connection, key: StreamKey<'_>, stream: &StreamId, fence: Fence) -> Step {
    let newest: Option<u64> = connection
        .prepare_cached("SELECT fence FROM lease WHERE organization = ? AND project = ? AND run = ?")?
        .query_one(key.columns(), |row| row.get(0))
        .optional()?;
    match newest {
        Some(newest) if newest == fence.0 => Ok(()),
        Some(newest) if newest > fence.0 => refuse(StoreError::Fenced(stream.clone())),
        _ => refuse(StoreError::Malformed("its fence was never given out")),
    }
}

fn next_seq(connection: &Connection, key: StreamKey<'_>) -> rusqlite::Result<Seq> {
    let head: Option<u64> = connection
        .prepare_cached("SELECT head_seq FROM stream WHERE organization = ? AND project = ? AND run = ?")?
        .query_one(key.columns(), |row| row.get(0))
        .optional()?;
    Ok(Seq(head.map_or(0, |seq| seq + 1)))
}

fn advance_head(
    connection: &Connection,
    key: StreamKey<'_>,
    found: Seq,
    head: &SignedHead,
) -> rusqlite::Result<()> {
    let statement = if found == Seq(0) {
        "INSERT INTO stream (head_seq, head_leaf, head_key, head_signature, organization, project, run)
         VALUES (?, ?, ?, ?, ?, ?, ?)"
    } else {
        "UPDATE stream SET head_seq = ?, head_leaf = ?, head_key = ?, head_signature = ?
         WHERE organization = ? AND project = ? AND run = ?"
    };
    connection.prepare_cached(statement)?.execute(params![
        head.seq.0,
        head.leaf.as_bytes(),
        head.signature.key.as_bytes(),
        head.signature.bytes,
        key.organization,
        key.project,
        key.run
    ])?;
    Ok(())
}

fn append_records(connection: &Connection, key: StreamKey<'_>, commit: &Commit) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO record (organization, project, run, seq, time_ms, kind, leaf, bytes)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (seq, record) in (commit.expected.0..).zip(&commit.records) {
        statement.execute(params![
            key.organization,
            key.project,
            key.run,
            seq,
            record.time.get(),
            record.kind,
            record.leaf.as_bytes(),
            record.bytes.as_bytes()
        ])?;
    }
    Ok(())
}

fn take_claim(connection: &Connection, key: StreamKey<'_>, claim: &Claim, seq: Seq) -> Step {
    let holder = holder(connection, key.organization, key.project, &claim.key)?;
    if let Some(holder) = holder {
        return refuse(StoreError::Claimed { key: claim.key.clone(), holder });
    }
    connection
        .prepare_cached(
            "INSERT INTO claim (organization, project, key, value, run, seq) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![key.organization, key.project, claim.key, claim.value, key.run, seq.0])?;
    Ok(())
}

/// What a claim of a project points to; `None` while it is free.
pub(crate) fn holder(
    connection: &Connection,
    organization: &str,
    project: &str,
    key: &str,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM claim WHERE organization = ? AND project = ? AND key = ?")?
        .query_one([organization, project, key], |row| row.get(0))
        .optional()
}
