use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_ids::{ByteCount, Digest, limits};

use super::directory::{Directory, Node, TreeLimit};
use super::edit::LINK_TARGET_BYTES;
use super::encoding::{DirectoryEntry, DirectoryError, decode_directory};
use super::entry::{EntryName, FileKind, TreeFile};
use super::source_tree::Tree;

/// Assembles a tree from its directory objects, wherever they come from: it says which it wants, and is given them in
/// any order.
///
/// Nothing of an object is believed that its digest does not prove, and shared directories are read and counted once,
/// so that objects which refer to each other many times over cost no more than their own bytes.
#[derive(Debug)]
pub struct TreeLoader {
    root: Digest,
    wanted: BTreeMap<Digest, Wanted>,
    objects: BTreeMap<Digest, Vec<DirectoryEntry>>,
    /// Directories that need no object, since they stand in a tree that is at hand.
    shared: BTreeMap<Digest, Arc<Directory>>,
    entries: usize,
}

#[derive(Clone, Debug)]
struct Wanted {
    size: Option<ByteCount>,
    depth: usize,
    /// What stands at the same place of the tree that is at hand.
    beside: Option<Arc<Directory>>,
}

/// Why directory objects make no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The bytes have a digest that was not asked for: another object, or an altered one.
    #[error("the bytes with the digest {0} are no directory of this tree")]
    NotWanted(Digest),
    /// The bytes are not a directory object.
    #[error("the object {0} is no directory")]
    Object(Digest, #[source] DirectoryError),
    /// The directory above says another size.
    #[error("the size of {0} is not the one that the directory above it says")]
    Size(Digest),
    /// An entry says that a file is larger than any may be.
    #[error("the directory {0} names a file that is too large")]
    FileTooLarge(Digest),
    /// A directory other than the root is empty: a second form of the same files.
    #[error("{0} is an empty directory within the tree")]
    EmptyDirectory(Digest),
    /// The tree was taken while objects were still missing.
    #[error("the directory {0} is missing")]
    Missing(Digest),
    /// The tree as a whole passes a limit.
    #[error(transparent)]
    Limit(#[from] TreeLimit),
}

impl LoadError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotWanted(_) => "TREE_OBJECT_NOT_WANTED",
            Self::Object(..) => "TREE_OBJECT_MALFORMED",
            Self::Size(_) => "TREE_OBJECT_SIZE",
            Self::FileTooLarge(_) => "TREE_FILE_TOO_LARGE",
            Self::EmptyDirectory(_) => "TREE_EMPTY_DIRECTORY",
            Self::Missing(_) => "TREE_OBJECT_MISSING",
            Self::Limit(_) => "TREE_LIMIT",
        }
    }
}

impl Tree {
    /// Loads a tree from its directory objects, each asked for by its digest.
    ///
    /// # Errors
    /// What `object` answers, or [`LoadError`] where the objects make no tree.
    pub fn load<E: From<LoadError>>(
        root: Digest,
        mut object: impl FnMut(&Digest) -> Result<Vec<u8>, E>,
    ) -> Result<Self, E> {
        let mut loader = TreeLoader::new(root);
        loop {
            let wanted: BTreeSet<Digest> = loader.wanted().map(|(digest, _)| digest).collect();
            if wanted.is_empty() {
                return Ok(loader.finish()?);
            }
            for digest in wanted {
                loader.supply(&object(&digest)?)?;
            }
        }
    }
}

impl TreeLoader {
    /// A loader of the tree with the digest `root`.
    #[must_use]
    pub fn new(root: Digest) -> Self {
        let wanted = BTreeMap::from([(root, Wanted { size: None, depth: 0, beside: None })]);
        Self { root, wanted, objects: BTreeMap::new(), shared: BTreeMap::new(), entries: 0 }
    }

    /// A loader of the tree with the digest `root` that wants only the objects of those directories that do not stand at
    /// the same place in `known`. All others are shared with it.
    #[must_use]
    pub fn beside(root: Digest, known: &Tree) -> Self {
        let mut loader = Self::new(root);
        loader.wanted.clear();
        loader.want(root, Wanted { size: None, depth: 0, beside: Some(known.root.clone()) });
        loader
    }

    fn want(&mut self, digest: Digest, wanted: Wanted) {
        let is_at_hand = self.objects.contains_key(&digest) || self.shared.contains_key(&digest);
        // What was asked for once stays wanted: the answer may be on its way.
        if is_at_hand || self.wanted.contains_key(&digest) {
            return;
        }
        match wanted.beside {
            Some(known) if known.digest() == digest => {
                self.shared.insert(digest, known);
            }
            Some(_) | None => {
                self.wanted.insert(digest, wanted);
            }
        }
    }

    /// The objects that are wanted next, each with its size in bytes where a directory above it says so. Empty once
    /// every object was given.
    pub fn wanted(&self) -> impl Iterator<Item = (Digest, Option<ByteCount>)> {
        self.wanted.iter().map(|(digest, wanted)| (*digest, wanted.size))
    }

    /// Takes one wanted object.
    ///
    /// # Errors
    /// [`LoadError`] where the bytes are not wanted, are no directory object, or pass a limit. The loader is as it was.
    pub fn supply(&mut self, object: &[u8]) -> Result<(), LoadError> {
        let digest = Digest::of(object);
        let Some(Wanted { size, depth, beside }) = self.wanted.get(&digest).cloned() else {
            return Err(LoadError::NotWanted(digest));
        };
        if size.is_some_and(|size| size.get() != object.len() as u64) {
            return Err(LoadError::Size(digest));
        }
        let entries = decode_directory(object).map_err(|why| LoadError::Object(digest, why))?;
        if entries.is_empty() && depth > 0 {
            return Err(LoadError::EmptyDirectory(digest));
        }
        if self.entries + entries.len() > limits::TREE_ENTRIES {
            return Err(TreeLimit::Entries.into());
        }
        if depth >= limits::PATH_COMPONENTS {
            return Err(TreeLimit::Path.into());
        }
        self.entries += entries.len();
        self.wanted.remove(&digest);
        for entry in entries.iter().filter(|entry| entry.kind.as_file().is_none()) {
            let beside = beside.as_ref().and_then(|known| known.below(entry.name.as_bytes())).cloned();
            self.want(entry.digest, Wanted { size: Some(entry.size), depth: depth + 1, beside });
        }
        self.objects.insert(digest, entries);
        Ok(())
    }

    /// The tree, once nothing is wanted any more.
    ///
    /// # Errors
    /// [`LoadError`] where an object is missing, two directories disagree on the size of a third, or the tree as a
    /// whole passes a limit.
    pub fn finish(mut self) -> Result<Tree, LoadError> {
        let mut made = std::mem::take(&mut self.shared);
        let root = self.assemble(self.root, 0, &mut made)?;
        Ok(Tree { root })
    }

    fn assemble(
        &self,
        digest: Digest,
        depth: usize,
        made: &mut BTreeMap<Digest, Arc<Directory>>,
    ) -> Result<Arc<Directory>, LoadError> {
        if let Some(directory) = made.get(&digest) {
            return Ok(directory.clone());
        }
        if depth > limits::PATH_COMPONENTS {
            return Err(TreeLimit::Path.into());
        }
        let listed = self.objects.get(&digest).ok_or(LoadError::Missing(digest))?;
        let mut entries: Vec<(EntryName, Node)> = Vec::with_capacity(listed.len());
        for entry in listed {
            let node = match entry.kind.as_file() {
                Some(kind) => Node::File(file(digest, entry, kind)?),
                None => Node::Directory(self.assemble(entry.digest, depth + 1, made)?),
            };
            entries.push((entry.name.clone(), node));
        }
        let directory = Arc::new(Directory::new(entries)?);
        // A directory object that was made again from its parts differs where an entry states a wrong size.
        if directory.digest() != digest {
            return Err(LoadError::Size(digest));
        }
        made.insert(digest, directory.clone());
        Ok(directory)
    }
}

fn file(directory: Digest, entry: &DirectoryEntry, kind: FileKind) -> Result<TreeFile, LoadError> {
    let limit = match kind {
        FileKind::File | FileKind::Executable => limits::FILE_BYTES,
        FileKind::Link => LINK_TARGET_BYTES,
    };
    if entry.size.get() > limit {
        return Err(LoadError::FileTooLarge(directory));
    }
    Ok(TreeFile { kind, content: entry.digest, size: entry.size })
}
