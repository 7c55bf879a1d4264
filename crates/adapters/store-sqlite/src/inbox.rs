use ambit_ids::limits;
use ambit_ports::store::{InboxEntry, StoreError, StreamId};
use rusqlite::{Connection, params};

use crate::failure::Stop;
use crate::key::StreamKey;

/// Leaves a command in the inbox of a stream, where there is room.
pub(crate) fn leave(
    connection: &Connection,
    stream: &StreamId,
    command: &[u8],
) -> Result<u64, Stop<StoreError>> {
    let key = StreamKey::of(stream);
    let waiting: usize = connection
        .prepare_cached("SELECT count(*) FROM inbox WHERE organization = ? AND project = ? AND run = ?")?
        .query_one(key.columns(), |row| row.get(0))?;
    if waiting >= limits::INBOX_ENTRIES {
        return Err(Stop::Refused(StoreError::InboxFull(stream.clone())));
    }
    let id = connection
        .prepare_cached(
            "INSERT INTO inbox (organization, project, run, bytes) VALUES (?, ?, ?, ?) RETURNING id",
        )?
        .query_one(params![key.organization, key.project, key.run, command], |row| row.get(0))?;
    Ok(id)
}

/// Takes a command out of the inbox of a stream; `false` where it does not wait there.
pub(crate) fn take(connection: &Connection, key: StreamKey<'_>, id: u64) -> rusqlite::Result<bool> {
    let Ok(id) = i64::try_from(id) else { return Ok(false) };
    let taken = connection
        .prepare_cached("DELETE FROM inbox WHERE id = ? AND organization = ? AND project = ? AND run = ?")?
        .execute(params![id, key.organization, key.project, key.run])?;
    Ok(taken == 1)
}

/// The commands that wait for the owner of a stream, in the order of their arrival.
pub(crate) fn waiting(connection: &Connection, key: StreamKey<'_>) -> rusqlite::Result<Vec<InboxEntry>> {
    connection
        .prepare_cached(
            "SELECT id, bytes FROM inbox WHERE organization = ? AND project = ? AND run = ? ORDER BY id",
        )?
        .query_map(key.columns(), |row| Ok(InboxEntry { id: row.get(0)?, bytes: row.get(1)? }))?
        .collect()
}
