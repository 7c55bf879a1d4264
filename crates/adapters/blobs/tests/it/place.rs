use std::path::{Path, PathBuf};

use ambit_blobs::DirectoryBlobs;
use ambit_conformance::store::sample::scope;
use ambit_ids::{Digest, Scope};
use tempfile::TempDir;

/// A directory of directories of blobs that goes when it is dropped.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn root(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn open(&self, name: &str) -> DirectoryBlobs {
        DirectoryBlobs::open(&self.root(name)).unwrap()
    }

    /// The file of a blob of `acme/shop`.
    pub(crate) fn file(&self, name: &str, digest: Digest) -> PathBuf {
        let hex = digest.to_hex();
        self.root(name).join("acme/shop").join(&hex[..2]).join(&hex[2..])
    }
}

pub(crate) fn acme() -> Scope {
    scope("acme", "shop")
}

/// Every file and directory below a path.
pub(crate) fn everything(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        found.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            found.extend(everything(&entry.path()));
        }
    }
    found
}
