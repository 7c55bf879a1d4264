use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName, VolumeName};
use ambit_ports::images::{Image, ImageError, ImageStore};
use ambit_ports::volumes::{Volume, VolumeError, VolumeStore};
use async_trait::async_trait;

use crate::capture::{CaptureReport, CaptureRequest};
use crate::directory::{Directory, PruneReport, PruneRequest};
use crate::error::CaptureError;
use crate::import::{ImportError, ImportReport, ImportRequest};
use crate::origin::Origin;
use crate::volume::{Shelf, VolumeCaptureError, VolumeReport, VolumeRequest};

/// Images and volumes in a directory.
///
/// Several processes may use one directory at once. What writes or removes images takes turns; everything else needs no
/// turn, since an image appears and vanishes in one step and does not change. File work runs on the blocking threads of the Tokio runtime in which a
/// method is called.
#[derive(Clone, Debug)]
pub struct DirectoryImages(Directory, Shelf);

impl DirectoryImages {
    /// Opens the store in `root`, and makes it where there is none.
    ///
    /// # Errors
    /// [`ImageError::Io`] where the directory cannot be made.
    pub fn open(root: &Path) -> Result<Self, ImageError> {
        Ok(Self(Directory::open(root)?, Shelf::open(root)?))
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

    /// Captures what lies on this machine into a volume, and lets its name stand for it. Nothing of it is run.
    ///
    /// A volume with the same content is one volume, whatever its name. It is verified and used again, and keeps the
    /// record of its first capture.
    ///
    /// # Errors
    /// [`VolumeCaptureError`]. Nothing is kept then, and the name stands for what it stood for.
    pub async fn capture_volume(&self, request: VolumeRequest) -> Result<VolumeReport, VolumeCaptureError> {
        self.run_on_volumes(move |shelf| shelf.capture(&request)).await
    }

    /// The volume that a name stands for now; `None` where it stands for none.
    ///
    /// # Errors
    /// [`VolumeError::Io`] where that cannot be read.
    pub async fn volume_named(&self, name: &VolumeName) -> Result<Option<Digest>, VolumeError> {
        let name = name.clone();
        self.run_on_volumes(move |shelf| shelf.named(&name)).await
    }

    async fn run_on_volumes<T, E>(
        &self,
        work: impl FnOnce(&Shelf) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<VolumeError> + Send + 'static,
    {
        let shelf = self.1.clone();
        match tokio::task::spawn_blocking(move || work(&shelf)).await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(self.1.interrupted(error).into()),
            },
        }
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

#[async_trait]
impl VolumeStore for DirectoryImages {
    async fn list_volumes(&self) -> Result<Vec<Volume>, VolumeError> {
        self.run_on_volumes(Shelf::list).await
    }

    async fn find_volume(&self, digest: Digest) -> Result<Volume, VolumeError> {
        self.run_on_volumes(move |shelf| shelf.find(digest)).await
    }

    async fn volume_root(&self, digest: Digest) -> Result<PathBuf, VolumeError> {
        self.run_on_volumes(move |shelf| shelf.root(digest)).await
    }

    async fn verify_volume(&self, digest: Digest) -> Result<(), VolumeError> {
        self.run_on_volumes(move |shelf| shelf.verify(digest).map(drop)).await
    }
}
