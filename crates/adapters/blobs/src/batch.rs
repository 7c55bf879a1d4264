use std::io;
use std::sync::Arc;

use ambit_ids::{Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobWriter};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use crate::disk::{blocking, failed};
use crate::incoming::Home;
use crate::layout::Layout;
use crate::staging::Staging;
use crate::writer::DirectoryWriter;

/// Blobs that become durable together.
pub(crate) struct DirectoryBatch {
    staging: Arc<Staging>,
    /// Names full waves, while the next one is written.
    naming: Mutex<Option<JoinHandle<Result<(), BlobError>>>>,
}

impl DirectoryBatch {
    pub(crate) async fn open(layout: Arc<Layout>, scope: Scope) -> Result<Self, BlobError> {
        let make = move || Staging::make(layout, scope).map_err(failed);
        Ok(Self { staging: Arc::new(blocking(make).await?), naming: Mutex::new(None) })
    }

    /// Begins to name what is full. What was begun before is waited for, so that the disk is never more than one wave behind.
    ///
    /// No wave is in the hands of a future, which may be dropped.
    async fn name_full(&self) -> Result<(), BlobError> {
        let mut naming = self.naming.lock().await;
        if let Some(before) = naming.as_mut() {
            let outcome = before.await;
            *naming = None;
            outcome.map_err(broken_off)??;
        }
        let staging = Arc::clone(&self.staging);
        *naming = Some(spawn_blocking(move || staging.name_full()));
        Ok(())
    }
}

fn broken_off(error: JoinError) -> BlobError {
    BlobError::Io(io::Error::other(error))
}

#[async_trait]
impl BlobBatch for DirectoryBatch {
    async fn put(&self, bytes: Bytes) -> Result<Digest, BlobError> {
        let digests = self.put_all(vec![bytes]).await?;
        digests.first().copied().ok_or_else(|| BlobError::Io(io::ErrorKind::UnexpectedEof.into()))
    }

    async fn put_all(&self, contents: Vec<Bytes>) -> Result<Vec<Digest>, BlobError> {
        let staging = Arc::clone(&self.staging);
        let work = move || {
            let digests = contents.iter().map(|bytes| staging.put(bytes)).collect::<Result<Vec<_>, _>>()?;
            Ok((digests, staging.turn()?))
        };
        let (digests, is_full) = blocking(work).await?;
        if is_full {
            self.name_full().await?;
        }
        Ok(digests)
    }

    async fn create(&self) -> Result<Box<dyn BlobWriter>, BlobError> {
        if self.staging.turn()? {
            self.name_full().await?;
        }
        let home = Home::Batch(Arc::clone(&self.staging), self.staging.room());
        Ok(Box::new(DirectoryWriter::create(home).await?))
    }

    async fn finish(self: Box<Self>) -> Result<(), BlobError> {
        self.staging.close();
        let Self { staging, naming } = *self;
        if let Some(before) = naming.into_inner() {
            before.await.map_err(broken_off)??;
        }
        blocking(move || staging.name_full().and_then(|()| staging.sync_names())).await
    }
}
