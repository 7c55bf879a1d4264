//! Trees and patches as readable bytes.

use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use ambit_revision::{Contents, FileKind, Tree, TreeFile};

/// What opens a section: a line of it, a space and a name.
const MARK: &[u8] = b"%% ";
/// More files than this teach a fuzzer nothing.
const FILES: usize = 16;

/// A tree with the contents of its files.
pub(crate) struct Source {
    pub(crate) tree: Tree,
    pub(crate) contents: Contents,
}

/// Sections of an input: each is opened by a line `%% NAME`, and what stands before the first has the empty name. The line
/// feed above a mark belongs to the mark, so that a section can end without one.
pub(crate) fn sections(input: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut found = Vec::new();
    let (mut name, mut start, mut at) = (&b""[..], 0, 0);
    while at < input.len() {
        let line_end = input[at..].iter().position(|b| *b == b'\n').map_or(input.len(), |end| at + end);
        if let Some(next) = input[at..line_end].strip_prefix(MARK) {
            let end = if at > start { at - 1 } else { at };
            found.push((name, &input[start..end.max(start)]));
            (name, start) = (next, (line_end + 1).min(input.len()));
        }
        at = line_end + 1;
    }
    found.push((name, &input[start..]));
    found
}

/// The tree of the sections whose names begin with `side`: `x NAME` is an executable, `l NAME` a link, and any other name
/// a file. What cannot stand in a tree is left out.
pub(crate) fn source(sections: &[(&[u8], &[u8])], side: &[u8]) -> Option<Source> {
    let mut files = BTreeMap::new();
    let mut contents = Contents::new();
    for (name, bytes) in sections {
        let Some(name) = name.strip_prefix(side) else { continue };
        let (kind, name) = match name {
            [b'x', b' ', name @ ..] => (FileKind::Executable, name),
            [b'l', b' ', name @ ..] => (FileKind::Link, name),
            name => (FileKind::File, name),
        };
        let Ok(path) = RepoPath::from_bytes(name) else { continue };
        if files.len() < FILES {
            files.insert(path, TreeFile::of(kind, bytes));
            contents.insert(bytes.to_vec());
        }
    }
    // A path that is a file and a directory makes no tree.
    Tree::from_files(files).ok().map(|tree| Source { tree, contents })
}
