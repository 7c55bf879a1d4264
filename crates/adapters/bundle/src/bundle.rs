use std::path::Path;
use std::sync::Arc;

use ambit_ids::Digest;
use ambit_ports::store::{RunRef, StreamId};

use crate::audit::Audit;
use crate::blobs::{BundleBlobs, place};
use crate::error::BundleError;
use crate::manifest::Manifest;
use crate::source::Contents;
use crate::store::{BundleStore, places};
use crate::{MANIFEST, limits};

/// A bundle that is read where it lies.
#[derive(Clone, Debug)]
pub struct Bundle {
    contents: Arc<Contents>,
    manifest: Arc<Manifest>,
}

impl Bundle {
    /// Opens a directory or a tar.
    ///
    /// # Errors
    /// [`BundleError`]: it cannot be read, it is past a bound, it holds something else than plain files with names of
    /// their own, or nothing says what it is about.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        let contents = Contents::open(path)?;
        let bytes = contents.whole(MANIFEST, limits::MANIFEST_BYTES as u64).map_err(|error| match error {
            BundleError::Absent(_) => BundleError::NoManifest,
            other => other,
        })?;
        let manifest = Arc::new(Manifest::read(&bytes)?);
        Ok(Self { contents: Arc::new(contents), manifest })
    }

    /// What it says that it is.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The run that it is about.
    #[must_use]
    pub fn run(&self) -> RunRef {
        RunRef { scope: self.manifest.scope(), run: self.manifest.run.clone() }
    }

    /// Its streams, read as those of a store.
    #[must_use]
    pub fn store(&self) -> BundleStore {
        BundleStore::new(self.contents.clone(), self.run())
    }

    /// Its blobs.
    #[must_use]
    pub fn blobs(&self) -> BundleBlobs {
        BundleBlobs::new(self.contents.clone(), self.manifest.scope())
    }

    /// The member under which a blob lies.
    #[must_use]
    pub fn blob_name(&self, digest: Digest) -> String {
        place(digest)
    }

    /// The members that hold a stream and its head; none where no bundle of this run holds it.
    #[must_use]
    pub fn stream_names(&self, stream: &StreamId) -> Vec<String> {
        places(&self.run(), stream).into_iter().flatten().collect()
    }

    /// Reads every member once, and holds it against the list.
    ///
    /// # Errors
    /// [`BundleError`] where one cannot be read.
    pub fn audit(&self) -> Result<Audit, BundleError> {
        Audit::of(&self.contents, &self.manifest)
    }
}
