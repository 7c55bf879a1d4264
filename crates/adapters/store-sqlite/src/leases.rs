use ambit_ids::{DurationMs, UnixMs, limits};
use ambit_ports::leases::{Fence, LeaseError, StreamLease, StreamLeases};
use ambit_ports::store::{StoreError, StreamId};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::failure::Stop;
use crate::key::StreamKey;
use crate::store::SqliteStore;

#[async_trait]
impl StreamLeases for SqliteStore {
    async fn acquire(
        &self,
        stream: &StreamId,
        owner: &str,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        if !(1..=limits::LABEL_BYTES).contains(&owner.len()) {
            return Err(StoreError::Malformed("the owner of a lease is empty or too long").into());
        }
        let (stream, owner) = (stream.clone(), owner.to_owned());
        self.writer().perform(move |connection| acquire(connection, &stream, &owner, now, ttl)).await
    }

    async fn renew(
        &self,
        lease: &StreamLease,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        let lease = lease.clone();
        self.writer().perform(move |connection| renew(connection, &lease, now, ttl)).await
    }

    async fn holder(&self, stream: &StreamId, now: UnixMs) -> Result<Option<StreamLease>, LeaseError> {
        let stream = stream.clone();
        let newest = self.readers().read(move |connection| newest(connection, &stream)).await?;
        Ok(newest.filter(|lease| now < lease.expires))
    }

    async fn release(&self, lease: &StreamLease) -> Result<(), LeaseError> {
        let lease = lease.clone();
        self.writer().perform(move |connection| Ok(end(connection, &lease, UnixMs::ZERO)?)).await
    }
}

/// The newest lease of a stream, live or not.
fn newest(connection: &Connection, stream: &StreamId) -> rusqlite::Result<Option<StreamLease>> {
    connection
        .prepare_cached(
            "SELECT owner, fence, expires_ms FROM lease WHERE organization = ? AND project = ? AND run = ?",
        )?
        .query_one(StreamKey::of(stream).columns(), |row| {
            Ok(StreamLease {
                stream: stream.clone(),
                owner: row.get(0)?,
                fence: Fence(row.get(1)?),
                expires: UnixMs::new(row.get(2)?),
            })
        })
        .optional()
}

fn acquire(
    connection: &Connection,
    stream: &StreamId,
    owner: &str,
    now: UnixMs,
    ttl: DurationMs,
) -> Result<StreamLease, Stop<LeaseError>> {
    let newest = newest(connection, stream)?;
    let fence = match &newest {
        None => Fence(1),
        Some(lease) if now >= lease.expires => Fence(lease.fence.0 + 1),
        Some(lease) if lease.owner == owner => lease.fence,
        Some(lease) => {
            return Err(Stop::Refused(LeaseError::Held { stream: stream.clone(), expires: lease.expires }));
        }
    };
    let lease =
        StreamLease { stream: stream.clone(), owner: owner.to_owned(), fence, expires: end_of(now, ttl) };
    let statement = if newest.is_none() {
        "INSERT INTO lease (owner, fence, expires_ms, organization, project, run) VALUES (?, ?, ?, ?, ?, ?)"
    } else {
        "UPDATE lease SET owner = ?, fence = ?, expires_ms = ?
         WHERE organization = ? AND project = ? AND run = ?"
    };
    let key = StreamKey::of(stream);
    connection.prepare_cached(statement)?.execute(params![
        owner,
        fence.0,
        lease.expires.get(),
        key.organization,
        key.project,
        key.run
    ])?;
    Ok(lease)
}

fn renew(
    connection: &Connection,
    lease: &StreamLease,
    now: UnixMs,
    ttl: DurationMs,
) -> Result<StreamLease, Stop<LeaseError>> {
    let live = newest(connection, &lease.stream)?
        .filter(|newest| newest.owner == lease.owner && newest.fence == lease.fence && now < newest.expires);
    let Some(live) = live else {
        return Err(Stop::Refused(LeaseError::Lost(lease.stream.clone())));
    };
    let renewed = StreamLease { expires: end_of(now, ttl), ..live };
    end(connection, &renewed, renewed.expires)?;
    Ok(renewed)
}

/// Sets the end of a lease, where it is still the newest.
fn end(connection: &Connection, lease: &StreamLease, expires: UnixMs) -> rusqlite::Result<()> {
    let key = StreamKey::of(&lease.stream);
    let Ok(fence) = i64::try_from(lease.fence.0) else { return Ok(()) };
    connection
        .prepare_cached(
            "UPDATE lease SET expires_ms = ?
             WHERE organization = ? AND project = ? AND run = ? AND owner = ? AND fence = ?",
        )?
        .execute(params![expires.get(), key.organization, key.project, key.run, lease.owner, fence])?;
    Ok(())
}

/// `ttl` after `now`, at the last moment that a column holds at the latest.
fn end_of(now: UnixMs, ttl: DurationMs) -> UnixMs {
    now.saturating_add(ttl).min(UnixMs::new(i64::MAX.unsigned_abs()))
}
