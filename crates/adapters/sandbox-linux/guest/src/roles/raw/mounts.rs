//! Attributes of mounts.

use linux_raw_sys::general as sys;
use rustix::fd::BorrowedFd;

use super::{Result, call, raw_fd};

/// How far a change of mounts reaches.
#[derive(Clone, Copy)]
pub enum Reach {
    /// The mount alone.
    One,
    /// It and every mount below it.
    All,
}

/// Adds attributes to a mount.
pub fn restrict_mount(mount: BorrowedFd<'_>, reach: Reach, attributes: u32) -> Result<()> {
    let add = sys::mount_attr { attr_set: u64::from(attributes), attr_clr: 0, propagation: 0, userns_fd: 0 };
    change_mount(mount, reach, &add)
}

/// Lets a mount be written again, and none below it.
pub fn let_write(mount: BorrowedFd<'_>) -> Result<()> {
    let take = u64::from(sys::MOUNT_ATTR_RDONLY);
    change_mount(
        mount,
        Reach::One,
        &sys::mount_attr { attr_set: 0, attr_clr: take, propagation: 0, userns_fd: 0 },
    )
}

fn change_mount(mount: BorrowedFd<'_>, reach: Reach, change: &sys::mount_attr) -> Result<()> {
    let empty = c"".as_ptr() as usize;
    let flags = match reach {
        Reach::One => sys::AT_EMPTY_PATH,
        Reach::All => sys::AT_EMPTY_PATH | sys::AT_RECURSIVE,
    } as usize;
    let at = (&raw const *change) as usize;
    // SAFETY: an empty path and one structure of the size that is given.
    unsafe { call(sys::__NR_mount_setattr, [raw_fd(&mount), empty, flags, at, size_of::<sys::mount_attr>()]) }
        .map(drop)
}

/// Makes a detached mount show files as another user's, as `namespace` maps users, and nobody able to write to it.
pub fn map_owners(mount: BorrowedFd<'_>, namespace: BorrowedFd<'_>) -> Result<()> {
    let attributes =
        sys::MOUNT_ATTR_RDONLY | sys::MOUNT_ATTR_NOSUID | sys::MOUNT_ATTR_NODEV | sys::MOUNT_ATTR_IDMAP;
    let change = sys::mount_attr {
        attr_set: u64::from(attributes),
        attr_clr: 0,
        propagation: 0,
        userns_fd: raw_fd(&namespace) as u64,
    };
    let empty = c"".as_ptr() as usize;
    let at = (&raw const change) as usize;
    let (flags, size) = (sys::AT_EMPTY_PATH as usize, size_of::<sys::mount_attr>());
    // SAFETY: an empty path and one structure of the size that is given.
    unsafe { call(sys::__NR_mount_setattr, [raw_fd(&mount), empty, flags, at, size]) }.map(drop)
}
