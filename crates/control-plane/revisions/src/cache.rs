use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use ambit_ids::{Digest, Scope};
use ambit_revision::Tree;

/// How many trees are held. A run works on two at a time: its base and its head.
const TREES: usize = 16;

/// The trees that were used last. They are immutable and share their directories, so holding some costs little; what a
/// digest names can never be another tree, so nothing here can be stale.
#[derive(Default)]
pub(crate) struct TreeCache {
    trees: Mutex<VecDeque<(Scope, Digest, Tree)>>,
}

impl TreeCache {
    pub(crate) fn get(&self, scope: &Scope, digest: Digest) -> Option<Tree> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().find(|(owner, held, _)| *held == digest && owner == scope).map(|(.., tree)| tree.clone())
    }

    pub(crate) fn put(&self, scope: &Scope, digest: Digest, tree: &Tree) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.iter().any(|(owner, held, _)| *held == digest && owner == scope) {
            return;
        }
        if trees.len() == TREES {
            trees.pop_front();
        }
        trees.push_back((scope.clone(), digest, tree.clone()));
    }
}
