//! What the prober tries with memory: each way of holding it that the kernel has.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

use linux_raw_sys::general as sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::roles::raw::{self, Fork};
use crate::roles::sleepers::{fork_sleepers, sleep};

const MEBIBYTE: usize = 1 << 20;
const WRITABLE: usize = (sys::PROT_READ | sys::PROT_WRITE) as usize;
const NO_FILE: usize = usize::MAX;

/// Holds a number of mebibytes in a way.
pub(super) fn hoard(way: &CStr, mebibytes: usize) -> Result<usize, Errno> {
    for _ in 0..mebibytes {
        match way.to_bytes() {
            b"private" => map(sys::MAP_PRIVATE | sys::MAP_ANONYMOUS).and_then(touch)?,
            b"stack" => map(sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_GROWSDOWN).and_then(touch)?,
            b"read-only" => {
                let at = map(sys::MAP_PRIVATE | sys::MAP_ANONYMOUS)?;
                touch(at)?;
                raw::attempt(sys::__NR_mprotect, [at, MEBIBYTE, sys::PROT_READ as usize, 0, 0])?
            }
            b"shared" => map(sys::MAP_SHARED | sys::MAP_ANONYMOUS).and_then(touch)?,
            b"touched-by-another" => {
                let at = map(sys::MAP_SHARED | sys::MAP_ANONYMOUS)?;
                in_a_child(|| touch(at))?
            }
            b"segment" => segment()?,
            _ => return Err(Errno::INVAL),
        };
    }
    Ok(mebibytes)
}

/// Holds it, for long enough to be looked at, and so many seconds more.
pub(super) fn hold(way: &CStr, mebibytes: usize, seconds: usize) -> Result<usize, Errno> {
    hoard(way, mebibytes).and_then(|_| stay(seconds))
}

/// Every one of some processes holds as much, all at the same time. Fails where one of them is ended.
pub(super) fn each(way: &CStr, mebibytes: usize, processes: usize, seconds: usize) -> Result<usize, Errno> {
    let (holding, tell) = pipe_with(PipeFlags::CLOEXEC)?;
    raw::block_signals()?;
    let ended = raw::child_events()?;
    for _ in 0..processes {
        if let Fork::Child = raw::fork()? {
            let _ = hoard(way, mebibytes).and_then(|_| write(&tell, &[1])).and_then(|_| sleep());
            raw::exit(1)
        }
    }
    let mut held = 0;
    while held < processes {
        let mut watched = [PollFd::new(&holding, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
        poll(&mut watched, None)?;
        let [_, ended] = watched.map(|watched| !watched.revents().is_empty());
        if ended {
            return Err(Errno::CHILD);
        }
        held += read(&holding, &mut [0; 16])?;
    }
    stay(seconds)
}

/// One process holds it, and its children have it too.
pub(super) fn together(way: &CStr, mebibytes: usize, processes: usize) -> Result<usize, Errno> {
    hoard(way, mebibytes)?;
    fork_sleepers(processes)?;
    stay(0)
}

/// Two processes have one memory.
pub(super) fn borrowed(way: &CStr, mebibytes: usize) -> Result<usize, Errno> {
    let (over, tell) = pipe_with(PipeFlags::CLOEXEC)?;
    if let Fork::Parent(_) = raw::fork()? {
        drop(tell);
        return read(&over, &mut [0; 1]);
    }
    let held = hoard(way, mebibytes).and_then(|_| {
        // The parent waits for the end of the child, which works on the parent's stack, so neither of them may return.
        let flags = (sys::CLONE_VM | sys::CLONE_VFORK | sys::SIGCHLD) as usize;
        raw::attempt(sys::__NR_clone, [flags, 0, 0, 0, 0])
    });
    if held == Ok(0) {
        let _ = stay(0).and_then(|_| write(&tell, &[1])).and_then(|_| sleep());
    }
    raw::exit(1)
}

/// A process whose first thread has ended holds it.
pub(super) fn headless(mebibytes: usize, seconds: usize) -> Result<usize, Errno> {
    static MEBIBYTES: AtomicUsize = AtomicUsize::new(0);
    static SECONDS: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn go_on() -> ! {
        let [mebibytes, seconds] = [&MEBIBYTES, &SECONDS].map(|number| number.load(Ordering::Relaxed));
        raw::exit(u8::from(hold(c"read-only", mebibytes, seconds).is_err()))
    }
    MEBIBYTES.store(mebibytes, Ordering::Relaxed);
    SECONDS.store(seconds, Ordering::Relaxed);
    in_a_child(|| raw::go_on_in_a_thread(go_on).map(|()| 0))
}

/// Several looks long, and so many seconds more: whoever is to be ended meanwhile is ended on a busy machine as well.
fn stay(seconds: usize) -> Result<usize, Errno> {
    let tv_sec = i64::try_from(seconds).unwrap_or(0);
    poll(&mut [], Some(&Timespec { tv_sec, tv_nsec: 300_000_000 }))
}

/// Maps a file so that writing would change it.
pub(super) fn map_file(path: &CStr) -> Result<usize, Errno> {
    let file =
        openat(CWD, path, OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?;
    let flags = sys::MAP_SHARED as usize;
    raw::attempt(sys::__NR_mmap, [0, MEBIBYTE, WRITABLE, flags, number_of(&file)]).map(|_| 0)
}

fn map(flags: u32) -> Result<usize, Errno> {
    raw::attempt(sys::__NR_mmap, [0, MEBIBYTE, WRITABLE, flags as usize, NO_FILE])
}

/// Lets the kernel write to every page.
fn touch(at: usize) -> Result<usize, Errno> {
    let zero = openat(CWD, c"/dev/zero", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    raw::attempt(sys::__NR_read, [number_of(&zero), at, MEBIBYTE, 0, 0])
}

fn number_of(file: &OwnedFd) -> usize {
    usize::try_from(file.as_raw_fd()).unwrap_or(usize::MAX)
}

/// A segment of System V that nobody has attached.
fn segment() -> Result<usize, Errno> {
    const CREATE: usize = 0o1000 | 0o600;
    let id = raw::attempt(sys::__NR_shmget, [0, MEBIBYTE, CREATE, 0, 0])?;
    let at = raw::attempt(sys::__NR_shmat, [id, 0, 0, 0, 0])?;
    touch(at)?;
    raw::attempt(sys::__NR_shmdt, [at, 0, 0, 0, 0])
}

/// Does something in a child, and fails where that ends in another way than well.
fn in_a_child(what: impl Fn() -> Result<usize, Errno>) -> Result<usize, Errno> {
    match raw::fork()? {
        Fork::Child => raw::exit(u8::from(what().is_err())),
        Fork::Parent(_) => match rustix::process::wait(rustix::process::WaitOptions::empty())? {
            Some((_, status)) if status.exit_status() == Some(0) => Ok(0),
            _ => Err(Errno::CHILD),
        },
    }
}
