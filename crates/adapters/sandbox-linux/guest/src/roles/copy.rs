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
