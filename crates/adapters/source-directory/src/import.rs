use std::collections::BTreeSet;
use std::path::Path;

use ambit_ids::{ByteCount, RepoPath, Scope};
use ambit_ports::blobs::BlobStore;
use ambit_revision::Tree;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::found::Content;
use crate::limits::QUEUED_ENTRIES;
use crate::walk::walk;
use crate::{ImportError, ImportOptions, keep};

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The tree.
    pub tree: Tree,
    /// Its files and links.
    pub entries: u64,
    /// The bytes of its files, and of the targets of its links.
    pub bytes: ByteCount,
    /// Entries that were skipped because some file system takes them for git's own directory.
    pub skipped_git: u64,
    /// Entries that a `.gitignore` file leaves out, or that a package manager or a build made. A directory counts once, with everything in it.
    pub ignored: u64,
}

/// Imports the directory `dir` into `scope`: its contents first, then the objects of its directories, the one of the
/// root last. A tree that can be found is therefore whole.
///
/// It needs a tokio runtime for what waits for the disk. Memory is bounded by a few chunks of contents, and by the paths.
/// Dropping the future ends the import. The directory is only read; times of access are the file system's affair.
///
/// # Errors
/// [`ImportError`] names the first entry that cannot be imported as it is. There is no tree then.
pub async fn import(
    dir: &Path,
    scope: &Scope,
    blobs: &dyn BlobStore,
    options: ImportOptions,
) -> Result<Imported, ImportError> {
    let (sender, receiver) = mpsc::channel(QUEUED_ENTRIES);
    let dir = dir.to_owned();
    let walking = spawn_blocking(move || walk(&dir, options, &sender));
    let batch = blobs.batch(scope).await?;
    let kept = keep::contents(batch.as_ref(), receiver).await;
    // The walk has ended or ends now, since whatever took its entries is gone.
    let walked = walking.await.map_err(|_| ImportError::Interrupted)?;
    let (files, left_out) = (kept?, walked?);
    let tree = Tree::from_files(files)?;
    let root = keep::objects(batch.as_ref(), &tree).await?;
    batch.finish().await?;
    blobs.put(scope, root.into()).await?;
    Ok(Imported {
        entries: tree.file_count() as u64,
        bytes: tree.content_bytes(),
        tree,
        skipped_git: left_out.git,
        ignored: left_out.ignored,
    })
}

/// The files and links that an import of the directory would take, by their paths. Nothing is kept of them.
///
/// # Errors
/// As [`import`].
pub async fn files(dir: &Path, options: ImportOptions) -> Result<BTreeSet<RepoPath>, ImportError> {
    let (sender, mut receiver) = mpsc::channel(QUEUED_ENTRIES);
    let dir = dir.to_owned();
    let walking = spawn_blocking(move || walk(&dir, options, &sender));
    let mut paths = BTreeSet::new();
    while let Some(found) = receiver.recv().await {
        if let Content::Streamed(mut pieces) = found.content {
            while pieces.recv().await.is_some() {}
        }
        paths.insert(found.path);
    }
    walking.await.map_err(|_| ImportError::Interrupted)??;
    Ok(paths)
}
