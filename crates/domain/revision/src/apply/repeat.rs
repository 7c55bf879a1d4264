use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::RepoPath;

use super::block::Block;
use super::forward;
use super::locate::SearchBudget;
use super::refusal::Effect;
use super::splice::splice;
use crate::Contents;
use crate::patch::{FileMode, FilePatch, Hunk, Operation, PatchSet};
use crate::tree::{FileKind, Tree, TreeFile};

/// What a patch did to get the tree that there is; `None` where it does not lead to that tree.
///
/// The patch is taken back, and what comes of that must lead to this tree again. The effect is told only where the patch
/// says all that stood before. A patch that only removes and renames proves nothing, for its files may never have been
/// there.
pub(super) fn original(tree: &Tree, patch: &PatchSet, contents: &Contents) -> Option<Option<Effect>> {
    if !patch.files().iter().any(proves) {
        return None;
    }
    let removes = |file: &FilePatch| matches!(file.operation(), Operation::Delete { .. });
    let mut back = Back {
        tree,
        contents,
        come: patch.files().iter().filter(|file| !removes(file)).map(FilePatch::path).collect(),
        budget: SearchBudget::whole(),
        blobs: contents.clone(),
        edits: patch
            .files()
            .iter()
            .filter(|file| comes(file))
            .map(|file| (file.path().clone(), None))
            .collect(),
        is_told: true,
    };
    for file in patch.files() {
        back.take_back(file)?;
    }
    let before = tree.with(&back.edits).ok()?;
    let again = forward(&before, patch, &back.blobs).ok().filter(|again| again.tree == *tree)?;
    Some(back.is_told.then(|| Effect {
        before: before.digest(),
        tree: tree.digest(),
        changes: again.changes,
        canonical: again.canonical,
        matches: again.matches,
        warnings: again.warnings,
    }))
}

/// Whether a file that is as a patch leaves it tells that the patch was applied.
fn proves(patch: &FilePatch) -> bool {
    match patch.operation() {
        Operation::Create { .. } | Operation::Modify { .. } => true,
        Operation::Rename { becomes, .. } => becomes.is_some() || !patch.hunks().is_empty(),
        Operation::Delete { .. } => false,
    }
}

/// Whether a file comes to a path that it did not have.
fn comes(patch: &FilePatch) -> bool {
    matches!(patch.operation(), Operation::Create { .. } | Operation::Rename { .. })
}

/// A tree from which a patch is taken back.
struct Back<'a> {
    tree: &'a Tree,
    contents: &'a Contents,
    /// The paths where the patch leaves a file.
    come: BTreeSet<&'a RepoPath>,
    budget: SearchBudget,
    blobs: Contents,
    edits: BTreeMap<RepoPath, Option<TreeFile>>,
    /// Whether the patch says all that stood before.
    is_told: bool,
}

impl Back<'_> {
    /// Takes back what a patch did to one file, if it can have done it.
    fn take_back(&mut self, patch: &FilePatch) -> Option<()> {
        let file = self.tree.get(patch.path()).copied();
        match patch.operation() {
            Operation::Create { mode } => {
                let made = patch.hunks().first().map_or_else(Vec::new, Hunk::after);
                file.filter(|file| *file == TreeFile::of((*mode).into(), &made)).map(|_| ())
            }
            Operation::Delete { stated, whole } => {
                self.is_told &= stated.is_some() && !whole;
                let removed = patch.hunks().first().map_or_else(Vec::new, Hunk::before);
                let file = TreeFile::of(stated.unwrap_or(FileMode::Regular).into(), &removed);
                self.blobs.insert(removed);
                self.put_back(patch.path(), file)
            }
            Operation::Modify { stated, becomes } => {
                let before = self.undo(patch, file?, *stated, *becomes)?;
                self.edits.insert(patch.path().clone(), Some(before));
                Some(())
            }
            Operation::Rename { from, stated, becomes } => {
                let before = self.undo(patch, file?, *stated, *becomes)?;
                self.put_back(from, before)
            }
        }
    }

    /// Puts a file back to a path that it left, where nothing stands now but what the patch put there.
    fn put_back(&mut self, path: &RepoPath, file: TreeFile) -> Option<()> {
        let is_free = self.tree.get(path).is_none() || self.come.contains(path);
        is_free.then(|| self.edits.insert(path.clone(), Some(file))).map(|_| ())
    }

    /// A file as it was before its hunks and its change of mode.
    fn undo(
        &mut self,
        patch: &FilePatch,
        file: TreeFile,
        stated: Option<FileMode>,
        becomes: Option<FileMode>,
    ) -> Option<TreeFile> {
        if file.kind == FileKind::Link || becomes.is_some_and(|mode| file.kind != mode.into()) {
            return None;
        }
        let kind = stated.map_or(file.kind, FileKind::from);
        if patch.hunks().is_empty() {
            return Some(TreeFile { kind, ..file });
        }
        let blocks: Vec<Block> = patch.hunks().iter().map(Block::backward).collect();
        let bytes = splice(self.contents.get(&file.content)?, &blocks, &mut self.budget).ok()?.bytes;
        let before = TreeFile::of(kind, &bytes);
        self.blobs.insert(bytes);
        Some(before)
    }
}
