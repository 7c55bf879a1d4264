//! A private copy of a tree, for machines where no overlay can be mounted.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, mkdirat, openat, readlinkat_raw, statat, symlinkat,
};
use rustix::io::Errno;

use crate::wire::Volumes;

/// Directories below a tree, as deep as a path of a project can be.
const DEPTH: usize = 64;

/// Copies the tree of `volumes` below `trees` into `to`.
pub(crate) fn tree(volumes: &Volumes, trees: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), Errno> {
    let from = openat(trees, volumes.tree.as_slice(), directory_flags(), Mode::empty())?;
    contents(from.as_fd(), to, DEPTH)
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn contents(from: BorrowedFd<'_>, to: BorrowedFd<'_>, depth: usize) -> Result<(), Errno> {
    let deeper = depth.checked_sub(1).ok_or(Errno::LOOP)?;
    let mut space = [MaybeUninit::uninit(); 2048];
    let mut entries = RawDir::new(from, &mut space);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            one(from, to, name, deeper)?;
        }
    }
    Ok(())
}

fn one(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &CStr, depth: usize) -> Result<(), Errno> {
    let stat = statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = Mode::from_raw_mode(stat.st_mode & 0o755);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            mkdirat(to, name, mode)?;
            let inner = openat(from, name, directory_flags(), Mode::empty())?;
            let outer = openat(to, name, directory_flags(), Mode::empty())?;
            contents(inner.as_fd(), outer.as_fd(), depth)
        }
        FileType::RegularFile => file(from, to, name, mode),
        FileType::Symlink => {
            let mut space = [MaybeUninit::uninit(); 4096];
            let (target, rest) = readlinkat_raw(from, name, &mut space)?;
            if rest.is_empty() {
                return Err(Errno::NAMETOOLONG);
            }
            symlinkat(&*target, to, name)
        }
        // A staged tree holds nothing else.
        _ => Err(Errno::INVAL),
    }
}

fn file(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &CStr, mode: Mode) -> Result<(), Errno> {
    let source = openat(from, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let target = openat(to, name, flags, mode)?;
    while rustix::fs::sendfile(&target, &source, None, 1 << 20)? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::wire::{Sizes, TREE_NAME_BYTES};

    const NO_SIZE: Sizes = Sizes { disk_bytes: 0, disk_files: 0 };

    #[test]
    fn a_copy_has_what_the_tree_has_and_follows_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let name = "a".repeat(TREE_NAME_BYTES);
        let tree_at = directory.path().join(&name);
        let copy_at = directory.path().join("copy");
        fs::create_dir_all(tree_at.join("deep/er")).unwrap();
        fs::create_dir(&copy_at).unwrap();
        fs::write(tree_at.join("deep/er/file"), "x".repeat(300_000)).unwrap();
        fs::write(tree_at.join("run"), "#!").unwrap();
        fs::set_permissions(tree_at.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc", tree_at.join("link")).unwrap();

        let mut volumes = Volumes { tree: [0; TREE_NAME_BYTES], sizes: NO_SIZE, declared: 0 };
        volumes.tree.copy_from_slice(name.as_bytes());
        let (trees, to) = (fs::File::open(directory.path()).unwrap(), fs::File::open(&copy_at).unwrap());
        tree(&volumes, trees.as_fd(), to.as_fd()).unwrap();

        assert_eq!(fs::read(copy_at.join("deep/er/file")).unwrap().len(), 300_000);
        assert_eq!(fs::metadata(copy_at.join("run")).unwrap().permissions().mode() & 0o111, 0o111);
        assert_eq!(fs::metadata(copy_at.join("deep/er/file")).unwrap().permissions().mode() & 0o111, 0);
        assert_eq!(fs::read_link(copy_at.join("link")).unwrap().to_str(), Some("/etc"));
    }

    #[test]
    fn a_tree_that_is_not_there_or_too_deep_is_no_tree() {
        let directory = tempfile::tempdir().unwrap();
        let mut volumes = Volumes { tree: [b'b'; TREE_NAME_BYTES], sizes: NO_SIZE, declared: 0 };
        let trees = fs::File::open(directory.path()).unwrap();
        assert_eq!(tree(&volumes, trees.as_fd(), trees.as_fd()), Err(Errno::NOENT));
        volumes.tree = [b'c'; TREE_NAME_BYTES];
        let deep = directory.path().join("c".repeat(TREE_NAME_BYTES)).join("d/".repeat(DEPTH + 1));
        fs::create_dir_all(deep).unwrap();
        let copy_at = directory.path().join("copy");
        fs::create_dir(&copy_at).unwrap();
        let to = fs::File::open(copy_at).unwrap();
        assert_eq!(tree(&volumes, trees.as_fd(), to.as_fd()), Err(Errno::LOOP));
    }
}
