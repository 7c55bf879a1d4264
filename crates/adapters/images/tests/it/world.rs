//! A store in a directory that is removed again, and what this machine offers for the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_ids::Digest;
use ambit_images::{CaptureError, CaptureReport, CaptureRequest, DirectoryImages};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) images: DirectoryImages,
    directory: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let directory = scratch("images-");
        Self { images: DirectoryImages::open(directory.path()).unwrap(), directory }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn home(&self, digest: Digest) -> PathBuf {
        self.path().join(format!("sha256-{}", digest.to_hex()))
    }

    pub(crate) fn rootfs(&self, digest: Digest) -> PathBuf {
        self.home(digest).join("rootfs")
    }

    pub(crate) fn capture(&self, name: &str, tools: &[&str]) -> Result<CaptureReport, CaptureError> {
        wait(self.images.capture(request(name, tools)))
    }
}

impl Drop for World {
    /// Sealed directories cannot be emptied by an ordinary user.
    fn drop(&mut self) {
        let _ = Command::new("chmod").args(["-R", "u+w"]).arg(self.path()).status();
    }
}

/// A directory that a sandbox would not hide, unlike `/tmp`, so that tools can be made in it.
pub(crate) fn scratch(prefix: &str) -> TempDir {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    [PathBuf::from(env!("CARGO_TARGET_TMPDIR")), home, PathBuf::from("/var/lib")]
        .iter()
        .filter(|path| !["/tmp", "/var/tmp", "/home/sandbox"].iter().any(|mount| path.starts_with(mount)))
        .find_map(|parent| tempfile::Builder::new().prefix(prefix).tempdir_in(parent).ok())
        .expect("a directory that a sandbox does not hide")
}

pub(crate) fn request(name: &str, tools: &[&str]) -> CaptureRequest {
    CaptureRequest {
        name: name.parse().unwrap(),
        tools: tools.iter().map(|tool| tool.parse().unwrap()).collect(),
        search_path: search_path(),
    }
}

pub(crate) fn search_path() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect()
}

pub(crate) fn is_installed(tool: &str) -> bool {
    search_path().iter().any(|directory| directory.join(tool).is_file())
}

/// Whether a test may mount something for itself; tells which test is skipped where it may not.
pub(crate) fn has_namespaces(test: &str) -> bool {
    let tried = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).output();
    let has = tried.is_ok_and(|output| output.status.success());
    if !has {
        println!("skipped: USER_NAMESPACES_ABSENT {test}");
    }
    has
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
