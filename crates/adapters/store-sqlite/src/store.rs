use std::path::Path;

use ambit_canonical::CanonicalBytes;
use ambit_ids::{RunId, Scope, limits};
use ambit_ports::store::{
    Commit, InboxEntry, OutboxEntry, Seq, SignedHead, Store, StoreError, StoredRecord, StreamId,
};
use async_trait::async_trait;
use rusqlite::Connection;

use crate::failure::{Stop, failed};
use crate::key::{StreamKey, scope_columns};
use crate::options::StoreOptions;
use crate::readers::Readers;
use crate::writer::Writer;
use crate::{commit, connection, inbox, records, schema};

/// Connections that read records. SQLite's readers do not wait for one another, but a machine has few processors.
const READERS: usize = 2;

/// The store and its leases in one SQLite file.
///
/// Closing it (by dropping it) waits for the commits that were handed over.
pub struct SqliteStore {
    writer: Writer,
    readers: Readers,
    /// `PRAGMA data_version` compares only with earlier answers of the same connection.
    watcher: Readers,
}

impl SqliteStore {
    /// Opens the store at `path`, or makes it there with mode 0600. Its directory must exist.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] for a file of something else, [`StoreError::NewerSchema`] for a store of a newer
    /// version, [`StoreError::Damaged`] for one that lacks a table or a trigger, and any failure of the storage.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        // SQLite reads a name that begins with `file:` as a URI, whose parameters would change what is opened.
        let path = &std::path::absolute(path).map_err(|error| StoreError::Failed(error.into()))?;
        schema::ensure_file(path)?;
        let mut writer = connection::connect(path, options).map_err(failed)?;
        schema::prepare(&mut writer, options.busy_wait)?;
        let reader = || connection::connect_to_read(path, options).map_err(failed);
        let readers = (0..READERS).map(|_| reader()).collect::<Result<_, _>>()?;
        let start = |error: std::io::Error| StoreError::Failed(error.into());
        Ok(Self {
            writer: Writer::start(writer).map_err(start)?,
            readers: Readers::start(readers).map_err(start)?,
            watcher: Readers::start(vec![reader()?]).map_err(start)?,
        })
    }

    /// Every project of every organisation that has a stream, for whoever looks after the place where the store lies. It
    /// is no part of the port: through that, no organisation sees another.
    ///
    /// # Errors
    /// Any failure of the storage.
    pub async fn scopes(&self) -> Result<Vec<Scope>, StoreError> {
        self.readers.read(records::scopes).await
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(crate) const fn readers(&self) -> &Readers {
        &self.readers
    }

    /// Reads what belongs to a stream.
    async fn read_stream<T, Q>(&self, stream: &StreamId, query: Q) -> Result<T, StoreError>
    where
        T: Send + 'static,
        Q: FnOnce(&Connection, StreamKey<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let stream = stream.clone();
        self.readers.read(move |connection| query(connection, StreamKey::of(&stream))).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        commit.check()?;
        self.writer.perform(move |connection| commit::apply(connection, &commit)).await
    }

    async fn read(
        &self,
        stream: &StreamId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        self.read_stream(stream, move |connection, key| records::page(connection, key, from, limit)).await
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<SignedHead>, StoreError> {
        self.read_stream(stream, records::head).await
    }

    async fn runs(
        &self,
        scope: &Scope,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        let (scope, after) = (scope.clone(), after.cloned());
        self.readers.read(move |connection| records::runs(connection, &scope, after.as_ref(), limit)).await
    }

    async fn claim(&self, scope: &Scope, key: &str) -> Result<Option<String>, StoreError> {
        let (scope, key) = (scope.clone(), key.to_owned());
        self.readers
            .read(move |connection| {
                let [organization, project] = scope_columns(&scope);
                commit::holder(connection, organization, project, &key)
            })
            .await
    }

    async fn outbox(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        let scope = scope.clone();
        self.readers.read(move |connection| records::outbox(connection, &scope, after, limit)).await
    }

    async fn send(&self, stream: &StreamId, command: CanonicalBytes) -> Result<u64, StoreError> {
        if command.as_bytes().len() > limits::RECORD_BYTES {
            return Err(StoreError::Malformed("the command is too large"));
        }
        let stream = stream.clone();
        self.writer.perform(move |connection| inbox::leave(connection, &stream, command.as_bytes())).await
    }

    async fn inbox(&self, stream: &StreamId) -> Result<Vec<InboxEntry>, StoreError> {
        self.read_stream(stream, inbox::waiting).await
    }

    async fn dismiss(&self, stream: &StreamId, id: u64) -> Result<(), StoreError> {
        let stream = stream.clone();
        self.writer
            .perform(move |connection| {
                inbox::take(connection, StreamKey::of(&stream), id)?;
                Ok::<_, Stop<StoreError>>(())
            })
            .await
    }

    async fn change_mark(&self) -> Result<u64, StoreError> {
        self.watcher
            .read(|connection| connection.pragma_query_value(None, "data_version", |row| row.get(0)))
            .await
    }
}
