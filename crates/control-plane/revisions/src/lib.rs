//! The source service: the only place that keeps source trees and reads them back.
//!
//! A tree lies in the blobs as its directory objects and the contents of its files, each under its own digest, so that
//! two revisions share whatever did not change and nothing can be altered without its digest telling.

#![forbid(unsafe_code)]

mod cache;
mod difference;
mod held;
mod hidden;

use std::sync::Arc;

use ambit_ids::{ByteCount, Digest, RepoPath, Scope, limits};
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_ports::sandbox::{BatchFile, BatchFileKind};
use ambit_revision::tree::{DirectoryObject, LoadError, TreeLoader};
use ambit_revision::{Contents, DiffError, FileKind, Tree, TreeFile};
use bytes::Bytes;

use crate::cache::TreeCache;
use crate::held::HeldContents;
pub use crate::hidden::{HiddenFilesError, admit_hidden, not_in_source};

/// Keeps and reads source trees.
#[derive(Clone)]
pub struct Revisions {
    blobs: Arc<dyn BlobStore>,
    cache: Arc<TreeCache>,
    held: Arc<HeldContents>,
}

/// Why a tree could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// A part of the tree is gone, altered, or could not be read.
    #[error("the tree {tree} cannot be read whole")]
    Blob {
        /// The tree.
        tree: Digest,
        /// Why.
        #[source]
        source: BlobError,
    },
    /// The stored objects make no tree.
    #[error("what is stored of the tree {tree} makes no tree")]
    Load {
        /// The tree.
        tree: Digest,
        /// Why.
        #[source]
        source: LoadError,
    },
    /// The content of a file could not be kept or read.
    #[error("the content of {path} cannot be read or kept")]
    Content {
        /// The file.
        path: RepoPath,
        /// Why.
        #[source]
        source: BlobError,
    },
    /// The difference of two trees cannot be told.
    #[error(transparent)]
    Diff(#[from] DiffError),
}

impl RevisionError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blob { source, .. } | Self::Content { source, .. } => source.code(),
            Self::Load { source, .. } => source.code(),
            Self::Diff(error) => error.code(),
        }
    }
}

impl RevisionError {
    /// Whether the storage stumbled, which says nothing about what is stored.
    #[must_use]
    pub const fn is_of_storage(&self) -> bool {
        matches!(
            self,
            Self::Blob { source: BlobError::Io(_) | BlobError::NoSpace(_), .. }
                | Self::Content { source: BlobError::Io(_) | BlobError::NoSpace(_), .. }
        )
    }
}

impl Revisions {
    /// A source service over blobs.
    #[must_use]
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs, cache: Arc::default(), held: Arc::default() }
    }

    /// The blobs behind it.
    #[must_use]
    pub fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.blobs
    }

    /// Reads the tree of a digest. Of its directories only those are read that differ from the tree of this scope that
    /// was used last.
    ///
    /// # Errors
    /// [`RevisionError`] where a directory object is gone or altered.
    pub async fn load(&self, scope: &Scope, digest: Digest) -> Result<Tree, RevisionError> {
        if let Some(tree) = self.cache.get(scope, digest) {
            return Ok(tree);
        }
        let blob = |source| RevisionError::Blob { tree: digest, source };
        let load = |source| RevisionError::Load { tree: digest, source };
        let mut loader = match self.cache.latest(scope) {
            Some(known) => TreeLoader::beside(digest, &known),
            None => TreeLoader::new(digest),
        };
        loop {
            let wanted: Vec<Digest> = loader.wanted().map(|(object, _)| object).collect();
            if wanted.is_empty() {
                break;
            }
            for object in self.blobs.get_many(scope, &wanted, DIRECTORY_LIMIT).await {
                loader.supply(object.map_err(blob)?.bytes()).map_err(load)?;
            }
        }
        let tree = loader.finish().map_err(load)?;
        self.cache.put(scope, digest, &tree);
        Ok(tree)
    }

    /// Keeps a tree whose file contents are kept already, or stand in `contents`. The contents are kept first and the
    /// root last, so a tree that can be found is whole. The cost grows with the tree; [`keep_beyond`](Self::keep_beyond)
    /// costs what changed.
    ///
    /// # Errors
    /// [`RevisionError`] where a blob could not be kept. What was kept until then is no part of any tree.
    pub async fn keep(
        &self,
        scope: &Scope,
        tree: &Tree,
        contents: &Contents,
    ) -> Result<Digest, RevisionError> {
        self.keep_objects(scope, tree, contents, tree.objects()).await
    }

    /// Keeps a tree that was made from the kept tree `base`: the contents that are new, and the directories that do not
    /// stand at the same place of `base`.
    ///
    /// # Errors
    /// [`RevisionError`] where `base` cannot be read or a blob could not be kept.
    pub async fn keep_beyond(
        &self,
        scope: &Scope,
        base: Digest,
        tree: &Tree,
        contents: &Contents,
    ) -> Result<Digest, RevisionError> {
        // Only what was read from the blobs, or kept in them, counts as kept.
        let base = self.load(scope, base).await?;
        let digest = self.keep_objects(scope, tree, contents, tree.objects_beyond(&base)).await?;
        // What a patch made is mostly what the next one changes.
        self.held.put(scope, contents.each());
        Ok(digest)
    }

    async fn keep_objects(
        &self,
        scope: &Scope,
        tree: &Tree,
        contents: &Contents,
        objects: Vec<DirectoryObject>,
    ) -> Result<Digest, RevisionError> {
        let digest = tree.digest();
        let blob = |source| RevisionError::Blob { tree: digest, source };
        for (_, bytes) in contents.iter() {
            self.blobs.put(scope, Bytes::copy_from_slice(bytes)).await.map_err(blob)?;
        }
        let (root, below): (Vec<_>, Vec<_>) = objects.into_iter().partition(|object| object.digest == digest);
        // The root makes the tree findable and therefore goes last.
        for object in below.into_iter().chain(root) {
            self.blobs.put(scope, object.bytes.into()).await.map_err(blob)?;
        }
        self.cache.put(scope, digest, tree);
        Ok(digest)
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// [`RevisionError`] where it is gone or altered.
    pub async fn content(
        &self,
        scope: &Scope,
        path: &RepoPath,
        file: &TreeFile,
    ) -> Result<Bytes, RevisionError> {
        let limit = ByteCount::new(limits::FILE_BYTES);
        self.blobs
            .get(scope, file.content, limit)
            .await
            .map_err(|source| RevisionError::Content { path: path.clone(), source })
    }
}

/// The largest directory object: as many entries as a tree may have, each with the longest name.
const DIRECTORY_LIMIT: ByteCount = ByteCount::new(512 << 20);

/// The files of a tree, or of a directory of it, as a sandbox takes them.
#[must_use]
pub fn batch(tree: &Tree, under: Option<&RepoPath>) -> Vec<BatchFile> {
    let files = match under {
        Some(under) => tree.files_under(under),
        None => tree.files(),
    };
    files
        .filter_map(|(path, file)| {
            Some(BatchFile {
                path: relative(&path, under)?,
                kind: match file.kind {
                    FileKind::File => BatchFileKind::File,
                    FileKind::Executable => BatchFileKind::Executable,
                    FileKind::Link => BatchFileKind::Link,
                },
                content: file.content,
                size: file.size,
            })
        })
        .collect()
}

fn relative(path: &RepoPath, under: Option<&RepoPath>) -> Option<RepoPath> {
    let Some(under) = under else { return Some(path.clone()) };
    let rest = path.as_bytes().strip_prefix(under.as_bytes())?.strip_prefix(b"/")?;
    RepoPath::from_bytes(rest).ok()
}
