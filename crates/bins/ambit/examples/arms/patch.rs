//! A patch on a large tree: understood, its files read, applied, told in its canonical form, and kept where it is to be.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_blobs::DirectoryBlobs;
use ambit_ids::{Digest, Scope};
use ambit_revision::{Contents, apply, parse};
use ambit_revisions::Revisions;
use async_trait::async_trait;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::protocol::{Arm, answer};
use crate::{failed, source};

/// What there is before a patch, and what is to be of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// The files were read before, and what comes out stays in memory.
    InMemory,
    /// The same, where the tree was read and no file.
    Unread,
    /// What comes out is kept, and is what the next patch is made for.
    Kept,
}

pub(crate) async fn patch(files: usize, count: usize, course: Course) -> Result<(), Failure> {
    let directory = tempfile::tempdir_in(".").map_err(failed)?;
    let blobs = Arc::new(DirectoryBlobs::open(&directory.path().join("blobs")).map_err(failed)?);
    let revisions = Revisions::new(blobs.clone());
    let scope =
        Scope { organization: "bench".parse().map_err(failed)?, project: "patches".parse().map_err(failed)? };
    let targets: Vec<(String, String)> = source::spread(files, count)
        .into_iter()
        .map(|number| (source::path(number), source::content(number)))
        .collect();
    let mut contents = Contents::new();
    for (_, content) in &targets {
        contents.insert(content.clone().into_bytes());
    }
    let base = revisions.keep(&scope, &source::tree(0..files)?, &contents).await.map_err(failed)?;
    let step = 0;
    answer(&mut Patches { blobs, revisions, scope, base, targets, step, course, _directory: directory }).await
}

struct Patches {
    blobs: Arc<DirectoryBlobs>,
    revisions: Revisions,
    scope: Scope,
    base: Digest,
    /// The files that are patched, as they are in the base.
    targets: Vec<(String, String)>,
    step: usize,
    course: Course,
    _directory: TempDir,
}

#[async_trait]
impl Arm for Patches {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        self.step += 1;
        let after: Vec<String> =
            self.targets.iter().map(|(_, before)| source::edited(before, self.step)).collect();
        let patch: String = self
            .targets
            .iter()
            .zip(&after)
            .map(|((path, before), after)| source::hunk(path, before, after))
            .collect();
        if self.course == Course::Unread {
            self.revisions = Revisions::new(self.blobs.clone());
            self.revisions.load(&self.scope, self.base).await.map_err(failed)?;
        }
        let started = Instant::now();
        let set = parse(patch.as_bytes()).map_err(failed)?;
        let tree = self.revisions.load(&self.scope, self.base).await.map_err(failed)?;
        let contents = self.revisions.contents_for(&self.scope, &tree, &set).await.map_err(failed)?;
        let applied = apply(&tree, &self.base, &set, &contents).map_err(failed)?;
        if self.course == Course::Kept {
            let canonical = applied.canonical.text.clone();
            self.revisions.blobs().put(&self.scope, canonical.into()).await.map_err(failed)?;
            let keep = self.revisions.keep_beyond(&self.scope, self.base, &applied.tree, &applied.blobs);
            keep.await.map_err(failed)?;
        }
        let took = started.elapsed();
        if applied.changes.len() != self.targets.len() {
            return Err(Failure::new("ARM_FAILED", "the patch changed other files"));
        }
        if self.course == Course::Kept {
            self.base = applied.tree.digest();
            for ((_, content), after) in self.targets.iter_mut().zip(after) {
                *content = after;
            }
        }
        Ok(took)
    }
}
