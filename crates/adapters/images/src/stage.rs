//! Writes a planned image to a directory that nobody else looks at yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ambit_ports::images::ImageError;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::ask::{ask, question};
use crate::error::CaptureError;
use crate::limits;
use crate::loader::ldconfig;
use crate::plan::{Node, Original, Plan, unreadable};
use crate::regular::{failed_at, open_regular};

/// The time of everything in an image: 1980-01-02T00:00:00Z. Archives in the ZIP format cannot tell an earlier one in
/// any time zone.
const IMAGE_TIME: Timespec = Timespec { tv_sec: 315_619_200, tv_nsec: 0 };
/// The mode of every directory of an image.
pub(crate) const DIRECTORY_MODE: u32 = 0o555;
const INDEX: &str = "/etc/ld.so.cache";

/// Writes `plan` to `root`, which must not exist. Where `index_directories` has any, the image gets an index of the
/// libraries in them.
pub(crate) fn write(
    root: &Path,
    plan: &Plan,
    index_directories: &BTreeSet<PathBuf>,
) -> Result<(), CaptureError> {
    let mut copied = BTreeMap::new();
    make_directory(root)?;
    for (path, node) in plan.nodes() {
        let target = inside(root, path);
        match node {
            Node::Directory => make_directory(&target)?,
            Node::Link(link) => {
                symlink(link, &target).map_err(failed_at(&target))?;
                set_time(&target)?;
            }
            Node::Made(bytes) => make_file(&target, bytes)?,
            Node::Copy(original) => copy(path, original, &target, &mut copied)?,
        }
    }
    if !index_directories.is_empty() {
        index(root, index_directories)?;
    }
    seal(root, plan).map_err(CaptureError::Store)
}

fn make_directory(target: &Path) -> Result<(), CaptureError> {
    Ok(DirBuilder::new().mode(0o700).create(target).map_err(failed_at(target))?)
}

fn make_file(target: &Path, bytes: &[u8]) -> Result<(), CaptureError> {
    let mut file = create(target)?;
    file.write_all(bytes).map_err(failed_at(target))?;
    Ok(finish_file(&file, target, false)?)
}

/// Copies a file of this machine. The kernel shares the blocks where the file system can, and copies them otherwise;
/// the copy is a file of its own in any case.
fn copy(
    source: &Path,
    original: &Original,
    target: &Path,
    copied: &mut BTreeMap<(u64, u64), PathBuf>,
) -> Result<(), CaptureError> {
    if let Some(inode) = original.shared_inode {
        if let Some(first) = copied.get(&inode) {
            return Ok(fs::hard_link(first, target).map_err(failed_at(target))?);
        }
        copied.insert(inode, target.to_path_buf());
    }
    let from = open_regular(source).map_err(unreadable(source))?;
    let mut to = create(target)?;
    io::copy(&mut from.take(limits::IMAGE_BYTES), &mut to).map_err(failed_at(target))?;
    Ok(finish_file(&to, target, original.executable)?)
}

pub(crate) fn create(target: &Path) -> Result<File, ImageError> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(target).map_err(failed_at(target))
}

/// Gives a file of an image its mode and time.
pub(crate) fn finish_file(file: &File, target: &Path, executable: bool) -> Result<(), ImageError> {
    let mode = if executable { 0o555 } else { 0o444 };
    file.set_permissions(Permissions::from_mode(mode)).map_err(failed_at(target))?;
    set_time(target)
}

/// Gives an entry of an image its time; of a link, to the link itself.
pub(crate) fn set_time(target: &Path) -> Result<(), ImageError> {
    let times = Timestamps { last_access: IMAGE_TIME, last_modification: IMAGE_TIME };
    utimensat(CWD, target, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed_at(target)(error.into()))
}

/// Has the system's own `ldconfig` write the index, since its format belongs to the C library.
fn index(root: &Path, directories: &BTreeSet<PathBuf>) -> Result<(), CaptureError> {
    let failed = |why| CaptureError::NoLibraryIndex { why };
    let program = ldconfig().ok_or_else(|| failed("there is no ldconfig".to_owned()))?;
    let mut list = Vec::new();
    for directory in directories {
        list.extend(directory.as_os_str().as_encoded_bytes());
        list.push(b'\n');
    }
    make_file(&inside(root, Path::new("/etc/ld.so.conf")), &list)?;
    ask(question(program).args(["-i", "-X", "-r"]).arg(root)).map_err(failed)?;
    let index = inside(root, Path::new(INDEX));
    let file = open_regular(&index).map_err(failed_at(&index))?;
    Ok(finish_file(&file, &index, false)?)
}

/// Gives every directory its mode and time, children first: what is sealed takes no more entries.
fn seal(root: &Path, plan: &Plan) -> Result<(), ImageError> {
    let directories = plan.nodes().rev().filter(|(_, node)| **node == Node::Directory);
    for directory in directories.map(|(path, _)| inside(root, path)).chain([root.to_path_buf()]) {
        let mode = Permissions::from_mode(DIRECTORY_MODE);
        fs::set_permissions(&directory, mode).map_err(failed_at(&directory))?;
        set_time(&directory)?;
    }
    Ok(())
}

fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Removes a directory tree whose directories may be sealed. No link is followed.
pub(crate) fn remove_tree(tree: &Path) -> Result<(), ImageError> {
    let mut pending = vec![tree.to_path_buf()];
    while let Some(directory) = pending.pop() {
        let at = failed_at(&directory);
        fs::set_permissions(&directory, Permissions::from_mode(0o700)).map_err(&at)?;
        for child in fs::read_dir(&directory).map_err(&at)? {
            let child = child.map_err(&at)?;
            if child.file_type().map_err(&at)?.is_dir() {
                pending.push(child.path());
            }
        }
    }
    fs::remove_dir_all(tree).map_err(failed_at(tree))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::closure::Closure;
    use crate::loader::{Loaded, Loader};
    use crate::manifest::Tree;
    use crate::plan::MOUNTED;
    use crate::{needs, skeleton};

    /// A directory that is neither hidden in a sandbox nor known to any loader.
    pub(crate) fn scratch() -> tempfile::TempDir {
        let beside = std::env::current_exe().unwrap().with_file_name("");
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        [beside, home, PathBuf::from("/var/lib")]
            .iter()
            .filter(|parent| !MOUNTED.iter().any(|mount| parent.starts_with(mount)))
            .find_map(|parent| tempfile::Builder::new().prefix("stage-").tempdir_in(parent).ok())
            .expect("a directory that a sandbox does not hide")
    }

    /// Writes a copy of `file` in which the C library has another name.
    fn copy_with_odd_libc(file: &Path, copy: &Path) {
        let mut bytes = fs::read(file).unwrap();
        let mut from = 0;
        while let Some(at) = bytes[from..].windows(10).position(|window| window == b"libc.so.6\0") {
            from += at + 10;
            bytes[from - 7] = b'Q';
        }
        fs::write(copy, bytes).unwrap();
        fs::set_permissions(copy, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_library_that_only_the_index_knows_is_found_in_the_image() {
        let scratch = scratch();
        let (shell, libraries) = (scratch.path().join("shell"), scratch.path().join("lib"));
        let original = Loaded::read("/bin/sh".into(), Vec::new()).unwrap().unwrap();
        let (Some(libc), Some(ldconfig)) =
            (Loader::of_this_machine().find(b"libc.so.6", &original), ldconfig())
        else {
            println!("skipped: LDCONFIG_ABSENT a_library_that_only_the_index_knows_is_found_in_the_image");
            return;
        };
        fs::create_dir(&libraries).unwrap();
        copy_with_odd_libc(Path::new("/bin/sh"), &shell);
        copy_with_odd_libc(&libc.path, &libraries.join("libQ.so.6"));

        let listing = format!("\tlibQ.so.6 (libc6) => {}/libQ.so.6\n", libraries.display());
        let loader = Loader::from_listing(listing.as_bytes());
        let mut plan = Plan::default();
        skeleton::lay(&mut plan).unwrap();
        let mut closure = Closure::new(plan, &loader, &[]);
        needs::take_tool(&mut closure, "shell", &shell).unwrap();
        assert_eq!(closure.index_directories, BTreeSet::from([libraries]));

        let roots = ["one", "other"].map(|name| scratch.path().join(name));
        for root in &roots {
            write(root, &closure.plan, &closure.index_directories).unwrap();
            let read = ask(question(ldconfig).arg("-p").arg("-C").arg(inside(root, Path::new(INDEX))));
            assert!(String::from_utf8(read.unwrap()).unwrap().contains("libQ.so.6"));
            assert!(!root.join("var/cache").exists(), "the index is all that is left of making it");
        }
        let [one, other] = roots.each_ref().map(|root| Tree::read(root).unwrap());
        assert_eq!(one, other, "the index is the same every time");

        for root in &roots {
            remove_tree(root).unwrap();
        }
    }

    #[test]
    fn removing_a_tree_leaves_alone_what_its_links_lead_to() {
        let scratch = scratch();
        let (tree, outside) = (scratch.path().join("tree"), scratch.path().join("outside"));
        fs::create_dir_all(tree.join("sealed")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "kept").unwrap();
        symlink(&outside, tree.join("sealed/link")).unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o500)).unwrap();
        fs::set_permissions(tree.join("sealed"), Permissions::from_mode(0o555)).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept");
        assert_eq!(outside.metadata().unwrap().permissions().mode() & 0o777, 0o500);
        fs::set_permissions(&outside, Permissions::from_mode(0o700)).unwrap();
    }
}
