//! The volumes of one command: a writable view of a tree at `/workspace`, an empty `/tmp`, and the declared ones.

use core::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, XattrFlags, fsetxattr, fstatfs, mkdirat, openat, openat2,
    unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::Step;
use crate::roles::copy;
use crate::roles::declared::Declared;
use crate::roles::mounts::{attach, temporary};
use crate::roles::root::At;
use crate::roles::text::Text;
use crate::wire::{Failed, Sizes, Volumes};

const WORKSPACE: &CStr = c"/workspace";
const TEMPORARY: &CStr = c"/tmp";
/// Where an overlay keeps its changes, and where it works, in the upper volume.
const LAYERS: [&CStr; 2] = [c"upper", c"work"];

/// Empty volumes: they are mounted, and there is no tree in them yet.
pub(crate) struct Blank {
    /// How large they are.
    pub sizes: Sizes,
    /// Whether an overlay can keep its changes in them.
    layered: bool,
    upper: OwnedFd,
    temporary: OwnedFd,
}

/// Volumes with a tree.
pub(crate) struct Mounted {
    /// What they are.
    pub volumes: Volumes,
    /// Whether the workspace is a copy.
    pub copied: bool,
    /// Whether there is a place for declared volumes.
    declared: bool,
    workspace: OwnedFd,
    blank: Blank,
}

fn directory(path: &CStr) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// The tops of workspace and temporary volume, as whoever starts now finds them.
pub(crate) fn tops() -> Result<[OwnedFd; 2], Errno> {
    Ok([directory(WORKSPACE)?, directory(TEMPORARY)?])
}

impl Blank {
    /// Mounts empty volumes.
    pub(crate) fn lay(sizes: Sizes) -> Result<Self, Failed> {
        let size: Text<24> = Text::format(format_args!("{}", sizes.disk_bytes)).at(Step::Volumes)?;
        let files: Text<24> = Text::format(format_args!("{}", sizes.disk_files)).at(Step::Volumes)?;
        let (size, files) = (size.as_c_str().at(Step::Volumes)?, files.as_c_str().at(Step::Volumes)?);
        let fresh = temporary(size, files, c"1777").at(Step::Volumes)?;
        attach(fresh.as_fd(), CWD, TEMPORARY).at(Step::Volumes)?;
        let upper = temporary(size, files, c"0755").at(Step::Volumes)?;
        attach(upper.as_fd(), CWD, WORKSPACE).at(Step::Volumes)?;
        let [upper, temporary] = tops().at(Step::Volumes)?;
        let layered = make_layers(upper.as_fd()).is_ok();
        Ok(Self { sizes, layered, upper, temporary })
    }

    /// Takes them away.
    pub(crate) fn unmount(self) -> Result<(), Errno> {
        drop((self.upper, self.temporary));
        unmount(WORKSPACE, UnmountFlags::DETACH)?;
        unmount(TEMPORARY, UnmountFlags::DETACH)
    }
}

/// Makes the directories in which an overlay keeps its changes.
fn make_layers(upper: BorrowedFd<'_>) -> Result<(), Errno> {
    // Without such attributes a directory that replaces one of the tree could not hide what the tree has there.
    fsetxattr(upper, c"user.overlay.probe", b"y", XattrFlags::empty())?;
    LAYERS.iter().try_for_each(|name| mkdirat(upper, *name, Mode::from_raw_mode(0o755)))
}

/// Puts a tree into empty volumes. `trees` is the directory of the staged trees.
pub(crate) fn mount_tree(
    blank: Blank,
    volumes: Volumes,
    trees: BorrowedFd<'_>,
    declared: &Declared,
) -> Result<Mounted, Failed> {
    match fill(&blank, &volumes, trees, declared) {
        Ok((copied, declared, workspace)) => Ok(Mounted { volumes, copied, declared, workspace, blank }),
        Err(failed) => {
            // What could not be filled is of no use to the next command either.
            blank.unmount().at(Step::Volumes)?;
            Err(failed)
        }
    }
}

fn fill(
    blank: &Blank,
    volumes: &Volumes,
    trees: BorrowedFd<'_>,
    declared: &Declared,
) -> Result<(bool, bool, OwnedFd), Failed> {
    let has_declared = declared.lay(volumes.declared).at(Step::Declared)?;
    let copied = match if blank.layered { overlay(volumes, trees) } else { Err(Errno::OPNOTSUPP) } {
        Ok(()) => false,
        Err(Errno::NOENT) => return Err(Errno::NOENT).at(Step::Workspace),
        Err(_) => {
            for name in LAYERS {
                let _ = unlinkat(&blank.upper, name, AtFlags::REMOVEDIR);
            }
            copy::tree(volumes, trees, blank.upper.as_fd()).at(Step::Workspace)?;
            true
        }
    };
    Ok((copied, has_declared, directory(WORKSPACE).at(Step::Workspace)?))
}

/// Lays an overlay over the upper volume, which holds the changes and is hidden by it.
fn overlay(volumes: &Volumes, trees: BorrowedFd<'_>) -> Result<(), Errno> {
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
    /// Whether one of them has no block or no file left.
    pub(crate) fn is_full(&self) -> bool {
        [&self.blank.upper, &self.blank.temporary]
            .into_iter()
            .any(|volume| fstatfs(volume).is_ok_and(|left| left.f_bavail == 0 || left.f_ffree == 0))
    }

    /// Opens what lies at a path of the workspace, or of the layer that holds what was written in it, for reading. An empty
    /// path is the top. No link is followed, whatever its place on the way, and nothing that is not a file is waited for. A
    /// copy of a tree has no such layer.
    pub(crate) fn open(&self, written: bool, path: &CStr) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { c"." } else { path };
        if !written {
            return Self::open_below(&self.workspace, path);
        }
        if self.copied {
            return Err(Errno::OPNOTSUPP);
        }
        let [upper, _] = LAYERS;
        Self::open_below(&Self::open_below(&self.blank.upper, upper)?, path)
    }

    fn open_below(top: &OwnedFd, path: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        openat2(top, path, flags, Mode::empty(), resolve)
    }

    /// Takes them away. Nothing of them remains once the last process that used them is gone.
    pub(crate) fn unmount(self) -> Result<(), Errno> {
        drop(self.workspace);
        if !self.copied {
            unmount(WORKSPACE, UnmountFlags::DETACH)?;
        }
        self.blank.unmount()?;
        if self.declared { Declared::clear() } else { Ok(()) }
    }
}
