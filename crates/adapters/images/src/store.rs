use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName};
use ambit_ports::images::{Image, ImageError, ImageStore};
use async_trait::async_trait;

use crate::capture::{CaptureReport, CaptureRequest};
use crate::directory::Directory;
use crate::error::CaptureError;

/// Images in a directory.
///
/// Several processes may use one directory at once. Captures take turns; everything else needs no turn, since an image
/// appears in one step and does not change. File work runs on the blocking threads of the Tokio runtime in which a
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
