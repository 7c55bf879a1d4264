use ambit_ids::Digest;

use super::locate::SearchBudget;
use super::splice::{Block, splice};
use crate::Contents;
use crate::patch::{FilePatch, Hunk, Operation, PatchSet};
use crate::tree::{FileKind, Place, Tree};

/// Whether the tree already is as the patch would leave it. A file that is to be removed and is absent proves nothing by
/// itself, for it may never have been there.
pub(super) fn is_applied(tree: &Tree, patch: &PatchSet, contents: &Contents) -> bool {
    let removes = |file: &FilePatch| matches!(file.operation(), Operation::Delete { .. });
    let mut budget = SearchBudget::whole();
    !patch.files().iter().all(removes)
        && patch.files().iter().all(|file| is_file_applied(tree, file, contents, &mut budget))
}

fn is_file_applied(tree: &Tree, patch: &FilePatch, contents: &Contents, budget: &mut SearchBudget) -> bool {
    match (tree.place(patch.path()), patch.operation()) {
        (Place::File(file), Operation::Create { mode }) => {
            let content = patch.hunks().first().map_or_else(Vec::new, Hunk::after);
            file.kind == (*mode).into() && file.content == Digest::of(&content)
        }
        (Place::Absent, Operation::Delete { .. }) => true,
        (Place::File(file), Operation::Modify { becomes, .. }) => {
            let has_mode = becomes.is_none_or(|mode| file.kind == mode.into());
            let blocks: Vec<Block> = patch.hunks().iter().map(Block::backward).collect();
            let has_lines = blocks.is_empty()
                || contents.get(&file.content).is_some_and(|bytes| splice(bytes, &blocks, budget).is_ok());
            file.kind != FileKind::Link && has_mode && has_lines
        }
        _ => false,
    }
}
