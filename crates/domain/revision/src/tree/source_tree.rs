use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ambit_ids::{ByteCount, Digest, RepoPath};

use super::directory::{Directory, Node};
use super::edit::{self, TreeError};
use super::encoding::DirectoryEntry;
use super::entry::{EntryName, TreeFile};
use super::walk::{self, Change, Files};

/// A source tree. It never changes; a tree that is made from another shares with it every directory that is the same.
#[derive(Clone)]
pub struct Tree {
    pub(super) root: Arc<Directory>,
}

/// The bytes of one directory, to be stored under their digest.
#[derive(Clone, PartialEq, Eq)]
pub struct DirectoryObject {
    /// The digest of the bytes.
    pub digest: Digest,
    /// The bytes, as the encoding of directories has them.
    pub bytes: Vec<u8>,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// Nothing, and every directory above exists or can be made.
    Absent,
    /// A file, an executable or a link.
    File(&'a TreeFile),
    /// A directory.
    Directory,
    /// Nothing, and a file, an executable or a link stands where the path needs a directory.
    Beyond(&'a TreeFile),
}

impl Tree {
    /// The tree without files.
    #[must_use]
    pub fn empty() -> Self {
        // INVARIANT: no entry passes no limit.
        #[expect(clippy::expect_used, reason = "a directory without entries passes no limit")]
        Self { root: Arc::new(Directory::new(Vec::new()).expect("the empty directory")) }
    }

    /// The tree of exactly these files.
    ///
    /// Names that differ only by case are admitted, as repositories have them; a patch may not add one.
    ///
    /// # Errors
    /// [`TreeError`] where a path is given twice, is a file and a directory, or passes a limit.
    pub fn from_files(files: impl IntoIterator<Item = (RepoPath, TreeFile)>) -> Result<Self, TreeError> {
        let mut changes = BTreeMap::new();
        for (path, file) in files {
            if changes.contains_key(&path) {
                return Err(TreeError::Twice(path));
            }
            changes.insert(path, Some(file));
        }
        Self::empty().with(&changes)
    }

    /// The digest of the tree.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.root.digest()
    }

    /// The number of files, executables and links.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.root.extent().files
    }

    /// The bytes of all files together.
    #[must_use]
    pub fn content_bytes(&self) -> ByteCount {
        ByteCount::new(self.root.extent().content_bytes)
    }

    /// The file at `path`, if there is one.
    #[must_use]
    pub fn get(&self, path: &RepoPath) -> Option<&TreeFile> {
        match self.place(path) {
            Place::File(file) => Some(file),
            Place::Absent | Place::Directory | Place::Beyond(_) => None,
        }
    }

    /// What stands at `path`. No link is followed.
    #[must_use]
    pub fn place(&self, path: &RepoPath) -> Place<'_> {
        let mut directory = self.root.as_ref();
        let mut components = path.components().peekable();
        while let Some(name) = components.next() {
            match (directory.get(name), components.peek()) {
                (None, _) => return Place::Absent,
                (Some(Node::File(file)), None) => return Place::File(file),
                (Some(Node::File(file)), Some(_)) => return Place::Beyond(file),
                (Some(Node::Directory(_)), None) => return Place::Directory,
                (Some(Node::Directory(below)), Some(_)) => directory = below,
            }
        }
        Place::Directory
    }

    /// The names in the directory at `path`, sorted; `None` is the root. Empty where there is no directory.
    #[must_use]
    pub fn names(&self, path: Option<&RepoPath>) -> Vec<&EntryName> {
        self.directory(path).map_or(&[][..], Directory::entries).iter().map(|(name, _)| name).collect()
    }

    /// What stands in the directory at `path`, sorted by name; `None` is the root. Empty where there is no directory.
    #[must_use]
    pub fn entries(&self, path: Option<&RepoPath>) -> Vec<DirectoryEntry> {
        self.directory(path).map_or_else(Vec::new, Directory::listing)
    }

    fn directory(&self, path: Option<&RepoPath>) -> Option<&Directory> {
        let mut directory = self.root.as_ref();
        for name in path.iter().flat_map(|path| path.components()) {
            directory = directory.below(name)?;
        }
        Some(directory)
    }

    /// Every file with its path, in the order of [`RepoPath`].
    #[must_use]
    pub fn files(&self) -> Files<'_> {
        Files::of(&self.root)
    }

    /// The file at `under`, or every file below it, in the same order. The cost grows with what is below, not with the
    /// tree.
    #[must_use]
    pub fn files_under(&self, under: &RepoPath) -> Files<'_> {
        let above = under.parent();
        let mut directory = Some(&self.root);
        for name in above.iter().flat_map(RepoPath::components) {
            directory = directory.and_then(|directory| directory.below(name));
        }
        let name = under.components().next_back();
        Files::at(under, directory.zip(name).and_then(|(directory, name)| directory.get(name)))
    }

    /// This tree with some paths changed: to a file, or to nothing.
    ///
    /// All changes are one step, so that removing `a` makes room for `a/b`. Directories that become empty vanish.
    ///
    /// # Errors
    /// [`TreeError`] where a removed path is no file, a path would be a file and a directory, or a limit is passed.
    pub fn with(&self, changes: &BTreeMap<RepoPath, Option<TreeFile>>) -> Result<Self, TreeError> {
        edit::rebuild(&self.root, changes).map(|root| Self { root: Arc::new(root) })
    }

    /// This tree with every file of another laid over it. Where the two do not go together, the other wins: a file in the place
    /// of a directory takes all of it away, and one below a file takes that away.
    ///
    /// # Errors
    /// [`TreeError`] where a limit is passed.
    pub fn under(&self, over: &Self) -> Result<Self, TreeError> {
        let mut changes = BTreeMap::new();
        for (path, file) in over.files() {
            let mut above = path.parent();
            while let Some(place) = above {
                if self.get(&place).is_some() {
                    changes.insert(place.clone(), None);
                }
                above = place.parent();
            }
            if self.place(&path) == Place::Directory {
                changes.extend(self.files_under(&path).map(|(below, _)| (below, None)));
            }
            changes.insert(path, Some(*file));
        }
        self.with(&changes)
    }

    /// What differs from this tree to `after`, sorted by path. The cost grows with what differs, not with the trees.
    #[must_use]
    pub fn diff(&self, after: &Self) -> Vec<Change> {
        walk::diff(&self.root, &after.root)
    }

    /// The objects of all directories, each once.
    #[must_use]
    pub fn objects(&self) -> Vec<DirectoryObject> {
        objects_of(&self.root, None)
    }

    /// The objects of those directories that do not stand at the same place in `stored`, each once. Together with the
    /// objects of `stored` they are all that loading this tree needs.
    #[must_use]
    pub fn objects_beyond(&self, stored: &Self) -> Vec<DirectoryObject> {
        objects_of(&self.root, Some(&stored.root))
    }
}

fn objects_of(root: &Directory, stored: Option<&Directory>) -> Vec<DirectoryObject> {
    let mut objects = BTreeMap::new();
    collect(root, stored, &mut objects);
    objects.into_iter().map(|(digest, bytes)| DirectoryObject { digest, bytes }).collect()
}

fn collect(directory: &Directory, stored: Option<&Directory>, objects: &mut BTreeMap<Digest, Vec<u8>>) {
    let known = objects.contains_key(&directory.digest());
    if known || stored.is_some_and(|stored| stored.digest() == directory.digest()) {
        return;
    }
    objects.insert(directory.digest(), directory.object());
    for (name, node) in directory.entries() {
        if let Node::Directory(below) = node {
            let stored = stored.and_then(|stored| stored.below(name.as_bytes()));
            collect(below, stored.map(Arc::as_ref), objects);
        }
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for Tree {}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tree {}", self.digest())
    }
}

impl fmt::Debug for DirectoryObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "directory {} of {} bytes", self.digest, self.bytes.len())
    }
}
