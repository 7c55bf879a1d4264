//! The least that a backend is given on a bench: one image, and the volumes of the bench.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ambit_ids::Digest;
use ambit_ports::images::{Image, ImageError, ImageStore};
use ambit_ports::volumes::{Volume, VolumeError, VolumeStore};
use async_trait::async_trait;

use super::BenchVolumes;

/// The image of [`OneImage`].
#[must_use]
pub fn image_digest() -> Digest {
    Digest::of(b"the image of the tests")
}

/// The volumes of [`FewVolumes`].
#[must_use]
pub fn volumes() -> BenchVolumes {
    let [one, other, altered] = ["one", "other", "altered"].map(|name| Digest::of(name.as_bytes()));
    BenchVolumes { one, other, altered }
}

/// A store with one image, which lies in a directory.
#[derive(Clone, Debug)]
pub struct OneImage(PathBuf);

impl OneImage {
    /// The store of the image that lies there.
    #[must_use]
    pub const fn at(directory: PathBuf) -> Self {
        Self(directory)
    }
}

#[async_trait]
impl ImageStore for OneImage {
    async fn list(&self) -> Result<Vec<Image>, ImageError> {
        Ok(Vec::new())
    }

    async fn find(&self, digest: Digest) -> Result<Image, ImageError> {
        Err(ImageError::NotFound(digest))
    }

    async fn root(&self, digest: Digest) -> Result<PathBuf, ImageError> {
        if digest == image_digest() { Ok(self.0.clone()) } else { Err(ImageError::NotFound(digest)) }
    }

    async fn verify(&self, _: Digest) -> Result<(), ImageError> {
        Ok(())
    }
}

/// The volumes of the bench, in a directory, each under the name of its field.
#[derive(Clone, Debug)]
pub struct FewVolumes(PathBuf);

impl FewVolumes {
    /// Makes them beside the state of a backend, unless they are there.
    #[must_use]
    pub fn beside(state: &Path, prober: &[u8]) -> Self {
        let directory = state.parent().unwrap_or(Path::new("/")).join("volumes");
        for name in ["one", "other"] {
            let volume = directory.join(name);
            std::fs::create_dir_all(volume.join("bin")).unwrap();
            std::fs::write(volume.join("name"), name).unwrap();
        }
        let probe = directory.join("one/bin/probe");
        if !probe.exists() {
            std::fs::write(&probe, prober).unwrap();
            std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o555)).unwrap();
        }
        Self(directory)
    }
}

#[async_trait]
impl VolumeStore for FewVolumes {
    async fn list_volumes(&self) -> Result<Vec<Volume>, VolumeError> {
        Ok(Vec::new())
    }

    async fn find_volume(&self, digest: Digest) -> Result<Volume, VolumeError> {
        Err(VolumeError::NotFound(digest))
    }

    async fn volume_root(&self, digest: Digest) -> Result<PathBuf, VolumeError> {
        let BenchVolumes { one, other, altered } = volumes();
        match digest {
            _ if digest == one => Ok(self.0.join("one")),
            _ if digest == other => Ok(self.0.join("other")),
            _ if digest == altered => Err(VolumeError::Corrupt { expected: digest, found: other }),
            _ => Err(VolumeError::NotFound(digest)),
        }
    }

    async fn verify_volume(&self, _: Digest) -> Result<(), VolumeError> {
        Ok(())
    }
}
