//! Volumes: immutable directory trees under their digest, which commands name and find below `/volumes`.

use std::path::PathBuf;

use ambit_ids::{ByteCount, Digest, VolumeName, vocabulary};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

vocabulary!(
    /// What a volume was captured from.
    VolumeKind {
        /// The registry crates of a `Cargo.lock`, as a home of Cargo.
        Cargo = "cargo",
        /// An installed `node_modules`.
        NodeModules = "node-modules",
        /// The packages of a Python environment.
        Python = "python",
        /// A directory as it is.
        Directory = "directory",
    }
);

/// A volume that is present on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Volume {
    /// The digest of its tree: every path, mode, link and content. It is never the digest of an image, since the two are
    /// computed differently.
    pub digest: Digest,
    /// The name that was given when it was captured. A name is a convenience; a catalog takes only the digest.
    pub name: VolumeName,
    /// What it was captured from.
    pub kind: VolumeKind,
    /// Files and links.
    pub entries: u64,
    /// The sum of the file sizes.
    pub size_bytes: ByteCount,
}

/// Where the volumes of this machine lie.
///
/// - A volume MUST NOT change once it can be found; its digest MUST be computed from what lies on disk, not declared.
/// - [`volume_root`](Self::volume_root) MUST answer only for a volume whose content is what its digest says.
/// - The digest of an image MUST name no volume.
#[async_trait]
pub trait VolumeStore: Send + Sync {
    /// Every volume, sorted by name and digest.
    async fn list_volumes(&self) -> Result<Vec<Volume>, VolumeError>;

    /// The volume of exactly this digest.
    async fn find_volume(&self, digest: Digest) -> Result<Volume, VolumeError>;

    /// The directory that holds the tree of a volume, for read-only mounting.
    async fn volume_root(&self, digest: Digest) -> Result<PathBuf, VolumeError>;

    /// Computes the digest of a volume anew from every byte on disk.
    async fn verify_volume(&self, digest: Digest) -> Result<(), VolumeError>;
}

/// Why a volume is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// Not on this machine.
    #[error("no volume {0} on this machine; `ambit volume list` shows those that are")]
    NotFound(Digest),
    /// What lies on disk is not what the digest names.
    #[error("the volume {expected} was altered: it now has the digest {found}")]
    Corrupt {
        /// The digest under which it lies.
        expected: Digest,
        /// The digest of what lies there.
        found: Digest,
    },
    /// The storage failed.
    #[error("the volume store failed at {path}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl VolumeError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "VOLUME_NOT_FOUND",
            Self::Corrupt { .. } => "VOLUME_CORRUPT",
            Self::Io { .. } => "VOLUME_STORE_FAILED",
        }
    }
}
