//! The threads in which everything but the smallest verbs works. Whether they can be had is tried before: the library that
//! makes them gives up where one is refused to it, and says nothing that helps.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// Threads that wait for events.
const WORKERS: usize = 2;
/// Threads that wait for the disk. With so many, none waits for one that there is no room for.
const HANDS: usize = 4;
/// The limit of descriptors that most systems give a program, and the least with which a run works.
const USUAL_DESCRIPTORS: u64 = 1024;
const LEAST_DESCRIPTORS: u64 = 128;
/// As long as the program lives: a thread that it has, nobody else takes.
const FOR_GOOD: Duration = Duration::from_secs(1 << 30);

/// Threads for work that waits for many things at once.
pub(crate) fn many() -> Result<Runtime, Failure> {
    gathered(WORKERS + HANDS, Builder::new_multi_thread().worker_threads(WORKERS))
}

/// This thread, and one for work that takes long.
pub(crate) fn two() -> Result<Runtime, Failure> {
    gathered(1, &mut Builder::new_current_thread())
}

fn gathered(threads: usize, builder: &mut Builder) -> Result<Runtime, Failure> {
    let tried = make_room().and_then(|()| try_threads(threads)).and_then(|()| try_descriptors());
    let built = tried.and_then(|()| builder.thread_keep_alive(FOR_GOOD).enable_all().build());
    let runtime = built.map_err(|error| refused(&error))?;
    // Whoever writes beyond the largest file that may be is told so then, and not ended.
    {
        let _within = runtime.enter();
        drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw())));
    }
    Ok(runtime)
}

/// Raises the limit of descriptors to what is usual, where this process may, and refuses one with which little would work.
fn make_room() -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let room = limit.maximum.map_or(USUAL_DESCRIPTORS, |most| most.min(USUAL_DESCRIPTORS));
    if limit.current.is_some_and(|now| now < room) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(room), ..limit });
    }
    match getrlimit(Resource::Nofile).current {
        Some(now) if now < LEAST_DESCRIPTORS => Err(Errno::MFILE.into()),
        _ => Ok(()),
    }
}

/// Starts so many threads at once, and ends them.
fn try_threads(count: usize) -> io::Result<()> {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let start = |_| {
        let gate = Arc::clone(&gate);
        let wait = move || drop(gate.lock());
        std::thread::Builder::new().stack_size(16 << 10).spawn(wait)
    };
    let started: Vec<io::Result<_>> = (0..count).map(start).collect();
    drop(closed);
    let threads = started.into_iter().map(|thread| thread.map(|thread| drop(thread.join())));
    threads.fold(Ok(()), Result::and)
}

/// Takes as many descriptors as the library does by which its threads wake each other and hear of signals.
fn try_descriptors() -> io::Result<()> {
    let queue = || epoll::create(epoll::CreateFlags::CLOEXEC);
    let _held: [_; 8] = [queue()?, queue()?, queue()?, queue()?, queue()?, queue()?, queue()?, queue()?];
    Ok(())
}

fn refused(error: &io::Error) -> Failure {
    let mend = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::PERM | Errno::NOSYS) => {
            "let clone3 and clone make threads (in a container: its seccomp profile)"
        }
        Some(Errno::MFILE | Errno::NFILE) => "raise the limit of open files (`ulimit -n`) to at least 128",
        Some(Errno::NOMEM) => "free memory, or raise the limit of that of a process (`ulimit -v`)",
        _ => {
            "end other processes of this user, or raise the limit of them (`ulimit -u`, or pids.max of the control group)"
        }
    };
    let message = format!("this program cannot have the threads that it needs: {error}");
    Failure::new("RUNTIME_UNAVAILABLE", message).help(format!("nothing was changed; {mend}"))
}
