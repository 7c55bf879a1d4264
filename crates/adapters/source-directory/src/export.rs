use std::path::Path;

use ambit_ids::{ByteCount, RepoPath, Scope, limits};
use ambit_ports::blobs::BlobStore;
use ambit_revision::{FileKind, Tree, TreeFile};
use bytes::Bytes;
use tokio::sync::mpsc::{self, Sender};
use tokio::task::spawn_blocking;

use crate::ExportError;
use crate::limits::QUEUED_WRITES;
use crate::write::{Entry, Write, write};

/// What was exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Files and links.
    pub entries: u64,
    /// The bytes of the files, and of the targets of the links.
    pub bytes: ByteCount,
}

/// Writes `tree`, whose contents lie in `scope`, to `dir`, which does not exist or is an empty directory.
///
/// The files are written beside `dir`, in a directory named `.ambit-export-` and a number, which then takes the place of
/// `dir` in one step: `dir` holds the whole tree or is as it was. A crash can leave that directory behind.
///
/// Files have mode 0644 or 0755 and directories 0755, less the mask of this process. Links are written as they are,
/// after everything else and without following any, so one may lead out of `dir`: whoever reads the outcome decides what
/// to follow. Nothing waits for the disk to have it all.
///
/// It needs a tokio runtime for what waits for the disk. Memory is bounded by a few files of the largest size.
///
/// # Errors
/// [`ExportError`] names the first entry that cannot be written or of which the content is gone.
pub async fn export(
    tree: &Tree,
    scope: &Scope,
    blobs: &dyn BlobStore,
    dir: &Path,
) -> Result<Exported, ExportError> {
    let (sender, receiver) = mpsc::channel(QUEUED_WRITES);
    let dir = dir.to_owned();
    let writing = spawn_blocking(move || write(&dir, receiver));
    let fed = feed(tree, scope, blobs, &sender).await;
    drop(sender);
    let written = writing.await.map_err(|_| ExportError::Interrupted)?;
    match (fed, written) {
        // Each side ends where the other one failed, and only the one that failed knows why.
        (Err(ExportError::Interrupted) | Ok(()), written) => written?,
        (Err(error), _) => return Err(error),
    }
    Ok(Exported { entries: tree.file_count() as u64, bytes: tree.content_bytes() })
}

async fn feed(
    tree: &Tree,
    scope: &Scope,
    blobs: &dyn BlobStore,
    writes: &Sender<Write>,
) -> Result<(), ExportError> {
    for (path, file) in tree.files() {
        let entry = match file.kind {
            FileKind::File | FileKind::Executable => {
                let bytes = content(scope, blobs, &path, file).await?;
                Entry::File { bytes, is_executable: file.kind == FileKind::Executable }
            }
            FileKind::Link => Entry::PlaceOfLink,
        };
        send(writes, Write::Entry(path, entry)).await?;
    }
    for (path, file) in tree.files().filter(|(_, file)| file.kind == FileKind::Link) {
        let target = content(scope, blobs, &path, file).await?;
        send(writes, Write::Entry(path, Entry::Link { target })).await?;
    }
    send(writes, Write::End).await
}

async fn content(
    scope: &Scope,
    blobs: &dyn BlobStore,
    path: &RepoPath,
    file: &TreeFile,
) -> Result<Bytes, ExportError> {
    let limit = ByteCount::new(limits::FILE_BYTES);
    let bytes = blobs
        .get(scope, file.content, limit)
        .await
        .map_err(|source| ExportError::Content { path: path.clone(), source })?;
    let found = ByteCount::new(bytes.len() as u64);
    if found != file.size {
        return Err(ExportError::ContentSize { path: path.clone(), stated: file.size, found });
    }
    Ok(bytes)
}

async fn send(writes: &Sender<Write>, write: Write) -> Result<(), ExportError> {
    writes.send(write).await.map_err(|_| ExportError::Interrupted)
}
