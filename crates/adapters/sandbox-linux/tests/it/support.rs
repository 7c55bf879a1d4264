use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_conformance::sandbox::{Bench, BenchVolumes};
use ambit_ids::{Digest, UnixMs};
use ambit_ports::images::{Image, ImageError, ImageStore};
use ambit_ports::runtime::{Clock, IdGenerator};
use ambit_ports::volumes::{Volume, VolumeError, VolumeStore};
use ambit_sandbox_linux::{LinuxSandboxes, PROBER, Settings};
use async_trait::async_trait;
use bytes::Bytes;
use tempfile::TempDir;

/// A store with one image.
pub(crate) struct OneImage(pub(crate) PathBuf);

pub(crate) fn image_digest() -> Digest {
    Digest::of(b"the image of the tests")
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
struct FewVolumes(PathBuf);

pub(crate) fn volumes() -> BenchVolumes {
    let [one, other, altered] = ["one", "other", "altered"].map(|name| Digest::of(name.as_bytes()));
    BenchVolumes { one, other, altered }
}

impl FewVolumes {
    fn make(directory: PathBuf) -> Self {
        for name in ["one", "other"] {
            let volume = directory.join(name);
            std::fs::create_dir_all(volume.join("bin")).unwrap();
            std::fs::write(volume.join("name"), name).unwrap();
        }
        let probe = directory.join("one/bin/probe");
        if !probe.exists() {
            std::fs::write(&probe, PROBER).unwrap();
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

struct WallClock;

#[async_trait]
impl Clock for WallClock {
    fn now(&self) -> UnixMs {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        UnixMs::new(u64::try_from(since.as_millis()).unwrap())
    }

    async fn sleep_until(&self, moment: UnixMs) {
        tokio::time::sleep(Duration::from_millis(moment.since(self.now()).get())).await;
    }
}

struct Counted(u64);

static COUNT: AtomicU64 = AtomicU64::new(0);

impl IdGenerator for Counted {
    fn next(&self) -> String {
        format!("{:x}-{:06}", self.0, COUNT.fetch_add(1, Ordering::Relaxed))
    }
}

/// An adapter with an image of the given directory, keeping its state below `root`, and its volumes beside it.
pub(crate) fn adapter(root: PathBuf, image: PathBuf) -> LinuxSandboxes {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let ids = Counted(u64::try_from(started % u128::from(u64::MAX)).unwrap());
    let volumes = FewVolumes::make(root.parent().unwrap_or(Path::new("/")).join("volumes"));
    let settings = Settings { root, spare_guests: 1 };
    let images = Arc::new(OneImage(image));
    LinuxSandboxes::new(settings, images, Arc::new(volumes), Arc::new(WallClock), Arc::new(ids)).unwrap()
}

/// A bench around an adapter of its own, with an empty image. The directory lives as long as the answer.
pub(crate) fn bench() -> (Bench, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    std::fs::create_dir(&image).unwrap();
    let port = adapter(directory.path().join("state"), image);
    (Bench::new(Arc::new(port), image_digest(), volumes(), Bytes::from_static(PROBER)), directory)
}
