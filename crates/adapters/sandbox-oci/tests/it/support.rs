use std::path::PathBuf;
use std::sync::Arc;

use ambit_conformance::sandbox::Bench;
use ambit_conformance::sandbox::stores::{FewVolumes, OneImage};
pub(crate) use ambit_conformance::sandbox::stores::{image_digest, volumes};
use ambit_runtime_system::{SystemClock, TimeOrderedIds};
use ambit_sandbox_linux::{LinuxSandboxes, PROBER};
use ambit_sandbox_oci::{OciSandboxes, Settings};
use bytes::Bytes;
use tempfile::TempDir;

/// An adapter of a runtime with an image of the given directory, keeping its state below `root`, and its volumes beside it.
pub(crate) fn adapter(runtime: &str, root: PathBuf, image: PathBuf) -> OciSandboxes {
    let images = Arc::new(OneImage::at(image));
    let volumes = Arc::new(FewVolumes::beside(&root, PROBER));
    let settings = Settings { root, runtime: runtime.parse().unwrap(), program: PROBER };
    let ids = Arc::new(TimeOrderedIds::default());
    OciSandboxes::new(settings, images, volumes, Arc::new(SystemClock), ids).unwrap()
}

/// A backend of another kind with the same image, keeping its state below `root`.
pub(crate) fn linux(root: PathBuf, image: PathBuf) -> LinuxSandboxes {
    let images = Arc::new(OneImage::at(image));
    let volumes = Arc::new(FewVolumes::beside(&root, PROBER));
    let settings = ambit_sandbox_linux::Settings { root, spare_guests: 0 };
    let ids = Arc::new(TimeOrderedIds::default());
    LinuxSandboxes::new(settings, images, volumes, Arc::new(SystemClock), ids).unwrap()
}

/// A bench around an adapter of its own, with an empty image. The directory lives as long as the answer.
pub(crate) fn bench(runtime: &str) -> (Bench, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    std::fs::create_dir(&image).unwrap();
    let port = adapter(runtime, directory.path().join("state"), image);
    (Bench::new(Arc::new(port), image_digest(), volumes(), Bytes::from_static(PROBER)), directory)
}

/// Whether a runtime is on this machine and can be used; if not, the test says so by name.
pub(crate) fn is_there(runtime: &str) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let port = adapter(runtime, directory.path().join("state"), directory.path().to_path_buf());
    match port.check() {
        Ok(()) => true,
        Err(error) => {
            println!("skipped: RUNTIME_ABSENT {runtime}: {error}");
            false
        }
    }
}

/// The variable under which no check is left out for its time.
const EVERY_CHECK: &str = "AMBIT_EVERY_CHECK";
/// The runtime that is the quickest, and runs every check every time.
pub(crate) const QUICKEST: &str = "crun";

/// Whether long checks are left out this time; for this one it is said.
pub(crate) fn is_left_out(runtime: &str, check: &str) -> bool {
    let every = std::env::var_os(EVERY_CHECK).is_some_and(|value| value == "1");
    if !every {
        println!("skipped: LONG_CHECK {runtime}: {check} runs where {EVERY_CHECK}=1");
    }
    !every
}
