//! What becomes of an imported tree so that it is an image: what every image has is laid in where it is not, and what a
//! sandbox would hide anyway is left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::follow::follow;
use crate::import::bounds::Allowance;
use crate::import::error::ImportError;
use crate::import::tree::{Children, Node, Refused, Tree};
use crate::left_out::LeftOut;
use crate::limits;
use crate::plan::MOUNTED;
use crate::skeleton;
use crate::tool::{PROGRAM_DIRECTORIES, is_name};

/// What was done to a tree.
#[derive(Debug, Default)]
pub(crate) struct Furnished {
    /// Absolute paths of what was added.
    pub(crate) added: Vec<String>,
    /// Sorted.
    pub(crate) left_out: Vec<LeftOut>,
    /// The names of the programs that can be called, sorted.
    pub(crate) tools: Vec<String>,
}

pub(crate) fn furnish(tree: &mut Tree, allowance: &mut Allowance) -> Result<Furnished, ImportError> {
    let mut furnished = Furnished::default();
    for mount in MOUNTED {
        match tree.get_mut(relative(mount)) {
            Some(Node::Directory(children)) => {
                let count = count(children);
                children.clear();
                if count > 0 {
                    let why =
                        format!("a sandbox has a directory of its own there; {count} below it are left out");
                    furnished.left_out.push(LeftOut { what: mount.into(), why });
                }
            }
            Some(Node::File(_) | Node::Link(_) | Node::Made(_)) => return Err(conflict(mount)),
            None => {
                add(tree, mount, Node::Directory(Children::new()), allowance)?;
                furnished.added.push(mount.to_owned());
            }
        }
    }
    for (path, text) in skeleton::FILES {
        if tree.get(relative(path)).is_none() {
            add(tree, path, Node::Made(text), allowance)?;
            furnished.added.push(path.to_owned());
        }
    }
    for (path, node) in tree.nodes() {
        if let Node::File(content) = node {
            let what = [
                (content.had_set_id, "its set-user-id or set-group-id bit"),
                (content.had_attributes, "its extended attributes"),
            ];
            let lost = what.into_iter().filter(|(had, _)| *had);
            furnished.left_out.extend(lost.map(|(_, what)| LeftOut {
                what: Path::new("/").join(&path),
                why: format!("the file is there without {what}"),
            }));
        }
    }
    furnished.left_out.sort();
    furnished.tools = tools(tree).into_iter().collect();
    Ok(furnished)
}

fn add(tree: &mut Tree, path: &str, node: Node, allowance: &mut Allowance) -> Result<(), ImportError> {
    allowance.entry()?;
    tree.put(relative(path), node, allowance).map_err(|refused| match refused {
        Refused::Passed(passed) => passed.into(),
        Refused::Entry(..) => conflict(path),
    })
}

fn conflict(path: &str) -> ImportError {
    ImportError::Conflict { path: path.into() }
}

fn relative(path: &str) -> &Path {
    Path::new(path.trim_start_matches('/'))
}

fn count(children: &Children) -> u64 {
    let mut count = 0;
    let mut pending = vec![children];
    while let Some(children) = pending.pop() {
        count += children.len() as u64;
        pending.extend(children.values().filter_map(|node| match node {
            Node::Directory(below) => Some(below),
            Node::File(_) | Node::Link(_) | Node::Made(_) => None,
        }));
    }
    count
}

/// The names in the directories where a sandbox looks for programs, of those that lead to a file that can be run.
fn tools(tree: &Tree) -> BTreeSet<String> {
    let mut tools = BTreeSet::new();
    for directory in PROGRAM_DIRECTORIES {
        let Some(Node::Directory(children)) = end(tree, Path::new(directory)) else { continue };
        let names = children.keys().filter_map(|name| name.to_str()).filter(|name| is_name(name));
        for name in names.take(limits::LOOKED_AT_TOOLS) {
            let called = Path::new(directory).join(name);
            if matches!(end(tree, &called), Some(Node::File(content)) if content.is_executable) {
                tools.insert(name.to_owned());
            }
        }
    }
    tools
}

/// What a path leads to inside the tree.
fn end<'a>(tree: &'a Tree, path: &Path) -> Option<&'a Node> {
    let inside = |path: &Path| path.strip_prefix("/").map(Path::to_path_buf).unwrap_or_default();
    let look = |next: &Path, _| match tree.get(&inside(next)) {
        Some(Node::Link(target)) => Ok(Some::<PathBuf>(target.clone())),
        Some(Node::Directory(_) | Node::File(_) | Node::Made(_)) => Ok(None),
        None => Err(()),
    };
    let end = follow(path, look, || ()).ok()?;
    tree.get(&inside(&end))
}
