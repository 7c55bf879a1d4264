//! What a runtime mounts by itself in a container that is made without root. Some mount more than they are told to hide
//! what is to be hidden, and forget over it what they were told.

use linux_raw_sys::general as sys;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use rustix::process::WaitOptions;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::roles::memory::each_number;
use crate::roles::raw::{self, Fork, Reach};
use crate::roles::text::Text;

const PATH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Takes privilege by a file from every mount of the container, and writing and devices from those below its `/proc`. The
/// runtime has gone, and what this process namespace holds beside its first process is in the container, or waits for it.
pub(crate) fn shed_privilege() -> Result<(), Errno> {
    let proc = open(c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let own = fstat(mounts_of(proc.as_fd(), 1)?)?.st_ino;
    each_number(proc.as_fd(), |process| match mounts_of(proc.as_fd(), process) {
        Ok(namespace) if fstat(&namespace)?.st_ino != own => in_a_process(|| restrict(&namespace)),
        // One that has ended has none.
        Ok(_) | Err(Errno::NOENT | Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno),
    })
}

fn mounts_of(proc: BorrowedFd<'_>, process: usize) -> Result<OwnedFd, Errno> {
    let path: Text<32> = Text::format(format_args!("{process}/ns/mnt"))?;
    openat(proc, path.as_c_str()?, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Does something in a process of its own, because the way back would have to be kept open.
fn in_a_process(work: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
    match raw::fork()? {
        Fork::Child => raw::exit(u8::from(work().is_err())),
        Fork::Parent(child) => loop {
            match rustix::process::waitpid(Some(child), WaitOptions::empty()) {
                Ok(Some((_, status))) if status.exit_status() == Some(0) => return Ok(()),
                Ok(Some(_)) => return Err(Errno::PERM),
                Ok(None) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        },
    }
}

fn restrict(namespace: &OwnedFd) -> Result<(), Errno> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Mount))?;
    let root = openat(CWD, c"/", PATH, Mode::empty())?;
    raw::restrict_mount(root.as_fd(), Reach::All, sys::MOUNT_ATTR_NOSUID)?;
    let proc = openat(CWD, c"/proc", PATH, Mode::empty())?;
    raw::restrict_mount(proc.as_fd(), Reach::All, sys::MOUNT_ATTR_RDONLY | sys::MOUNT_ATTR_NODEV)?;
    // What a process may change of itself stays so.
    raw::let_write(proc.as_fd())
}
