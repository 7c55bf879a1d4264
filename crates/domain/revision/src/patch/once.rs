use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::RepoPath;

use super::fault::PatchFault;
use super::set::{FilePatch, Operation};

/// The paths of a patch so far. All of a patch is one step: a file is changed, removed or renamed once, and a path is
/// filled once, though it may be left and filled.
#[derive(Default)]
pub(super) struct Once {
    read: BTreeSet<RepoPath>,
    /// The paths that are filled, and whether by a form that tells steps in their order.
    filled: BTreeMap<RepoPath, bool>,
}

impl Once {
    /// Admits what a part of a patch asks for; `is_in_order` tells whether its form is one of steps in their order.
    ///
    /// What a part above has filled, a part below does not start from: one reader would take the file that stood there
    /// before, and another the one that came there. Only the renames of git are the former in any order.
    pub(super) fn admit(&mut self, file: &FilePatch, is_in_order: bool) -> Result<(), PatchFault> {
        let is_rename = matches!(file.operation(), Operation::Rename { .. });
        let came = file.reads().and_then(|path| Some((path, self.filled.get(path)?)));
        if let Some((path, was_in_order)) = came
            && (!is_rename || is_in_order || *was_in_order)
        {
            return Err(PatchFault::DuplicatePath(path.clone()));
        }
        let fills = !matches!(file.operation(), Operation::Delete { .. });
        if fills && self.filled.insert(file.path().clone(), is_in_order).is_some() {
            return Err(PatchFault::DuplicatePath(file.path().clone()));
        }
        match file.reads() {
            Some(path) if !self.read.insert(path.clone()) => Err(PatchFault::DuplicateSource(path.clone())),
            Some(_) | None => Ok(()),
        }
    }
}
