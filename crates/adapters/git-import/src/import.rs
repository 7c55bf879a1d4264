use std::path::Path;

use ambit_ids::{ByteCount, Scope};
use ambit_ports::blobs::BlobStore;
use ambit_revision::Tree;
use tokio::sync::mpsc::{self, Sender};
use tokio::task::spawn_blocking;

use crate::keep::{self, Found};
use crate::limits::QUEUED;
use crate::objects::Objects;
use crate::refs::Refs;
use crate::repository::Repository;
use crate::walk::{Met, walk};
use crate::{CommitId, Finding, ImportError, ImportOptions, Rev};

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The tree.
    pub tree: Tree,
    /// The commit that it is of.
    pub commit: CommitId,
    /// Its files and links.
    pub entries: u64,
    /// The bytes of its files, and of the targets of its links.
    pub bytes: ByteCount,
    /// What whoever imports should know, in the order of the tree, at most [`limits::FINDINGS`](crate::limits::FINDINGS).
    pub findings: Vec<Finding>,
    /// How many findings there are beyond those.
    pub more_findings: u64,
}

/// Imports a commit of the repository of `dir` into `scope`: its contents first, then the objects of its directories, the
/// one of the root last. A tree that can be found is therefore whole.
///
/// `dir` holds `.git`, or is a bare repository; no directory above it is looked at. It needs a tokio runtime for what waits
/// for the disk. Memory is bounded by a few chunks of contents, the paths, and the base of a delta where a file is one.
/// Dropping the future ends the import. The repository is only read.
///
/// # Errors
/// [`ImportError`] names the first object or entry that cannot be imported as it is. There is no tree then.
pub async fn import(
    dir: &Path,
    rev: &Rev,
    scope: &Scope,
    blobs: &dyn BlobStore,
    options: ImportOptions,
) -> Result<Imported, ImportError> {
    let batch = blobs.batch(scope).await?;
    let (sender, receiver) = mpsc::channel(QUEUED);
    let (dir, rev) = (dir.to_owned(), rev.clone());
    let reading = spawn_blocking(move || read(&dir, &rev, options, &sender));
    let kept = keep::contents(batch.as_ref(), receiver).await;
    // The reading has ended or ends now, since whatever took its files is gone.
    let read = reading.await.map_err(|_| ImportError::Interrupted)?;
    let (files, (commit, met)) = (kept?, read?);
    let tree = Tree::from_files(files)?;
    let root = keep::objects(batch.as_ref(), &tree).await?;
    batch.finish().await?;
    blobs.put(scope, root.into()).await?;
    Ok(Imported {
        entries: tree.file_count() as u64,
        bytes: tree.content_bytes(),
        tree,
        commit,
        findings: met.findings,
        more_findings: met.more_findings,
    })
}

fn read(
    dir: &Path,
    rev: &Rev,
    options: ImportOptions,
    found: &Sender<Found>,
) -> Result<(CommitId, Met), ImportError> {
    let repository = Repository::open(dir)?;
    let refs = Refs::open(&repository)?;
    let mut objects = Objects::open(&repository)?;
    let (commit, tree) = objects.resolve(&refs, rev)?;
    Ok((commit, walk(&mut objects, tree, options, found)?))
}
