//! The keeper: the process beside a container of another runtime.
//!
//! It waits until it was placed, starts the runtime, and reaps the runtime and whatever the runtime leaves, the first
//! process of the container among it. So its own end is the end of all of them.

use core::ffi::CStr;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, read};
use rustix::process::{Pid, WaitOptions};

use crate::roles::raw::{self, Fork, Strings};

/// The exit code where the runtime could not be started, or nothing was to be started.
pub(crate) const NOT_STARTED: u8 = 125;

/// Runs `argument(2)` with the arguments after it once a byte arrives on standard input; answers its exit code.
pub fn run(argument: impl Fn(usize) -> Option<&'static CStr>) -> u8 {
    keep(argument).unwrap_or(NOT_STARTED)
}

fn keep(argument: impl Fn(usize) -> Option<&'static CStr>) -> Result<u8, Errno> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    if read(raw::standard_stream(0), &mut [0; 1])? == 0 {
        return Ok(NOT_STARTED);
    }
    let runtime = start_runtime(&argument, 2)?;
    let_go_of_streams()?;
    reap(runtime)
}

/// Starts the runtime, whose words begin with that of the number `first`.
pub(super) fn start_runtime(
    argument: &impl Fn(usize) -> Option<&'static CStr>,
    first: usize,
) -> Result<Pid, Errno> {
    match raw::fork()? {
        Fork::Parent(runtime) => Ok(runtime),
        Fork::Child => {
            let _ = become_runtime(argument, first);
            raw::exit(NOT_STARTED)
        }
    }
}

/// Answers only where that fails.
fn become_runtime(argument: &impl Fn(usize) -> Option<&'static CStr>, first: usize) -> Result<(), Errno> {
    raw::unblock_signals()?;
    let program = argument(first).ok_or(Errno::INVAL)?;
    let arguments = Strings::of((first..).map_while(argument))?;
    let environment = Strings::of([c"PATH=/usr/sbin:/usr/bin:/sbin:/bin"].into_iter())?;
    Err(raw::execve(program, &arguments, &environment))
}

/// Nobody shall wait for the end of a stream because the keeper holds it.
pub(super) fn let_go_of_streams() -> Result<(), Errno> {
    let nothing = openat(CWD, c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)
}

/// Waits for everything; answers what the runtime itself ended with.
fn reap(runtime: Pid) -> Result<u8, Errno> {
    let mut code = NOT_STARTED;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == runtime => {
                code = status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_STARTED);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return Ok(code),
            Err(errno) => return Err(errno),
        }
    }
}
