//! The root file system that the layers make, in memory: nothing of an archive is written before all of it is known.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::import::bounds::{Allowance, Passed};
use crate::import::error::EntryFault;
use crate::import::layer::{Layer, Put};
use crate::import::spool::Content;

/// The names of a directory.
pub(crate) type Children = BTreeMap<OsString, Node>;

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Directory(Children),
    File(Content),
    Link(PathBuf),
    /// A file that is made for the image.
    Made(&'static str),
}

/// Why a change cannot be made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Entry(PathBuf, EntryFault),
    Passed(Passed),
}

/// A tree. Paths are relative to its root, and have only plain parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    root: Children,
}

/// What the way to a path is.
enum Way<'a> {
    /// The directory that would hold it.
    To(&'a mut Children),
    Nowhere,
    Link(PathBuf),
    File(PathBuf),
}

impl Tree {
    /// Lays a layer over what is there: first everything that it hides, then everything that it has. The order of its
    /// entries is of no account but for hard links, which lead to what the image has then.
    pub(crate) fn lay(&mut self, layer: &Layer, allowance: &mut Allowance) -> Result<(), Refused> {
        for directory in &layer.opaque {
            if directory.as_os_str().is_empty() {
                self.root.clear();
            } else if self.is_open(directory, layer)?
                && let Some(Node::Directory(children)) = self.get_mut(directory)
            {
                children.clear();
            }
        }
        for hidden in &layer.hidden {
            if self.is_open(hidden, layer)?
                && let (Way::To(children), Some(name)) = (self.way(hidden), hidden.file_name())
            {
                children.remove(name);
            }
        }
        let (mut plain, mut hard_links) = (Vec::new(), Vec::new());
        for (path, put) in &layer.entries {
            match put {
                Put::HardLink(target) => hard_links.push((path, target)),
                Put::Directory => plain.push((path, Node::Directory(Children::new()))),
                Put::File(content) => plain.push((path, Node::File(*content))),
                Put::Link(target) => plain.push((path, Node::Link(target.clone()))),
            }
        }
        // Parents before children, whatever the order in the archive.
        plain.sort_by_key(|(path, _)| *path);
        for (path, node) in plain {
            self.put(path, node, allowance)?;
        }
        for (path, target) in hard_links {
            let refused = |fault| Refused::Entry(path.clone(), fault);
            if layer.has_below(path) {
                return Err(refused(EntryFault::Twice));
            }
            let node = match self.get(target) {
                Some(node @ (Node::File(_) | Node::Link(_))) => node.clone(),
                Some(Node::Directory(_) | Node::Made(_)) | None => {
                    return Err(refused(EntryFault::HardLinkMissing(target.clone())));
                }
            };
            self.put(path, node, allowance)?;
        }
        Ok(())
    }

    /// Whether a path that is hidden can be looked for below: its way must not lead through a link, unless the layer
    /// itself has a directory there, so that nothing from below is seen.
    fn is_open(&mut self, hidden: &Path, layer: &Layer) -> Result<bool, Refused> {
        match self.way(hidden) {
            Way::To(_) => Ok(true),
            Way::Nowhere | Way::File(_) => Ok(false),
            Way::Link(link) if layer.has(&link) => Ok(false),
            Way::Link(link) => Err(Refused::Entry(hidden.to_path_buf(), EntryFault::ThroughLink(link))),
        }
    }

    /// Puts something at a path. Its parents become directories where nothing is.
    pub(crate) fn put(&mut self, path: &Path, node: Node, allowance: &mut Allowance) -> Result<(), Refused> {
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else { return Ok(()) };
        self.make_way(parent, allowance)?;
        match self.way(path) {
            Way::To(children) => {
                let stays = matches!(children.get(name), Some(Node::Directory(_)))
                    && matches!(node, Node::Directory(_));
                if !stays {
                    children.insert(name.to_os_string(), node);
                }
                Ok(())
            }
            Way::Link(link) => Err(Refused::Entry(path.to_path_buf(), EntryFault::ThroughLink(link))),
            Way::File(file) => Err(Refused::Entry(path.to_path_buf(), EntryFault::BelowFile(file))),
            Way::Nowhere => Err(Refused::Entry(path.to_path_buf(), EntryFault::Name)),
        }
    }

    fn make_way(&mut self, directory: &Path, allowance: &mut Allowance) -> Result<(), Refused> {
        let mut here = &mut self.root;
        for part in directory {
            if !here.contains_key(part) {
                allowance.entry().map_err(Refused::Passed)?;
            }
            match here.entry(part.to_os_string()).or_insert_with(|| Node::Directory(Children::new())) {
                Node::Directory(children) => here = children,
                // `way` tells what is in the way.
                Node::File(_) | Node::Link(_) | Node::Made(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn way(&mut self, path: &Path) -> Way<'_> {
        let mut here = &mut self.root;
        let mut walked = PathBuf::new();
        for part in path.parent().into_iter().flatten() {
            walked.push(part);
            match here.get_mut(part) {
                None => return Way::Nowhere,
                Some(Node::Directory(children)) => here = children,
                Some(Node::Link(_)) => return Way::Link(walked),
                Some(Node::File(_) | Node::Made(_)) => return Way::File(walked),
            }
        }
        Way::To(here)
    }

    /// What lies at a path, without following any link.
    pub(crate) fn get(&self, path: &Path) -> Option<&Node> {
        let mut here = &self.root;
        let mut parts = path.iter().peekable();
        while let Some(part) = parts.next() {
            match here.get(part)? {
                node if parts.peek().is_none() => return Some(node),
                Node::Directory(children) => here = children,
                Node::File(_) | Node::Link(_) | Node::Made(_) => return None,
            }
        }
        None
    }

    pub(crate) fn get_mut(&mut self, path: &Path) -> Option<&mut Node> {
        let name = path.file_name()?.to_os_string();
        match self.way(path) {
            Way::To(children) => children.get_mut(&name),
            Way::Nowhere | Way::Link(_) | Way::File(_) => None,
        }
    }

    /// Everything, parents before children, by path.
    pub(crate) fn nodes(&self) -> Vec<(PathBuf, &Node)> {
        let mut nodes = Vec::new();
        let mut pending = vec![(PathBuf::new(), &self.root)];
        while let Some((directory, children)) = pending.pop() {
            for (name, node) in children {
                let path = directory.join(name);
                if let Node::Directory(children) = node {
                    pending.push((path.clone(), children));
                }
                nodes.push((path, node));
            }
        }
        nodes.sort_by(|(one, _), (other, _)| one.cmp(other));
        nodes
    }
}
