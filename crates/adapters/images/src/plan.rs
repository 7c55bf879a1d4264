//! What an image will hold, decided before a byte is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ambit_ids::ByteCount;

use crate::error::CaptureError;
use crate::follow::follow;
use crate::limits;

/// Where a sandbox has directories of its own, so that nothing of an image can be seen there.
pub(crate) const MOUNTED: [&str; 9] =
    ["/dev", "/fixtures", "/home/sandbox", "/proc", "/run", "/sys", "/tmp", "/var/tmp", "/workspace"];

/// One entry of the image to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Directory,
    Link(PathBuf),
    /// A copy of the file of this machine that lies at the same path.
    Copy(Original),
    /// A file that is made for the image.
    Made(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Original {
    pub(crate) executable: bool,
    pub(crate) size_bytes: u64,
    /// Device and inode, where the file has several names: they become names of one file in the image too.
    pub(crate) shared_inode: Option<(u64, u64)>,
}

/// Every path of the image to be, with what will be there. Keys are absolute, without `.` and `..`, and the parent of
/// each key is a directory of the plan.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    nodes: BTreeMap<PathBuf, Node>,
    inodes: BTreeSet<(u64, u64)>,
    size_bytes: u64,
    touched: BTreeSet<PathBuf>,
}

/// How much a part of the plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) entries: u64,
    pub(crate) size_bytes: ByteCount,
}

impl Plan {
    /// Parents before children.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = (&Path, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_path(), node))
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// Takes what lies at an absolute path of this machine, with every directory and symbolic link on the way, each at
    /// its own place. Answers the path without links.
    pub(crate) fn take(&mut self, path: &Path) -> Result<PathBuf, CaptureError> {
        follow(
            path,
            |next, is_last| {
                let metadata = fs::symlink_metadata(next).map_err(unreadable(next))?;
                if metadata.is_symlink() {
                    let target = fs::read_link(next).map_err(unreadable(next))?;
                    self.insert(next.to_path_buf(), Node::Link(target.clone()))?;
                    return Ok(Some(target));
                }
                if metadata.is_dir() {
                    self.insert(next.to_path_buf(), Node::Directory)?;
                } else if is_last {
                    self.insert(next.to_path_buf(), copy_of(next, &metadata)?)?;
                } else {
                    return Err(unreadable(next)(io::Error::from(io::ErrorKind::NotADirectory)));
                }
                Ok(None)
            },
            || unreadable(path)(rustix::io::Errno::LOOP.into()),
        )
    }

    /// Takes a directory with everything in it that `wanted` wants, in the order of names. A link in it is taken with
    /// the file that it leads to. Answers the paths of the files and the links that lead nowhere or to a directory,
    /// which are left out.
    pub(crate) fn take_tree(
        &mut self,
        directory: &Path,
        mut wanted: impl FnMut(&DirEntry, FileType) -> bool,
    ) -> Result<TakenTree, CaptureError> {
        let mut taken = TakenTree::default();
        let mut pending = vec![self.take(directory)?];
        while let Some(directory) = pending.pop() {
            let listing = fs::read_dir(&directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            let mut children = listing.map_err(unreadable(&directory))?;
            children.sort_by_key(DirEntry::file_name);
            for child in children {
                let path = child.path();
                let kind = child.file_type().map_err(unreadable(&path))?;
                if !wanted(&child, kind) {
                    continue;
                }
                if kind.is_dir() {
                    pending.push(self.take(&path)?);
                } else if kind.is_symlink() && !fs::metadata(&path).is_ok_and(|target| target.is_file()) {
                    taken.loose_links.push(path);
                } else {
                    self.take(&path)?;
                    taken.files.push(path);
                }
            }
        }
        Ok(taken)
    }

    /// Adds an entry that is not on this machine. Its parents become directories.
    pub(crate) fn add(&mut self, path: &Path, node: Node) -> Result<(), CaptureError> {
        for parent in path.ancestors().skip(1).filter(|parent| parent.parent().is_some()) {
            self.insert(parent.to_path_buf(), Node::Directory)?;
        }
        self.insert(path.to_path_buf(), node)
    }

    /// Whether following `path` inside the image leads to `target`, which is a path without links.
    pub(crate) fn leads_to(&self, path: &Path, target: &Path) -> bool {
        let look = |next: &Path, _| match self.nodes.get(next) {
            Some(Node::Link(link)) => Ok(Some(link.clone())),
            Some(Node::Directory | Node::Copy(_) | Node::Made(_)) => Ok(None),
            None => Err(()),
        };
        follow(path, look, || ()).is_ok_and(|end| end == target)
    }

    /// What was taken or added since this was last called.
    pub(crate) fn share(&mut self) -> Share {
        let mut share = Share { entries: 0, size_bytes: ByteCount::ZERO };
        let mut size_bytes = 0;
        let mut inodes = BTreeSet::new();
        for path in std::mem::take(&mut self.touched) {
            match self.nodes.get(&path) {
                None | Some(Node::Directory) => continue,
                Some(Node::Link(_)) => {}
                Some(Node::Made(bytes)) => size_bytes += bytes.len() as u64,
                Some(Node::Copy(original)) => {
                    if original.shared_inode.is_none_or(|inode| inodes.insert(inode)) {
                        size_bytes += original.size_bytes;
                    }
                }
            }
            share.entries += 1;
        }
        share.size_bytes = ByteCount::new(size_bytes);
        share
    }

    fn insert(&mut self, path: PathBuf, node: Node) -> Result<(), CaptureError> {
        if let Some(mount) =
            MOUNTED.into_iter().find(|mount| path.starts_with(mount) && path != Path::new(mount))
        {
            return Err(CaptureError::Hidden { path, mount });
        }
        self.touched.insert(path.clone());
        match self.nodes.get(&path) {
            Some(known) if *known == node => return Ok(()),
            Some(_) => return Err(CaptureError::Conflict { path }),
            None => {}
        }
        let size_bytes = match &node {
            Node::Copy(original) if original.shared_inode.is_none_or(|inode| self.inodes.insert(inode)) => {
                original.size_bytes
            }
            Node::Made(bytes) => bytes.len() as u64,
            Node::Copy(_) | Node::Directory | Node::Link(_) => 0,
        };
        self.size_bytes = self.size_bytes.saturating_add(size_bytes);
        if self.size_bytes > limits::IMAGE_BYTES {
            return Err(CaptureError::TooLarge { limit: format!("{} bytes", limits::IMAGE_BYTES) });
        }
        if self.nodes.len() >= limits::IMAGE_ENTRIES {
            return Err(CaptureError::TooLarge { limit: format!("{} entries", limits::IMAGE_ENTRIES) });
        }
        self.nodes.insert(path, node);
        Ok(())
    }
}

/// What [`Plan::take_tree`] met.
#[derive(Debug, Default)]
pub(crate) struct TakenTree {
    /// The files, and links to files, by the paths under which they lie in the tree.
    pub(crate) files: Vec<PathBuf>,
    /// Links that were left out.
    pub(crate) loose_links: Vec<PathBuf>,
}

fn copy_of(path: &Path, metadata: &Metadata) -> Result<Node, CaptureError> {
    if !metadata.is_file() {
        return Err(unreadable(path)(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a device, pipe or socket",
        )));
    }
    Ok(Node::Copy(Original {
        executable: metadata.mode() & 0o111 != 0,
        size_bytes: metadata.len(),
        shared_inode: (metadata.nlink() > 1).then_some((metadata.dev(), metadata.ino())),
    }))
}

pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> CaptureError {
    move |source| CaptureError::Unreadable { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::stage::tests::scratch;

    #[test]
    fn a_path_brings_every_link_on_its_way() {
        let scratch = scratch();
        let at = |name: &str| scratch.path().join(name);
        fs::create_dir_all(at("real/deep")).unwrap();
        fs::write(at("real/deep/file"), "content").unwrap();
        symlink("real/deep", at("relative")).unwrap();
        symlink(at("relative"), at("absolute")).unwrap();
        symlink("../relative/../deep/file", at("real/up")).unwrap();

        let mut plan = Plan::default();
        assert_eq!(plan.take(&at("absolute/file")).unwrap(), at("real/deep/file"));
        assert_eq!(plan.get(&at("absolute")), Some(&Node::Link(at("relative"))));
        assert_eq!(plan.get(&at("relative")), Some(&Node::Link("real/deep".into())));
        assert_eq!(plan.get(&at("real/deep")), Some(&Node::Directory));
        assert!(matches!(plan.get(&at("real/deep/file")), Some(Node::Copy(file)) if file.size_bytes == 7));
        assert_eq!(plan.take(&at("real/up")).unwrap(), at("real/deep/file"));
        assert!(plan.leads_to(&at("absolute/file"), &at("real/deep/file")));
        assert!(!plan.leads_to(&at("absolute/other"), &at("real/deep/file")));
        let share = plan.share();
        assert_eq!((share.entries, share.size_bytes.get()), (4, 7));
        assert_eq!(plan.share().entries, 0, "told once");
    }

    #[test]
    fn what_has_no_end_or_is_no_file_is_refused() {
        let scratch = scratch();
        let at = |name: &str| scratch.path().join(name);
        symlink("loop", at("loop")).unwrap();
        symlink("gone", at("dangling")).unwrap();
        fs::write(at("file"), "").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("s")).unwrap();
        let mut plan = Plan::default();
        plan.take(&at("file")).unwrap();
        for bad in ["loop", "dangling", "gone", "file/below", "s"] {
            let error = plan.take(&at(bad)).expect_err(bad);
            assert!(matches!(error, CaptureError::Unreadable { .. }), "{bad}: {error}");
        }
    }

    #[test]
    fn one_path_is_one_thing() {
        let mut plan = Plan::default();
        plan.add(Path::new("/a/b"), Node::Made(b"one".to_vec())).unwrap();
        plan.add(Path::new("/a/b"), Node::Made(b"one".to_vec())).unwrap();
        for (path, node) in [
            ("/a/b", Node::Made(b"two".to_vec())),
            ("/a", Node::Link("b".into())),
            ("/a/b/c", Node::Directory),
        ] {
            let error = plan.add(Path::new(path), node).expect_err(path);
            assert!(matches!(error, CaptureError::Conflict { .. }), "{path}: {error}");
        }
        let hidden = plan.add(Path::new("/proc/self"), Node::Directory).unwrap_err();
        assert!(matches!(hidden, CaptureError::Hidden { mount: "/proc", .. }), "{hidden}");
    }
}
