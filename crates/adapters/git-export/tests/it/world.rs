//! Trees with their contents, and what is said beside them.

use std::collections::BTreeMap;

use ambit_git_export::{Bundle, Bundled, Envelope, ExportError, Mail, ObjectName, Parent, Source};
use ambit_ids::{Content, Digest, RepoPath, UnixMs};
use ambit_ports::blobs::BlobError;
use ambit_revision::{Contents, FileKind, Tree, TreeFile};
use bytes::Bytes;

pub(crate) type Entry = (Vec<u8>, FileKind, Vec<u8>);

/// A tree and everything in it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) tree: Tree,
    pub(crate) files: BTreeMap<RepoPath, (FileKind, Vec<u8>)>,
}

pub(crate) fn file(path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Entry {
    (path.as_ref().to_vec(), FileKind::File, content.as_ref().to_vec())
}

pub(crate) fn program(path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Entry {
    (path.as_ref().to_vec(), FileKind::Executable, content.as_ref().to_vec())
}

pub(crate) fn link(path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Entry {
    (path.as_ref().to_vec(), FileKind::Link, target.as_ref().to_vec())
}

impl World {
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let files: BTreeMap<_, _> = entries
            .iter()
            .map(|(path, kind, content)| (RepoPath::from_bytes(path).unwrap(), (*kind, content.clone())))
            .collect();
        assert_eq!(files.len(), entries.len(), "each path stands once");
        let listed = files.iter().map(|(path, (kind, content))| (path.clone(), TreeFile::of(*kind, content)));
        Self { tree: Tree::from_files(listed).unwrap(), files }
    }
}

/// The contents of both worlds, by their digest.
pub(crate) fn contents(worlds: &[&World]) -> Contents {
    let mut contents = Contents::new();
    contents.extend(
        worlds.iter().flat_map(|world| world.files.values()).map(|(_, bytes)| Content::of(bytes.clone())),
    );
    contents
}

pub(crate) fn read(contents: &Contents, digest: &Digest) -> Result<Bytes, BlobError> {
    contents.get(digest).map(Bytes::copy_from_slice).ok_or(BlobError::NotFound(*digest))
}

pub(crate) fn envelope(message: &str) -> Envelope {
    Envelope {
        author: "Ada Lovelace <ada@example.com>".parse().unwrap(),
        at: UnixMs::new(1_795_996_799_999),
        message: message.parse().unwrap(),
        evidence: None,
    }
}

pub(crate) fn mail(before: &World, after: &World, envelope: &Envelope) -> Result<Vec<u8>, ExportError> {
    let contents = contents(&[before, after]);
    Mail { before: &before.tree, after: &after.tree, envelope }
        .bytes(&Source::of(&|digest| read(&contents, digest)))
}

/// A bundle of `after`, on the commit of `before` where there is one.
pub(crate) fn bundle(
    before: Option<(ObjectName, &World)>,
    after: &World,
    envelope: &Envelope,
) -> Result<(Bundled, Vec<u8>), ExportError> {
    let contents = contents(&[after]);
    Bundle {
        tree: &after.tree,
        parent: before.map(|(commit, world)| Parent { commit, tree: &world.tree }),
        branch: &"ambit/rev-1".parse().unwrap(),
        envelope,
    }
    .bytes(&Source::of(&|digest| read(&contents, digest)))
}
