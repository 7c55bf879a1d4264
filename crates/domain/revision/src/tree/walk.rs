use std::cmp::Ordering;
use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use serde::{Deserialize, Serialize};

use super::directory::{Directory, Node};
use super::entry::{EntryName, TreeFile};

/// What became of one path between two trees. Never the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// The path.
    pub path: RepoPath,
    /// What stood there before; `None` where nothing did.
    pub before: Option<TreeFile>,
    /// What stands there after; `None` where nothing does.
    pub after: Option<TreeFile>,
}

/// The files of a tree in the order of their paths, which is the order of [`RepoPath`].
pub struct Files<'a> {
    /// The entries still to come, the next one last, each with the path of its directory.
    pending: Vec<(Vec<u8>, &'a Node)>,
}

impl<'a> Files<'a> {
    pub(super) fn of(root: &'a Directory) -> Self {
        let mut files = Self { pending: Vec::new() };
        files.enter(&[], root);
        files
    }

    /// What stands at `path`, with everything below it.
    pub(super) fn at(path: &RepoPath, node: Option<&'a Node>) -> Self {
        Self { pending: node.map(|node| (path.as_bytes().to_vec(), node)).into_iter().collect() }
    }

    fn enter(&mut self, prefix: &[u8], directory: &'a Directory) {
        let start = self.pending.len();
        self.pending.extend(directory.entries().iter().map(|(name, node)| (below(prefix, name), node)));
        // `a.txt` comes before `a/b`, though the name `a` comes before `a.txt`.
        self.pending[start..].sort_by(|(one, one_node), (other, other_node)| {
            order_key(other, other_node).cmp(order_key(one, one_node))
        });
    }
}

fn order_key<'a>(path: &'a [u8], node: &Node) -> impl Iterator<Item = u8> + 'a {
    let slash = match node {
        Node::File(_) => None,
        Node::Directory(_) => Some(b'/'),
    };
    path.iter().copied().chain(slash)
}

impl<'a> Iterator for Files<'a> {
    type Item = (RepoPath, &'a TreeFile);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.pending.pop()? {
                (path, Node::File(file)) => return Some((whole_path(&path), file)),
                (path, Node::Directory(directory)) => self.enter(&path, directory),
            }
        }
    }
}

pub(super) fn below(prefix: &[u8], name: &EntryName) -> Vec<u8> {
    let mut path = Vec::with_capacity(prefix.len() + 1 + name.as_bytes().len());
    if !prefix.is_empty() {
        path.extend_from_slice(prefix);
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    path
}

fn whole_path(bytes: &[u8]) -> RepoPath {
    // INVARIANT: every name was admitted as an `EntryName` and the length and depth of the longest path are bounded when
    // a directory is made, so the names joined are a path.
    #[expect(clippy::expect_used, reason = "names and lengths were checked when the directories were made")]
    RepoPath::from_bytes(bytes).expect("the names of a tree make paths")
}

/// What differs between two directories, sorted by path. Subtrees of one digest are not entered.
pub(super) fn diff(before: &Directory, after: &Directory) -> Vec<Change> {
    let mut found = BTreeMap::new();
    compare(&[], Some(before), Some(after), &mut found);
    found.into_iter().map(|(path, (before, after))| Change { path, before, after }).collect()
}

type Found = BTreeMap<RepoPath, (Option<TreeFile>, Option<TreeFile>)>;

fn compare(prefix: &[u8], before: Option<&Directory>, after: Option<&Directory>, found: &mut Found) {
    let mut old = before.map_or(&[][..], Directory::entries);
    let mut new = after.map_or(&[][..], Directory::entries);
    loop {
        let order = match (old.first(), new.first()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((one, _)), Some((other, _))) => one.cmp(other),
        };
        let one = if order.is_le() { old.split_off_first() } else { None };
        let other = if order.is_ge() { new.split_off_first() } else { None };
        let Some((name, _)) = one.or(other) else { return };
        let (one, other) = (one.map(|(_, node)| node), other.map(|(_, node)| node));
        if let (Some(one), Some(other)) = (one, other)
            && one.same(other)
        {
            continue;
        }
        let path = below(prefix, name);
        let (one_file, one_directory) = parts(one);
        let (other_file, other_directory) = parts(other);
        if one_file.is_some() || other_file.is_some() {
            found.insert(whole_path(&path), (one_file, other_file));
        }
        if one_directory.is_some() || other_directory.is_some() {
            compare(&path, one_directory, other_directory, found);
        }
    }
}

fn parts(node: Option<&Node>) -> (Option<TreeFile>, Option<&Directory>) {
    match node {
        None => (None, None),
        Some(Node::File(file)) => (Some(*file), None),
        Some(Node::Directory(directory)) => (None, Some(directory)),
    }
}
