use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName, VolumeName};
use ambit_ports::images::{Image, ImageError, ImageStore};
use ambit_ports::volumes::{Volume, VolumeError, VolumeStore};
use async_trait::async_trait;

use crate::capture::{CaptureReport, CaptureRequest};
use crate::directory::Directory;
use crate::error::CaptureError;
use crate::volume::{Shelf, VolumeCaptureError, VolumeReport, VolumeRequest};

/// Images and volumes in a directory.
///
/// Several processes may use one directory at once. Captures take turns; everything else needs no turn, since an image
/// appears in one step and does not change. File work runs on the blocking threads of the Tokio runtime in which a
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
