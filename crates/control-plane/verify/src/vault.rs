//! The blobs of one verification: only ever read, hashed again, and listed as covered.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter};
use ambit_revisions::{HiddenFilesError, RevisionError};
use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::finding::Finding;
use crate::findings::{blob_name, of_blob, refuting, unsettled};

/// The largest receipt, manifest or observation that is read.
pub(crate) const RECEIPT_BYTES: ByteCount = ByteCount::new(4 << 20);

/// Blobs behind a second look: whatever they answer is hashed again here, and nothing is ever written.
pub(crate) struct Vault {
    inner: Arc<dyn BlobStore>,
    covered: Mutex<BTreeSet<Digest>>,
}

impl Vault {
    pub(crate) fn new(inner: Arc<dyn BlobStore>) -> Self {
        Self { inner, covered: Mutex::default() }
    }

    /// The digests of everything that was read so far and was what it should be.
    pub(crate) fn covered(&self) -> BTreeSet<Digest> {
        self.covered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes an answer for what was asked for, or tells what it is instead.
    fn admit(
        &self,
        digest: Digest,
        found: Digest,
        size_bytes: u64,
        limit: ByteCount,
    ) -> Result<(), BlobError> {
        if size_bytes > limit.get() {
            return Err(BlobError::TooLarge { digest, found: ByteCount::new(size_bytes), limit });
        }
        if found != digest {
            return Err(BlobError::Corrupt(digest));
        }
        self.covered.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
        Ok(())
    }

    /// The bytes of a digest, or what stands in their place.
    pub(crate) async fn read(
        &self,
        scope: &Scope,
        what: &str,
        digest: Digest,
        limit: ByteCount,
    ) -> Result<Bytes, Finding> {
        self.get(scope, digest, limit).await.map_err(|error| of_blob(what, digest, &error))
    }

    /// A value that was kept in canonical form.
    pub(crate) async fn read_value<T: Serialize + DeserializeOwned>(
        &self,
        scope: &Scope,
        what: &str,
        digest: Digest,
    ) -> Result<T, Finding> {
        let bytes = self.read(scope, what, digest, RECEIPT_BYTES).await?;
        ambit_canonical::decode(&bytes, bytes.len())
            .map_err(|error| refuting(blob_name(what, digest), format!("it is no such thing: {error}")))
    }
}

#[async_trait]
impl BlobStore for Vault {
    async fn put(&self, _: &Scope, _: Bytes) -> Result<Digest, BlobError> {
        Err(BlobError::Io(io::ErrorKind::ReadOnlyFilesystem.into()))
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Err(BlobError::Io(io::ErrorKind::ReadOnlyFilesystem.into()))
    }

    async fn batch<'a>(&'a self, _: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Err(BlobError::Io(io::ErrorKind::ReadOnlyFilesystem.into()))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let bytes = self.inner.get(scope, digest, limit).await?;
        self.admit(digest, Digest::of(&bytes), bytes.len() as u64, limit)?;
        Ok(bytes)
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        let answers = self.inner.get_many(scope, digests, limit).await;
        let admit = |(digest, answer): (&Digest, Result<Content, BlobError>)| {
            let content = answer?;
            self.admit(*digest, content.digest(), content.bytes().len() as u64, limit)?;
            Ok(content)
        };
        digests.iter().zip(answers).map(admit).collect()
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        self.inner.contains(scope, digest).await
    }
}

/// What source that cannot be read whole says about the check that needed it.
/// What it says of a run that the files of a hidden check cannot be had.
pub(crate) fn of_hidden(error: &HiddenFilesError) -> Finding {
    match error {
        HiddenFilesError::Missing { source, .. } => of_revision(source),
        other => unsettled(None, other.to_string()),
    }
}

pub(crate) fn of_revision(error: &RevisionError) -> Finding {
    let of_cause = |what: &str, source: &BlobError| match source {
        BlobError::NotFound(digest) | BlobError::Corrupt(digest) | BlobError::TooLarge { digest, .. } => {
            of_blob(what, *digest, source)
        }
        BlobError::NoSpace(_) | BlobError::Io(_) => unsettled(None, format!("{what}: {source}")),
    };
    match error {
        RevisionError::Blob { tree, source } => of_cause(&format!("a directory of the tree {tree}"), source),
        RevisionError::Content { path, source } => of_cause(&format!("the content of {path}"), source),
        RevisionError::Load { tree, source } => {
            refuting(blob_name("the tree", *tree), format!("it makes no tree: {source}"))
        }
        RevisionError::Diff(error) => unsettled(None, error.to_string()),
    }
}
