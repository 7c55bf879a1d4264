use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use ambit_ids::{Digest, Scope};
use ambit_revision::Tree;

/// How many trees are held. A run works on two at a time: its base and its head.
const TREES: usize = 16;

/// The trees that were used last, the last one at the end. They are immutable and share their directories, so holding
/// some costs little; what a digest names can never be another tree, so nothing here can be stale.
#[derive(Default)]
pub(crate) struct TreeCache {
    trees: Mutex<VecDeque<(Scope, Digest, Tree)>>,
}

impl TreeCache {
    pub(crate) fn get(&self, scope: &Scope, digest: Digest) -> Option<Tree> {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let at = trees.iter().position(|(owner, held, _)| *held == digest && owner == scope)?;
        let used = trees.remove(at)?;
        let tree = used.2.clone();
        trees.push_back(used);
        Some(tree)
    }

    /// The tree of this scope that was used last.
    pub(crate) fn latest(&self, scope: &Scope) -> Option<Tree> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().rev().find(|(owner, ..)| owner == scope).map(|(.., tree)| tree.clone())
    }

    pub(crate) fn put(&self, scope: &Scope, digest: Digest, tree: &Tree) {
        if self.get(scope, digest).is_some() {
            return;
        }
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() == TREES {
            trees.pop_front();
        }
        trees.push_back((scope.clone(), digest, tree.clone()));
    }
}
