use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName};
use ambit_ports::images::{Image, ImageError, ImageStore};
use async_trait::async_trait;

use crate::capture::{CaptureReport, CaptureRequest};
use crate::directory::{Directory, PruneReport, PruneRequest};
use crate::error::CaptureError;
use crate::import::{ImportError, ImportReport, ImportRequest};
use crate::origin::Origin;

/// Images in a directory.
///
/// Several processes may use one directory at once. What writes or removes images takes turns; everything else needs no
/// turn, since an image appears and vanishes in one step and does not change. File work runs on the blocking threads of the Tokio runtime in which a
/// method is called.
#[derive(Clone, Debug)]
pub struct DirectoryImages(Directory);

impl DirectoryImages {
    /// Opens the store in `root`, and makes it where there is none.
    ///
    /// # Errors
    /// [`ImageError::Io`] where the directory cannot be made.
    pub fn open(root: &Path) -> Result<Self, ImageError> {
        Directory::open(root).map(Self)
    }

    /// Captures tools of this machine into an image, and lets its name stand for it.
    ///
    /// An image with the same content is one image, whatever its name. It is verified and used again, and keeps the
    /// record of its first capture.
    ///
    /// # Errors
    /// [`CaptureError`]. Nothing is kept then, and the name stands for what it stood for.
    pub async fn capture(&self, request: CaptureRequest) -> Result<CaptureReport, CaptureError> {
        self.run(move |directory| directory.capture(&request)).await
    }

    /// The image that a name stands for now; `None` where it stands for none.
    ///
    /// # Errors
    /// [`ImageError::Io`] where that cannot be read.
    pub async fn named(&self, name: &ImageName) -> Result<Option<Digest>, ImageError> {
        let name = name.clone();
        self.run(move |directory| directory.named(&name)).await
    }

    /// Imports somebody else's image, and lets its name stand for it.
    ///
    /// The outcome depends on the content of the source alone: its owners and times are left out, files can be read by
    /// everyone and written by nobody, and what every image has is added where it is absent. An image with the same
    /// content is one image, whatever it was made of: a tar of a captured image is that image.
    ///
    /// # Errors
    /// [`ImportError`]. Nothing is kept then, and the name stands for what it stood for.
    pub async fn import(&self, request: ImportRequest) -> Result<ImportReport, ImportError> {
        self.run(move |directory| directory.import(&request)).await
    }

    /// Where an image came from when it was first stored; `None` where that was not kept.
    ///
    /// # Errors
    /// [`ImageError::NotFound`], and [`ImageError::Io`] where it cannot be read.
    pub async fn origin(&self, digest: Digest) -> Result<Option<Origin>, ImageError> {
        self.run(move |directory| directory.origin(digest)).await
    }

    /// Every name with the digest that it stands for, which may be one that is not here.
    ///
    /// # Errors
    /// [`ImageError::Io`] where that cannot be read.
    pub async fn names(&self) -> Result<BTreeMap<ImageName, Digest>, ImageError> {
        self.run(Directory::all_names).await
    }

    /// The digests under which images lie, whole or damaged.
    ///
    /// # Errors
    /// [`ImageError::Io`] where that cannot be read.
    pub async fn digests(&self) -> Result<BTreeSet<Digest>, ImageError> {
        self.run(Directory::digests).await
    }

    /// Removes images that nothing refers to, and what is left of work that did not come to its end.
    ///
    /// The store cannot know who refers to an image by its digest: the request says so. An interruption leaves every
    /// image whole or not to be found; one that lost its name and was not removed yet is removed the next time.
    ///
    /// # Errors
    /// [`ImageError::Io`] where something cannot be removed. What was removed before stays removed.
    pub async fn prune(&self, request: PruneRequest) -> Result<PruneReport, ImageError> {
        self.run(move |directory| directory.prune(&request)).await
    }

    async fn run<T, E>(&self, work: impl FnOnce(&Directory) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<ImageError> + Send + 'static,
    {
        let directory = self.0.clone();
        match tokio::task::spawn_blocking(move || work(&directory)).await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(self.0.interrupted(error).into()),
            },
        }
    }
}

#[async_trait]
impl ImageStore for DirectoryImages {
    async fn list(&self) -> Result<Vec<Image>, ImageError> {
        self.run(Directory::list).await
    }

    async fn find(&self, digest: Digest) -> Result<Image, ImageError> {
        self.run(move |directory| directory.find(digest)).await
    }

    async fn root(&self, digest: Digest) -> Result<PathBuf, ImageError> {
        self.run(move |directory| directory.root(digest)).await
    }

    async fn verify(&self, digest: Digest) -> Result<(), ImageError> {
        self.run(move |directory| directory.verify(digest).map(drop)).await
    }
}
