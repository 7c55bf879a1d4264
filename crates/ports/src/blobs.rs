//! Content-addressed bytes: patches, outputs, file contents, trees, documents.

use ambit_ids::{ByteCount, Content, Digest, Scope};
use async_trait::async_trait;
use bytes::Bytes;

/// Bytes under their digest, apart for every scope.
///
/// - A blob MUST be durable before [`put`](Self::put) or [`finish`](BlobWriter::finish) answers: a record may cite it
///   in the next commit.
/// - Putting the same bytes twice MUST succeed and store them once.
/// - [`get`](Self::get) and [`get_many`](Self::get_many) MUST compare the digest of what they read and MUST answer
///   [`BlobError::Corrupt`] where it differs; they never hand out bytes that are not the ones asked for.
/// - A blob of one scope MUST NOT be readable through another, not even by its digest, and asking for it MUST answer
///   exactly as for a digest that never existed.
/// - The digest is of the plaintext. An implementation may keep the bytes compressed or encrypted.
/// - A crash at any point MUST leave a blob whole or absent.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Stores `bytes`.
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError>;

    /// Starts a blob whose size and digest are not known yet.
    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError>;

    /// Starts a batch, which stores many blobs for less than each alone costs. A store for which they cost the same
    /// answers [`OneByOne`].
    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError>;

    /// The bytes of `digest`, refused where they are more than `limit`.
    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError>;

    /// The bytes of each of `digests`, one answer for each and in their order. Each answer MUST be the one that
    /// [`get`](Self::get) would give by itself. A store for which many cost as much as each alone answers
    /// [`one_after_another`].
    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>>;

    /// Whether the blob exists in `scope`.
    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError>;
}

/// A blob that is being written. Dropping it without [`finish`](Self::finish) leaves nothing behind.
#[async_trait]
pub trait BlobWriter: Send {
    /// Appends a chunk.
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError>;

    /// Makes the blob durable and answers its digest and size.
    async fn finish(self: Box<Self>) -> Result<(Digest, ByteCount), BlobError>;
}

/// Blobs of one scope that become durable together.
///
/// - When [`finish`](Self::finish) answers, every blob of which the batch answered the digest MUST be durable. Before,
///   none of them may be cited; whether one can be read by then is left open.
/// - A crash, a failure, or a batch that is dropped MUST leave each blob whole or absent.
/// - Several tasks may put at once.
#[async_trait]
pub trait BlobBatch: Send + Sync {
    /// Adds `bytes`.
    async fn put(&self, bytes: Bytes) -> Result<Digest, BlobError>;

    /// Adds several, and answers their digests in the same order, for less than one after the other costs. Where it
    /// fails, some of them may belong to the batch.
    async fn put_all(&self, contents: Vec<Bytes>) -> Result<Vec<Digest>, BlobError>;

    /// Starts a blob whose size and digest are not known yet. It belongs to the batch once it is finished. Where the
    /// batch was finished before, it MUST be durable at once or be refused.
    async fn create(&self) -> Result<Box<dyn BlobWriter>, BlobError>;

    /// Makes every blob of the batch durable.
    async fn finish(self: Box<Self>) -> Result<(), BlobError>;
}

/// Each of some blobs as a store reads it alone. Whatever the store hands out, it is held against its digest.
pub async fn one_after_another(
    store: &dyn BlobStore,
    scope: &Scope,
    digests: &[Digest],
    limit: ByteCount,
) -> Vec<Result<Content, BlobError>> {
    let mut answers = Vec::with_capacity(digests.len());
    for digest in digests {
        let content = store.get(scope, *digest, limit).await.map(|bytes| Content::of(bytes.into()));
        answers.push(match content {
            Ok(content) if content.digest() != *digest => Err(BlobError::Corrupt(*digest)),
            answer => answer,
        });
    }
    answers
}

/// A batch in which each blob is stored at once, as if there were none.
pub struct OneByOne<'a> {
    store: &'a dyn BlobStore,
    scope: Scope,
}

impl<'a> OneByOne<'a> {
    /// A batch over a store.
    #[must_use]
    pub fn over(store: &'a dyn BlobStore, scope: &Scope) -> Box<dyn BlobBatch + 'a> {
        Box::new(Self { store, scope: scope.clone() })
    }
}

#[async_trait]
impl BlobBatch for OneByOne<'_> {
    async fn put(&self, bytes: Bytes) -> Result<Digest, BlobError> {
        self.store.put(&self.scope, bytes).await
    }

    async fn put_all(&self, contents: Vec<Bytes>) -> Result<Vec<Digest>, BlobError> {
        let mut digests = Vec::with_capacity(contents.len());
        for bytes in contents {
            digests.push(self.put(bytes).await?);
        }
        Ok(digests)
    }

    async fn create(&self) -> Result<Box<dyn BlobWriter>, BlobError> {
        self.store.create(&self.scope).await
    }

    async fn finish(self: Box<Self>) -> Result<(), BlobError> {
        Ok(())
    }
}

/// Why a blob could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// No such blob in this scope.
    #[error("no blob {0} in this project")]
    NotFound(Digest),
    /// The stored bytes do not have the digest under which they lie.
    #[error("the blob {0} was altered: its bytes have another digest")]
    Corrupt(Digest),
    /// More bytes than the caller takes.
    #[error("the blob {digest} has {found}, more than the {limit} that can be read here")]
    TooLarge {
        /// The blob.
        digest: Digest,
        /// Its size.
        found: ByteCount,
        /// The caller's limit.
        limit: ByteCount,
    },
    /// The disk is full. Nothing was kept.
    #[error("no space is left for blobs")]
    NoSpace(#[source] std::io::Error),
    /// Anything else that the storage answered. The blob counts as absent: put it again.
    #[error("the blob store failed")]
    Io(#[source] std::io::Error),
}

impl BlobError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "BLOB_NOT_FOUND",
            Self::Corrupt(_) => "BLOB_CORRUPT",
            Self::TooLarge { .. } => "BLOB_TOO_LARGE",
            Self::NoSpace(_) => "STORAGE_FULL",
            Self::Io(_) => "BLOB_STORE_FAILED",
        }
    }
}
