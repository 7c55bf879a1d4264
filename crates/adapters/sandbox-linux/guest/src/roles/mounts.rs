//! Mounts that are attached nowhere yet.

use core::ffi::CStr;

use linux_raw_sys::general as sys;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use crate::roles::raw::{self, Reach};

pub(crate) const READ_ONLY: u32 = sys::MOUNT_ATTR_RDONLY | sys::MOUNT_ATTR_NOSUID | sys::MOUNT_ATTR_NODEV;

/// A copy of a mount and of what is mounted below it. An ordinary user cannot leave the mounts below out: that would show
/// what they hide.
pub(crate) const CLONE_ALL: OpenTreeFlags =
    OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC).union(OpenTreeFlags::AT_RECURSIVE);

/// Where the host's root is kept until the image is known; the workspace comes to lie over it.
pub(crate) const WORKSPACE: &CStr = c"/workspace";

/// A new temporary file system, not yet attached anywhere.
pub(crate) fn temporary(size: &CStr, files: &CStr, mode: &CStr) -> Result<OwnedFd, Errno> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"size", size)?;
    fsconfig_set_string(context.as_fd(), c"nr_inodes", files)?;
    fsconfig_set_string(context.as_fd(), c"mode", mode)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Attaches a detached mount at `target`.
pub(crate) fn attach(mount: BorrowedFd<'_>, root: BorrowedFd<'_>, target: &CStr) -> Result<(), Errno> {
    move_mount(mount, c"", root, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// A detached copy of what is mounted at `path`, with more restrictions.
pub(crate) fn restricted_copy(from: BorrowedFd<'_>, path: &CStr, attributes: u32) -> Result<OwnedFd, Errno> {
    let copy = open_tree(from, path, CLONE_ALL | OpenTreeFlags::AT_SYMLINK_NOFOLLOW)?;
    raw::restrict_mount(copy.as_fd(), Reach::All, attributes)?;
    Ok(copy)
}

/// Where a directory of the host comes from.
pub(crate) enum Source<'a> {
    /// A detached mount that a more privileged process made.
    Mount(OwnedFd),
    /// A path of the host.
    Path(&'a CStr),
}

impl Source<'_> {
    /// A detached mount of it that cannot be written.
    pub(crate) fn mount(self) -> Result<OwnedFd, Errno> {
        match self {
            Self::Mount(mount) => raw::restrict_mount(mount.as_fd(), Reach::All, READ_ONLY).map(|()| mount),
            Self::Path(path) => {
                let below = path.to_bytes_with_nul().strip_prefix(b"/").ok_or(Errno::INVAL)?;
                let path = CStr::from_bytes_with_nul(below).map_err(|_| Errno::INVAL)?;
                let path = if path.is_empty() { c"." } else { path };
                let host = openat(
                    CWD,
                    WORKSPACE,
                    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                    Mode::empty(),
                )?;
                let copy = open_tree(&host, path, CLONE_ALL)?;
                raw::restrict_mount(copy.as_fd(), Reach::All, READ_ONLY)?;
                Ok(copy)
            }
        }
    }
}

/// Takes the host's root away.
pub(crate) fn leave_host() -> Result<(), Errno> {
    unmount(WORKSPACE, UnmountFlags::DETACH)
}
