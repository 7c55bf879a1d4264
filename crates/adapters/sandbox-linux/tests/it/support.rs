use std::path::PathBuf;
use std::sync::Arc;

use ambit_conformance::sandbox::Bench;
use ambit_conformance::sandbox::stores::{FewVolumes, OneImage};
pub(crate) use ambit_conformance::sandbox::stores::{image_digest, volumes};
use ambit_runtime_system::{SystemClock, TimeOrderedIds};
use ambit_sandbox_linux::{LinuxSandboxes, PROBER, Settings};
use bytes::Bytes;
use tempfile::TempDir;

/// An adapter with an image of the given directory, keeping its state below `root`, and its volumes beside it.
pub(crate) fn adapter(root: PathBuf, image: PathBuf) -> LinuxSandboxes {
    adapter_with(1, root, image)
}

/// Likewise, for which so many slots wait.
fn adapter_with(spare_guests: usize, root: PathBuf, image: PathBuf) -> LinuxSandboxes {
    let images = Arc::new(OneImage::at(image));
    let volumes = Arc::new(FewVolumes::beside(&root, PROBER));
    let settings = Settings { root, spare_guests };
    let ids = Arc::new(TimeOrderedIds::default());
    LinuxSandboxes::new(settings, images, volumes, Arc::new(SystemClock), ids).unwrap()
}

/// A bench around an adapter of its own, with an empty image. The directory lives as long as the answer.
pub(crate) fn bench() -> (Bench, TempDir) {
    bench_with(1)
}

/// Likewise, for which so many slots wait.
pub(crate) fn bench_with(spare_guests: usize) -> (Bench, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    std::fs::create_dir(&image).unwrap();
    let port = adapter_with(spare_guests, directory.path().join("state"), image);
    (Bench::new(Arc::new(port), image_digest(), volumes(), Bytes::from_static(PROBER)), directory)
}
