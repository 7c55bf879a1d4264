//! Writes a planned image to a directory that nobody else looks at yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_ports::images::ImageError;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::ask::ask;
use crate::error::CaptureError;
use crate::limits;
use crate::loader::ldconfig;
use crate::manifest::{failed_at, open_regular};
use crate::plan::{Node, Original, Plan, unreadable};

/// The time of everything in an image: 1980-01-02T00:00:00Z. Archives in the ZIP format cannot tell an earlier one in
/// any time zone.
const IMAGE_TIME: Timespec = Timespec { tv_sec: 315_619_200, tv_nsec: 0 };
const DIRECTORY_MODE: u32 = 0o555;
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
            Node::Link(link) => symlink(link, &target).map_err(failed_at(&target))?,
            Node::Made(bytes) => make_file(&target, bytes)?,
            Node::Copy(original) => copy(path, original, &target, &mut copied)?,
        }
        if matches!(node, Node::Link(_)) {
            set_time(&target)?;
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

fn create(target: &Path) -> Result<File, ImageError> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(target).map_err(failed_at(target))
}

fn finish_file(file: &File, target: &Path, executable: bool) -> Result<(), ImageError> {
    let mode = if executable { 0o555 } else { 0o444 };
    file.set_permissions(Permissions::from_mode(mode)).map_err(failed_at(target))?;
    set_time(target)
}

fn set_time(target: &Path) -> Result<(), ImageError> {
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
    ask(Command::new(program).args(["-i", "-X", "-r"]).arg(root)).map_err(failed)?;
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
