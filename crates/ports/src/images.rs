//! Sandbox images: immutable root file systems under their digest.

use std::path::PathBuf;

use ambit_ids::{ByteCount, Digest};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// An image that is present on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// The digest of its tree: every path, mode, link and content.
    pub digest: Digest,
    /// The name that was given when it was captured. A name is a convenience; admission takes only the digest.
    pub name: String,
    /// The tools that can be called in it, sorted.
    pub tools: Vec<String>,
    /// Files and links.
    pub entries: u64,
    /// The sum of the file sizes.
    pub size_bytes: ByteCount,
}

/// Where the images of this machine lie.
///
/// - An image MUST NOT change once it can be found; its digest MUST be computed from what lies on disk, not declared.
/// - [`root`](Self::root) MUST answer only for an image that was whole when it was stored.
#[async_trait]
pub trait ImageStore: Send + Sync {
    /// Every image, sorted by name and digest.
    async fn list(&self) -> Result<Vec<Image>, ImageError>;

    /// The image of exactly this digest.
    async fn find(&self, digest: Digest) -> Result<Image, ImageError>;

    /// The directory that holds the root file system of an image, for read-only mounting.
    async fn root(&self, digest: Digest) -> Result<PathBuf, ImageError>;

    /// Computes the digest of an image anew from every byte on disk.
    async fn verify(&self, digest: Digest) -> Result<(), ImageError>;
}

/// Why an image is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Not on this machine.
    #[error("no image {0} on this machine; `ambit image list` shows those that are")]
    NotFound(Digest),
    /// What lies on disk is not what the digest names.
    #[error("the image {expected} was altered: it now has the digest {found}")]
    Corrupt {
        /// The digest under which it lies.
        expected: Digest,
        /// The digest of what lies there.
        found: Digest,
    },
    /// A tool that was to be captured is not on this machine.
    #[error("{tool} is not on this machine: {why}")]
    ToolMissing {
        /// The tool.
        tool: String,
        /// What was looked for.
        why: String,
    },
    /// The storage failed.
    #[error("the image store failed at {path}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl ImageError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "IMAGE_NOT_FOUND",
            Self::Corrupt { .. } => "IMAGE_CORRUPT",
            Self::ToolMissing { .. } => "IMAGE_TOOL_MISSING",
            Self::Io { .. } => "IMAGE_STORE_FAILED",
        }
    }
}
