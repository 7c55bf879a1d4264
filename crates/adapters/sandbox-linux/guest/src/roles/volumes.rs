//! The volumes of one command: a writable view of a tree at `/workspace`, an empty `/tmp`, and the declared ones.

use core::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, XattrFlags, fsetxattr, fstatfs, mkdirat, openat, openat2};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::Step;
use crate::roles::copy;
use crate::roles::declared::Declared;
use crate::roles::mounts::{attach, temporary};
use crate::roles::root::At;
use crate::roles::text::Text;
use crate::wire::{Failed, Volumes};

const WORKSPACE: &CStr = c"/workspace";
const TEMPORARY: &CStr = c"/tmp";

/// Volumes that are mounted.
pub(crate) struct Mounted {
    /// What they are.
    pub volumes: Volumes,
    /// Whether the workspace is a copy.
    pub copied: bool,
    /// Whether there is a place for declared volumes.
    declared: bool,
    workspace: OwnedFd,
    upper: OwnedFd,
    temporary: OwnedFd,
}

fn directory(path: &CStr) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Mounts volumes. `trees` is the directory of the staged trees.
pub(crate) fn mount_all(
    volumes: Volumes,
    trees: BorrowedFd<'_>,
    declared: &Declared,
) -> Result<Mounted, Failed> {
    let size: Text<24> = Text::format(format_args!("{}", volumes.disk_bytes)).at(Step::Volumes)?;
    let files: Text<24> = Text::format(format_args!("{}", volumes.disk_files)).at(Step::Volumes)?;
    let (size, files) = (size.as_c_str().at(Step::Volumes)?, files.as_c_str().at(Step::Volumes)?);

    let fresh = temporary(size, files, c"1777").at(Step::Volumes)?;
    attach(fresh.as_fd(), CWD, TEMPORARY).at(Step::Volumes)?;
    let upper = temporary(size, files, c"0755").at(Step::Volumes)?;
    attach(upper.as_fd(), CWD, WORKSPACE).at(Step::Volumes)?;
    let upper = directory(WORKSPACE).at(Step::Volumes)?;
    let copied = match overlay(&volumes, trees, upper.as_fd()) {
        Ok(()) => false,
        Err(Errno::NOENT) => {
            return Err(Failed { step: Step::Workspace, errno: Errno::NOENT.raw_os_error() });
        }
        Err(_) => {
            copy::tree(&volumes, trees, upper.as_fd()).at(Step::Workspace)?;
            true
        }
    };
    Ok(Mounted {
        volumes,
        copied,
        declared: declared.lay(volumes.declared).at(Step::Declared)?,
        workspace: directory(WORKSPACE).at(Step::Workspace)?,
        upper,
        temporary: directory(TEMPORARY).at(Step::Volumes)?,
    })
}

/// Lays an overlay over the upper volume, which holds the changes and is hidden by it.
fn overlay(volumes: &Volumes, trees: BorrowedFd<'_>, upper: BorrowedFd<'_>) -> Result<(), Errno> {
    // Without such attributes a directory that replaces one of the tree could not hide what the tree has there.
    fsetxattr(upper, c"user.overlay.probe", b"y", XattrFlags::empty())?;
    for name in [c"upper", c"work"] {
        mkdirat(upper, name, Mode::from_raw_mode(0o755))?;
    }
    rustix::process::fchdir(trees)?;
    let tree = core::str::from_utf8(&volumes.tree).map_err(|_| Errno::INVAL)?;
    let options: Text<256> = Text::format(format_args!(
        "lowerdir={tree},upperdir=/workspace/upper,workdir=/workspace/work,userxattr"
    ))?;
    let mounted = mount(
        c"workspace",
        WORKSPACE,
        c"overlay",
        MountFlags::NOSUID | MountFlags::NODEV,
        options.as_c_str()?,
    );
    rustix::process::chdir(c"/")?;
    mounted
}

impl Mounted {
    /// The top of the workspace.
    pub(crate) fn workspace(&self) -> BorrowedFd<'_> {
        self.workspace.as_fd()
    }

    /// The temporary volume.
    pub(crate) fn temporary(&self) -> BorrowedFd<'_> {
        self.temporary.as_fd()
    }

    /// Whether one of them has no block or no file left.
    pub(crate) fn is_full(&self) -> bool {
        [&self.upper, &self.temporary]
            .into_iter()
            .any(|volume| fstatfs(volume).is_ok_and(|left| left.f_bavail == 0 || left.f_ffree == 0))
    }

    /// Opens a file of the workspace for reading. No link is followed, whatever its place on the way, and nothing that
    /// is not a file is waited for.
    pub(crate) fn open(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        openat2(&self.workspace, path, flags, Mode::empty(), resolve)
    }

    /// Takes them away. Nothing of them remains once the last process that used them is gone.
    pub(crate) fn unmount(self) -> Result<(), Errno> {
        let layers = if self.copied { 1 } else { 2 };
        drop((self.workspace, self.upper, self.temporary));
        for _ in 0..layers {
            unmount(WORKSPACE, UnmountFlags::DETACH)?;
        }
        unmount(TEMPORARY, UnmountFlags::DETACH)?;
        if self.declared { Declared::clear() } else { Ok(()) }
    }
}
