use std::collections::BTreeSet;

use ambit_ids::{Digest, RepoPath};
use ambit_revision::Tree;
use ambit_revision::tree::{DirectoryEntry, EntryKind};

use crate::naming::{kind_of, path_of};
use crate::object::ObjectKind;

/// An object that is not there yet.
pub(crate) enum NewObject<'a> {
    /// A directory with these entries.
    Directory(&'a [DirectoryEntry]),
    /// The content of the file at a path, or the target of the link.
    Content(&'a RepoPath, &'a DirectoryEntry),
}

/// What a tree has and another one has not, wherever it stands in either. Equal digests are equal objects of git.
pub(crate) struct NewObjects<'a> {
    tree: &'a Tree,
    held: BTreeSet<(ObjectKind, Digest)>,
}

impl<'a> NewObjects<'a> {
    /// What `tree` has and `base` has not.
    pub(crate) fn of(tree: &'a Tree, base: Option<&Tree>) -> Self {
        let mut held = BTreeSet::new();
        if let Some(base) = base {
            hold(base, None, base.digest(), &mut held);
        }
        Self { tree, held }
    }

    /// Visits each of them once, and answers how many there are.
    pub(crate) fn visit<E>(&self, visit: &mut dyn FnMut(NewObject<'_>) -> Result<(), E>) -> Result<u32, E> {
        let mut seen = BTreeSet::new();
        self.directory(None, self.tree.digest(), &mut seen, visit)?;
        // A tree has fewer entries than that.
        Ok(u32::try_from(seen.len()).unwrap_or(u32::MAX))
    }

    fn directory<E>(
        &self,
        at: Option<&RepoPath>,
        digest: Digest,
        seen: &mut BTreeSet<(ObjectKind, Digest)>,
        visit: &mut dyn FnMut(NewObject<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let key = (ObjectKind::Tree, digest);
        if self.held.contains(&key) || !seen.insert(key) {
            return Ok(());
        }
        let entries = self.tree.entries(at);
        visit(NewObject::Directory(&entries))?;
        for entry in &entries {
            let path = path_of(at, entry);
            let key = (kind_of(entry), entry.digest);
            if entry.kind == EntryKind::Directory {
                self.directory(Some(&path), entry.digest, seen, visit)?;
            } else if !self.held.contains(&key) && seen.insert(key) {
                visit(NewObject::Content(&path, entry))?;
            }
        }
        Ok(())
    }
}

fn hold(tree: &Tree, at: Option<&RepoPath>, digest: Digest, held: &mut BTreeSet<(ObjectKind, Digest)>) {
    if !held.insert((ObjectKind::Tree, digest)) {
        return;
    }
    for entry in tree.entries(at) {
        if entry.kind == EntryKind::Directory {
            hold(tree, Some(&path_of(at, &entry)), entry.digest, held);
        } else {
            held.insert((ObjectKind::Blob, entry.digest));
        }
    }
}
