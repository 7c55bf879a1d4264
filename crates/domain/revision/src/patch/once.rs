use std::collections::BTreeSet;

use ambit_ids::RepoPath;

use super::fault::PatchFault;
use super::set::{FilePatch, Operation};

/// The paths of a patch so far. All of a patch is one step: a file is changed, removed or renamed once, and a path is
/// filled once, though it may be left and filled.
#[derive(Default)]
pub(super) struct Once {
    read: BTreeSet<RepoPath>,
    filled: BTreeSet<RepoPath>,
}

impl Once {
    pub(super) fn admit(&mut self, file: &FilePatch) -> Result<(), PatchFault> {
        let fills = !matches!(file.operation(), Operation::Delete { .. });
        if fills && !self.filled.insert(file.path().clone()) {
            return Err(PatchFault::DuplicatePath);
        }
        match file.reads() {
            Some(path) if !self.read.insert(path.clone()) => Err(PatchFault::DuplicateSource),
            Some(_) | None => Ok(()),
        }
    }
}
