use std::sync::Arc;

use ambit_ids::{ByteCount, Digest, limits};

use super::encoding::{DirectoryEntry, EntryKind, EntryLine, encode};
use super::entry::{EntryName, TreeFile};

/// One directory with everything below it, and what can be told of it without walking it.
#[derive(Debug)]
pub(super) struct Directory {
    entries: Vec<(EntryName, Node)>,
    digest: Digest,
    object_bytes: usize,
    extent: Extent,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    File(TreeFile),
    Directory(Arc<Directory>),
}

/// How far a directory reaches. Kept per directory, so that a tree of shared directories is bounded by counting each
/// of them once, however often it occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Files, executables and links.
    pub(super) files: usize,
    /// The same and the directories, without this one.
    pub(super) entries: usize,
    /// Bytes of all files together.
    pub(super) content_bytes: u64,
    /// Components of the deepest path.
    pub(super) components: usize,
    /// Bytes of the longest path.
    pub(super) path_bytes: usize,
}

/// Which limit a directory passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeLimit {
    /// Past [`limits::TREE_ENTRIES`].
    #[error("the tree has more than {} entries", limits::TREE_ENTRIES)]
    Entries,
    /// Past [`limits::PATH_COMPONENTS`] or [`limits::PATH_BYTES`].
    #[error(
        "a path of the tree has more than {} components or {} bytes",
        limits::PATH_COMPONENTS,
        limits::PATH_BYTES
    )]
    Path,
    /// More bytes of content than 2^64 - 1.
    #[error("the sizes of the files do not add up")]
    Bytes,
}

impl Directory {
    /// The directory of `entries`, which are sorted by the bytes of their names, each name once.
    pub(super) fn new(entries: Vec<(EntryName, Node)>) -> Result<Self, TreeLimit> {
        let extent = measure(&entries)?;
        let object = encode(lines(&entries));
        Ok(Self { digest: Digest::of(&object), object_bytes: object.len(), entries, extent })
    }

    pub(super) fn entries(&self) -> &[(EntryName, Node)] {
        &self.entries
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<&Node> {
        let at = self.entries.binary_search_by(|(other, _)| other.as_bytes().cmp(name)).ok()?;
        self.entries.get(at).map(|(_, node)| node)
    }

    /// The directory with this name in it.
    pub(super) fn below(&self, name: &[u8]) -> Option<&Arc<Self>> {
        match self.get(name) {
            Some(Node::Directory(below)) => Some(below),
            Some(Node::File(_)) | None => None,
        }
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    pub(super) fn object(&self) -> Vec<u8> {
        encode(lines(&self.entries))
    }

    pub(super) fn listing(&self) -> Vec<DirectoryEntry> {
        let entry = |EntryLine { name, kind, digest, size }: EntryLine<'_>| DirectoryEntry {
            name: name.clone(),
            kind,
            digest,
            size,
        };
        lines(&self.entries).map(entry).collect()
    }
}

fn lines(entries: &[(EntryName, Node)]) -> impl ExactSizeIterator<Item = EntryLine<'_>> {
    entries.iter().map(|(name, node)| node.line(name))
}

fn measure(entries: &[(EntryName, Node)]) -> Result<Extent, TreeLimit> {
    let mut extent = Extent::default();
    for (name, node) in entries {
        let below = match node {
            Node::File(file) => Extent { files: 1, content_bytes: file.size.get(), ..Extent::default() },
            Node::Directory(directory) => directory.extent,
        };
        let slash = usize::from(below.path_bytes > 0);
        extent.files += below.files;
        extent.entries += below.entries + 1;
        extent.content_bytes =
            extent.content_bytes.checked_add(below.content_bytes).ok_or(TreeLimit::Bytes)?;
        extent.components = extent.components.max(below.components + 1);
        extent.path_bytes = extent.path_bytes.max(name.as_bytes().len() + slash + below.path_bytes);
        if extent.entries > limits::TREE_ENTRIES {
            return Err(TreeLimit::Entries);
        }
    }
    if extent.components > limits::PATH_COMPONENTS || extent.path_bytes > limits::PATH_BYTES {
        return Err(TreeLimit::Path);
    }
    Ok(extent)
}

impl Node {
    fn line<'a>(&self, name: &'a EntryName) -> EntryLine<'a> {
        match self {
            Self::File(file) => {
                EntryLine { name, kind: file.kind.into(), digest: file.content, size: file.size }
            }
            Self::Directory(directory) => EntryLine {
                name,
                kind: EntryKind::Directory,
                digest: directory.digest,
                size: ByteCount::new(directory.object_bytes as u64),
            },
        }
    }

    /// Whether both are the same with all that is below.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other,
            (Self::Directory(one), Self::Directory(other)) => one.digest == other.digest,
            _ => false,
        }
    }
}
