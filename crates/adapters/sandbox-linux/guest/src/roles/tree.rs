//! The files of a container that is made without root: what an ordinary user may mount in namespaces of its own.
//!
//! The stage has been laid out on the disk, and is the working directory: every path but those of the image and the tree
//! is relative, so that no character of a host's path means anything to a mount option.

use core::ffi::CStr;

use linux_raw_sys::general as sys;
use rustix::fd::AsFd as _;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::process::umask;

use crate::roles::raw::{self, Reach};
use crate::roles::rootless::{At as _, Failed};
use crate::roles::text::Text;

const PLAIN: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// What the files come from.
pub(crate) struct Files {
    /// The directory of the image.
    pub(crate) image: &'static CStr,
    /// That of the tree.
    pub(crate) tree: &'static CStr,
    /// How many bytes can be written.
    pub(crate) bytes: usize,
    /// How many files can be made.
    pub(crate) files: usize,
    /// Whether no control group is to be seen.
    pub(crate) hide_groups: bool,
}

/// Puts them together in this mount namespace, and leaves the stage.
pub(crate) fn assemble(files: &Files) -> Result<(), Failed> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).at("mounts")?;
    shed_privilege().at("mounts")?;
    // Of this process namespace, and without it no runtime finds itself.
    mount(c"proc", c"/proc", c"proc", PLAIN | MountFlags::NOEXEC, None).at("proc")?;
    if files.hide_groups {
        hide_groups().at("mounts")?;
    }
    let before = umask(Mode::empty());
    root(files).at("root")?;
    workspace(files).at("workspace")?;
    umask(before);
    rustix::process::chdir(c"/").at("mounts")
}

/// Takes privilege by a file from everything that is mounted. The kernel lets nobody in a further user namespace give it
/// back, whatever a runtime forgets.
fn shed_privilege() -> Result<(), Errno> {
    let root = openat(CWD, c"/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    raw::restrict_mount(root.as_fd(), Reach::All, sys::MOUNT_ATTR_NOSUID)
}

fn hide_groups() -> Result<(), Errno> {
    match mount(c"tmpfs", c"/sys/fs/cgroup", c"tmpfs", PLAIN | MountFlags::RDONLY, c"size=4k,mode=0555") {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

/// The image with the places of a sandbox over it. Without an upper layer, nothing can ever be written to it.
fn root(files: &Files) -> Result<(), Errno> {
    mount_bind(files.image, c"image")?;
    mount(c"overlay", c"root", c"overlay", PLAIN | MountFlags::RDONLY, c"lowerdir=skeleton:image")
}

/// The tree under a private copy-on-write layer, on a file system that is as large as a command may write.
fn workspace(files: &Files) -> Result<(), Errno> {
    let options: Text<96> =
        Text::format(format_args!("size={},nr_inodes={},mode=0755", files.bytes, files.files))?;
    mount(c"tmpfs", c"disk", c"tmpfs", PLAIN, options.as_c_str()?)?;
    for (path, mode) in [(c"disk/work", 0o700), (c"disk/upper", 0o755), (c"disk/tmp", 0o1777)] {
        mkdirat(CWD, path, Mode::from_raw_mode(mode))?;
    }
    mount_bind(files.tree, c"tree")?;
    let layers = c"userxattr,lowerdir=tree,upperdir=disk/upper,workdir=disk/work";
    mount(c"overlay", c"workspace", c"overlay", PLAIN, layers)
}
