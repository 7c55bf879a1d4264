//! The digest of a tree of which ten files were written anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ambit_ids::{Digest, RepoPath};
use ambit_revision::{FileKind, Tree, TreeFile};
use async_trait::async_trait;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::protocol::{Arm, answer};
use crate::{failed, source};

const EDITS: usize = 10;

/// The edits lie in ten directories where they are spread, and in one otherwise. `left` is how many files the tree has once
/// it is thinned out where nothing is edited.
pub(crate) async fn digest(files: usize, left: Option<usize>, spread: bool) -> Result<(), Failure> {
    let directory = tempfile::tempdir_in(".").map_err(failed)?;
    let numbers = if spread { source::spread(files, EDITS) } else { (0..EDITS).collect() };
    let mut edits = Vec::with_capacity(EDITS);
    let tree = match left {
        Some(left) => source::tree(source::thinned(files, left, &source::spread(files, EDITS)))?,
        None => source::tree(0..files)?,
    };
    for number in numbers {
        let written = directory.path().join(number.to_string());
        edits.push((source::path(number).parse().map_err(failed)?, source::content(number), written));
    }
    answer(&mut Digests { last: tree.digest(), tree, edits, step: 0, _directory: directory }).await
}

struct Digests {
    tree: Tree,
    /// The path of each edited file in the tree, its content, and where the edited one lies on disk.
    edits: Vec<(RepoPath, String, PathBuf)>,
    step: usize,
    last: Digest,
    _directory: TempDir,
}

#[async_trait]
impl Arm for Digests {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        self.step += 1;
        for (_, before, written) in &self.edits {
            fs::write(written, source::edited(before, self.step)).map_err(failed)?;
        }
        let started = Instant::now();
        let mut changes = BTreeMap::new();
        for (path, _, written) in &self.edits {
            let bytes = fs::read(written).map_err(failed)?;
            changes.insert(path.clone(), Some(TreeFile::of(FileKind::File, &bytes)));
        }
        let digest = self.tree.with(&changes).map_err(failed)?.digest();
        let took = started.elapsed();
        if digest == std::mem::replace(&mut self.last, digest) {
            return Err(Failure::new("ARM_FAILED", "the edits made no difference"));
        }
        Ok(took)
    }
}
