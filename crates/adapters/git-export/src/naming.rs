use std::collections::BTreeMap;

use ambit_ids::{Digest, RepoPath};
use ambit_revision::tree::{DirectoryEntry, EntryKind};
use ambit_revision::{FileKind, Tree};

use crate::ExportError;
use crate::admitted::admit;
use crate::object::{ObjectKind, ObjectName};
use crate::source::Source;

/// What git calls the parts of a tree. Of what is not known it reads every content once.
pub(crate) struct Naming<'a> {
    tree: &'a Tree,
    source: &'a Source<'a>,
    names: BTreeMap<(ObjectKind, Digest), ObjectName>,
}

impl<'a> Naming<'a> {
    pub(crate) fn of(tree: &'a Tree, source: &'a Source<'a>) -> Result<Self, ExportError> {
        let mut naming = Self { tree, source, names: BTreeMap::new() };
        naming.directory(None, tree.digest())?;
        Ok(naming)
    }

    /// What git calls the whole tree.
    pub(crate) fn root(&self) -> ObjectName {
        self.name(ObjectKind::Tree, &self.tree.digest())
    }

    /// The object of a directory with these entries.
    pub(crate) fn object(&self, entries: &[DirectoryEntry]) -> Vec<u8> {
        let mut sorted: Vec<&DirectoryEntry> = entries.iter().collect();
        sorted.sort_by(|one, other| order(one).cmp(order(other)));
        let mut object = Vec::new();
        for entry in sorted {
            let mode = entry.kind.as_file().map_or("40000", FileKind::git_mode);
            object.extend_from_slice(mode.as_bytes());
            object.push(b' ');
            object.extend_from_slice(entry.name.as_bytes());
            object.push(0);
            object.extend_from_slice(self.name(kind_of(entry), &entry.digest).as_bytes());
        }
        object
    }

    fn name(&self, kind: ObjectKind, digest: &Digest) -> ObjectName {
        // INVARIANT: a directory is named after everything in it, and nothing is asked for before the root is named.
        #[expect(clippy::expect_used, reason = "whatever is in the tree was named")]
        *self.names.get(&(kind, *digest)).expect("every part of the tree has a name")
    }

    fn directory(&mut self, at: Option<&RepoPath>, digest: Digest) -> Result<(), ExportError> {
        let entries = self.tree.entries(at);
        for entry in &entries {
            let path = path_of(at, entry);
            if let Some(kind) = entry.kind.as_file() {
                admit(&path, kind)?;
            }
            if !self.is_named(entry) {
                match entry.kind {
                    EntryKind::Directory => self.directory(Some(&path), entry.digest)?,
                    EntryKind::File | EntryKind::Executable | EntryKind::Link => self.blob(&path, entry)?,
                }
            }
        }
        let name = ObjectName::of(ObjectKind::Tree, &self.object(&entries));
        let collided =
            |_| ExportError::Collision { path: at.cloned().unwrap_or_else(|| path_of(None, &entries[0])) };
        self.names.insert((ObjectKind::Tree, digest), name.map_err(collided)?);
        Ok(())
    }

    /// Whether an entry has its name, for one that is known or that stood elsewhere in the tree.
    fn is_named(&mut self, entry: &DirectoryEntry) -> bool {
        let key = (kind_of(entry), entry.digest);
        if let Some(known) = (self.source.known)(key.0, &key.1) {
            self.names.entry(key).or_insert(known);
        }
        self.names.contains_key(&key)
    }

    fn blob(&mut self, path: &RepoPath, entry: &DirectoryEntry) -> Result<(), ExportError> {
        let bytes = self.source.read(path, &entry.digest, entry.size)?;
        let name = ObjectName::of(ObjectKind::Blob, &bytes)
            .map_err(|_| ExportError::Collision { path: path.clone() })?;
        self.names.insert((ObjectKind::Blob, entry.digest), name);
        Ok(())
    }
}

pub(crate) const fn kind_of(entry: &DirectoryEntry) -> ObjectKind {
    match entry.kind {
        EntryKind::Directory => ObjectKind::Tree,
        EntryKind::File | EntryKind::Executable | EntryKind::Link => ObjectKind::Blob,
    }
}

/// Git sorts a directory as if its name ended with a slash.
fn order(entry: &DirectoryEntry) -> impl Iterator<Item = u8> + '_ {
    let slash = (entry.kind == EntryKind::Directory).then_some(b'/');
    entry.name.as_bytes().iter().copied().chain(slash)
}

/// The path of an entry of the directory at `at`.
pub(crate) fn path_of(at: Option<&RepoPath>, entry: &DirectoryEntry) -> RepoPath {
    let name = entry.name.as_bytes();
    let joined = at.map_or_else(|| RepoPath::from_bytes(name), |above| above.join(name));
    // INVARIANT: the paths of a tree were admitted when it was made.
    #[expect(clippy::expect_used, reason = "names and lengths were checked when the tree was made")]
    joined.expect("the names of a tree make paths")
}
