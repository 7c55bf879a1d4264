//! The bundle of a run, from a store: exactly what verifying the run reads, and what people read beside it.

use std::path::Path;
use std::sync::Arc;

use ambit_bundle::{BundleError, Draft, NotedBlobs, NotedStore};
use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_ports::signer::PublicKey;
use ambit_ports::store::{RunRef, Store};
use ambit_verify_trace::{Readable, Report, Verifier};

use crate::engines::Engines;
use crate::trust_root::TrustRoot;
use crate::verify::fitting;

/// The member that names the keys for convenience. No verifier takes them from there.
pub const TRUST_ROOT: &str = "trust-root.json";

/// What a bundle is written from.
pub struct Source {
    /// The streams.
    pub store: Arc<dyn Store>,
    /// The blobs.
    pub blobs: Arc<dyn BlobStore>,
    /// The key that signs heads.
    pub log_key: PublicKey,
}

/// Writes the bundle of a run to the new directory `dir`, with further members for people that nothing covers, and answers
/// how the run verified. What cannot be read is left out, and shows as missing to whoever verifies.
///
/// # Errors
/// [`BundleError`] where it cannot be written.
pub async fn write(
    source: Source,
    run: &RunRef,
    dir: &Path,
    further: &[(&str, Vec<u8>)],
) -> Result<Report, BundleError> {
    let (store, blobs) = (Arc::new(NotedStore::over(source.store)), Arc::new(NotedBlobs::over(source.blobs)));
    let policies = Arc::new(Engines::new(blobs.clone()));
    let verifier = Verifier::new(store.clone(), blobs.clone(), source.log_key, policies);
    let report = verifier.verify_run(run).await;
    let streams = store.streams();
    let readable = verifier.readable(run, &mut fitting()).await.unwrap_or_default();
    // What is read from here on is for people, and lies under their names alone.
    let read = blobs.read();
    let mut draft = Draft::begin(dir)?;
    for (stream, noted) in &streams {
        draft.stream(run, stream, noted)?;
    }
    for (name, bytes) in further {
        draft.put(name, bytes)?;
    }
    draft.put(TRUST_ROOT, &TrustRoot::of_log(&source.log_key).to_bytes())?;
    for (name, made) in &readable {
        match made {
            Readable::Made(bytes) => draft.put(name, bytes)?,
            Readable::Blob(digest) => {
                if let Some(bytes) = blob(blobs.as_ref(), run, *digest).await? {
                    draft.put(name, &bytes)?;
                }
            }
        }
    }
    for digest in read {
        if let Some(bytes) = blob(blobs.as_ref(), run, digest).await? {
            draft.blob(digest, &bytes)?;
        }
    }
    draft.finish(run)?;
    Ok(report)
}

/// A blob; `None` where there is none that has this digest.
async fn blob(
    blobs: &dyn BlobStore,
    run: &RunRef,
    digest: Digest,
) -> Result<Option<bytes::Bytes>, BundleError> {
    let most: ByteCount = ambit_bundle::limits::MEMBER_BYTES;
    match blobs.get(&run.scope, digest, most).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(BlobError::NotFound(_) | BlobError::Corrupt(_)) => Ok(None),
        Err(error) => Err(BundleError::Io { name: digest.to_string(), source: std::io::Error::other(error) }),
    }
}
