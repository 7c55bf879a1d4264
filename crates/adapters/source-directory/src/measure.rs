use std::path::Path;
use std::thread;

use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_revision::{Tree, TreeFile};
use bytes::Bytes;
use tokio::sync::mpsc::{self, Receiver};

use crate::found::{Content, Found, Piece};
use crate::limits::QUEUED_ENTRIES;
use crate::walk::walk;
use crate::{ImportError, ImportOptions};

/// The tree that an import of a directory would give, of which nothing was kept.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The tree.
    pub tree: Tree,
    /// Entries that were skipped because some file system takes them for git's own directory.
    pub skipped_git: u64,
    /// Entries that an import leaves out. A directory counts once, with everything in it.
    pub ignored: u64,
}

/// Reads the directory `dir` as [`import`](crate::import) does, and keeps nothing of it.
///
/// It needs no tokio runtime. Memory is bounded by one file of the largest size, and by the paths.
///
/// # Errors
/// As [`import`](crate::import).
pub fn measure(dir: &Path, options: ImportOptions) -> Result<Measured, ImportError> {
    let (sender, receiver) = mpsc::channel(QUEUED_ENTRIES);
    let (walked, files) = thread::scope(|threads| {
        // The walk owns its end, so that the files end where it does.
        let walking = threads.spawn(move || walk(dir, options, &sender));
        let files = digests(receiver);
        (walking.join().map_err(|_| ImportError::Interrupted), files)
    });
    let left_out = walked??;
    Ok(Measured { tree: Tree::from_files(files)?, skipped_git: left_out.git, ignored: left_out.ignored })
}

fn digests(mut found: Receiver<Found>) -> Vec<(RepoPath, TreeFile)> {
    let mut files = Vec::new();
    while let Some(Found { path, kind, content }) = found.blocking_recv() {
        let measured = match content {
            Content::Whole(bytes) => Some((Digest::of(&bytes), bytes.len())),
            Content::Streamed(pieces) => digest_of(pieces),
        };
        files
            .extend(measured.map(|(content, size)| {
                (path, TreeFile { kind, content, size: ByteCount::new(size as u64) })
            }));
    }
    files
}

/// The digest of a content that comes in pieces; `None` where it did not come to its end.
fn digest_of(mut pieces: Receiver<Piece>) -> Option<(Digest, usize)> {
    let mut whole: Vec<Bytes> = Vec::new();
    while let Some(piece) = pieces.blocking_recv() {
        match piece {
            Piece::Bytes(bytes) => whole.push(bytes),
            Piece::End => {
                let parts: Vec<&[u8]> = whole.iter().map(AsRef::as_ref).collect();
                return Some((Digest::of_parts(&parts), whole.iter().map(Bytes::len).sum()));
            }
        }
    }
    None
}
