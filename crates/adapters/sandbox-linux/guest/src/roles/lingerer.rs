//! What the prober leaves behind: processes that are hard to end, and objects that outlive whoever made them.

use core::ffi::CStr;

use linux_raw_sys::general as sys;
use rustix::fs::{CWD, FileType, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, setsid, waitpid};

use crate::roles::raw::{self, Fork};
use crate::roles::sleepers::{fork_sleepers, sleep};

const FIFO: &CStr = c"/tmp/fifo";
/// A name that nobody else uses, for objects of every kind.
const NAME: &CStr = c"/ambit-leftover";

/// Leaves something of a kind behind, and says how many processes that took.
pub(super) fn linger(kind: &CStr) -> Result<usize, Errno> {
    match kind.to_bytes() {
        b"daemon" => behind(|| {
            setsid()?;
            // Its parent ends, so that nobody but the first process can wait for it.
            match raw::fork()? {
                Fork::Parent(_) => raw::exit(0),
                Fork::Child => deaf(),
            }
        }),
        b"stopped" => {
            let child = child(|| {
                kill_process(rustix::process::getpid(), Signal::STOP)?;
                sleep()
            })?;
            waitpid(Some(child), WaitOptions::UNTRACED).map(|_| 1)
        }
        b"zombies" => behind(|| {
            for _ in 0..20 {
                child(|| Ok(0))?;
            }
            deaf()
        }),
        b"blocked" => {
            rustix::fs::mknodat(CWD, FIFO, FileType::Fifo, Mode::from_raw_mode(0o644), 0)?;
            behind(|| openat(CWD, FIFO, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map(|_| 0))
        }
        // The parent waits, deaf to everything but its end, for a child that never ends.
        b"waiting" => behind(|| {
            raw::block_signals()?;
            let flags = (sys::CLONE_VM | sys::CLONE_VFORK | sys::SIGCHLD) as usize;
            raw::attempt(sys::__NR_clone, [flags, 0, 0, 0, 0])?;
            sleep()
        }),
        b"objects" => behind(|| {
            objects();
            deaf()
        }),
        b"many" => fork_sleepers(20),
        _ => Err(Errno::INVAL),
    }
}

/// Does something in a child that is not waited for.
fn behind(what: impl Fn() -> Result<usize, Errno>) -> Result<usize, Errno> {
    child(what).map(|_| 1)
}

fn child(what: impl Fn() -> Result<usize, Errno>) -> Result<Pid, Errno> {
    match raw::fork()? {
        Fork::Child => raw::exit(u8::from(what().is_err())),
        Fork::Parent(child) => Ok(child),
    }
}

fn deaf() -> Result<usize, Errno> {
    raw::block_signals()?;
    sleep()
}

/// A file in each place that can be written, a segment, a set of semaphores and two queues. What the sandbox does not have
/// is left out.
fn objects() {
    const CREATE: usize = 0o1000 | 0o600;
    let create = (sys::O_CREAT | sys::O_RDWR) as usize;
    for path in [c"/tmp/ambit-leftover", c"/dev/shm/ambit-leftover", c"/workspace/ambit-leftover"] {
        let _ = raw::attempt(sys::__NR_open, [path.as_ptr() as usize, create, 0o644, 0, 0]);
    }
    let _ = raw::attempt(sys::__NR_shmget, [KEY, 4096, CREATE, 0, 0]);
    let _ = raw::attempt(sys::__NR_semget, [KEY, 1, CREATE, 0, 0]);
    let _ = raw::attempt(sys::__NR_msgget, [KEY, CREATE, 0, 0, 0]);
    // The kernel takes the name of a queue without the slash.
    let name = NAME.as_ptr() as usize + 1;
    let _ = raw::attempt(sys::__NR_mq_open, [name, create, 0o600, 0, 0]);
}

const KEY: usize = 0x0a3b_17c5;
