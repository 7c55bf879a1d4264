//! The keeper of a container that is made without root.
//!
//! It leaves for namespaces of its own, where it has what a runtime needs of root and reaches nothing of the host with it,
//! and starts a second process, the first of the new process namespace. That one puts the files of the container together,
//! starts the runtime and reaps as any keeper does. Whatever is ever started there is in that namespace: when the second
//! process ends, all of it has ended. This one ends right after, and is killed where whoever started it ends, the second
//! with it.
//!
//! No control group bounds what runs there, so the second process looks at the memory of all of them together, once the
//! runtime has gone.
//!
//! What is told, on the socket that is standard input: `keeper PID` and `staged`, in either order, or `failed STEP ERRNO`;
//! `kept` once the runtime has gone; `exceeded` where more memory is held than may be; `spent MICROSECONDS` of processor
//! time at the end.

use core::ffi::CStr;
use core::time::Duration;

use linux_raw_sys::general as sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd as _;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal};

use crate::roles::inside;
use crate::roles::keeper::{NOT_STARTED, let_go_of_streams, start_runtime};
use crate::roles::memory::Memory;
use crate::roles::raw::{self, Children, Fork};
use crate::roles::text::{Text, number};
use crate::roles::tree::{self, Files};

const NAMESPACES: u32 = sys::CLONE_NEWUSER
    | sys::CLONE_NEWNS
    | sys::CLONE_NEWPID
    | sys::CLONE_NEWNET
    | sys::CLONE_NEWIPC
    | sys::CLONE_NEWUTS
    | sys::CLONE_NEWCGROUP;
/// Where the words of the runtime begin.
const RUNTIME: usize = 8;
/// The pause between two looks at the memory.
const LOOK: Duration = Duration::from_millis(20);

/// A step that failed.
pub(crate) type Failed = (&'static str, Errno);

/// Names the step at which something failed.
pub(crate) trait At<T> {
    /// Names the step.
    fn at(self, step: &'static str) -> Result<T, Failed>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, step: &'static str) -> Result<T, Failed> {
        self.map_err(|errno| (step, errno))
    }
}

/// Keeps the container that the arguments name: the directory of the image, that of the tree, the bytes and the number of
/// files that can be written, `hidden` where no control group is to be seen, the bytes of memory that may be held (with a `+`
/// before them, beyond what is held once the runtime has gone), and then the runtime and its words. The working directory is
/// the stage. Answers the exit code of the runtime.
pub fn run<A: Fn(usize) -> Option<&'static CStr>>(argument: A) -> u8 {
    lead(&argument).unwrap_or_else(|failed| {
        tell_failure(failed);
        NOT_STARTED
    })
}

fn lead<A: Fn(usize) -> Option<&'static CStr>>(argument: &A) -> Result<u8, Failed> {
    leave().at("namespaces")?;
    set_parent_process_death_signal(Some(Signal::KILL)).at("parent")?;
    // What is typed at a terminal is for whoever started this, who ends the container in its own way.
    rustix::process::setsid().at("processes")?;
    raw::set_children(Children::Awaited).at("processes")?;
    match raw::fork().at("processes")? {
        Fork::Child => raw::exit(keep(argument).unwrap_or_else(|failed| {
            tell_failure(failed);
            NOT_STARTED
        })),
        Fork::Parent(second) => {
            tell(format_args!("keeper {}\n", second.as_raw_nonzero())).at("processes")?;
            let_go_of_streams().at("processes")?;
            ended(second).at("processes")
        }
    }
}

/// Leaves for namespaces of its own, where this user is root and nobody else is anybody.
fn leave() -> Result<(), Errno> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    raw::leave_for(NAMESPACES)?;
    // The kernel lets an ordinary user map a group only when the groups can no longer be changed.
    put(c"/proc/self/setgroups", format_args!("deny"))?;
    put(c"/proc/self/uid_map", format_args!("0 {user} 1"))?;
    put(c"/proc/self/gid_map", format_args!("0 {group} 1"))
}

fn put(path: &CStr, value: core::fmt::Arguments<'_>) -> Result<(), Errno> {
    let value: Text<40> = Text::format(value)?;
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    write(&file, value.as_bytes()).map(drop)
}

fn tell(line: core::fmt::Arguments<'_>) -> Result<(), Errno> {
    let line: Text<64> = Text::format(line)?;
    write(raw::standard_stream(0), line.as_bytes()).map(drop)
}

fn tell_failure((step, errno): Failed) {
    let _ = tell(format_args!("failed {step} {}\n", errno.raw_os_error()));
}

/// Waits for the second process; answers its exit code.
fn ended(second: Pid) -> Result<u8, Errno> {
    loop {
        match rustix::process::waitpid(Some(second), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                return Ok(status
                    .exit_status()
                    .and_then(|code| u8::try_from(code).ok())
                    .unwrap_or(NOT_STARTED));
            }
            Ok(None) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// The second process: builds the stage, starts the runtime once it is let, and reaps until nobody is left.
fn keep<A: Fn(usize) -> Option<&'static CStr>>(argument: &A) -> Result<u8, Failed> {
    set_parent_process_death_signal(Some(Signal::KILL)).at("processes")?;
    let text = |index| argument(index).unwrap_or(c"");
    tree::assemble(&Files {
        image: text(2),
        tree: text(3),
        bytes: number(text(4).to_bytes()),
        files: number(text(5).to_bytes()),
        hide_groups: text(6) == c"hidden",
    })?;
    tell(format_args!("staged\n")).at("processes")?;
    if read(raw::standard_stream(0), &mut [0; 1]).at("processes")? == 0 {
        return Ok(NOT_STARTED);
    }
    raw::block_signals().at("processes")?;
    let runtime = start_runtime(argument, RUNTIME).at("processes")?;
    let control = rustix::io::fcntl_dupfd_cloexec(raw::standard_stream(0), 3).at("processes")?;
    let_go_of_streams().at("processes")?;
    let say = |line: core::fmt::Arguments<'_>| -> Result<(), Errno> {
        let line: Text<64> = Text::format(line)?;
        write(&control, line.as_bytes()).map(drop)
    };
    reap(runtime, text(7).to_bytes(), say).at("processes")
}

/// Reaps until nobody is left; answers what the runtime itself ended with.
fn reap(
    runtime: Pid,
    limit: &[u8],
    say: impl Fn(core::fmt::Arguments<'_>) -> Result<(), Errno>,
) -> Result<u8, Errno> {
    let children = raw::child_events()?;
    let mut memory = None;
    let pause = Timespec::try_from(LOOK).ok();
    let (mut code, mut of_the_runtime_us) = (NOT_STARTED, 0);
    loop {
        let mut watched = [PollFd::from_borrowed_fd(children.as_fd(), PollFlags::IN)];
        poll(&mut watched, pause.as_ref().filter(|_| memory.is_some()))?;
        let _ = read(&children, &mut [0; 128]);
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == runtime => {
                    code =
                        status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_STARTED);
                    of_the_runtime_us = raw::children_cpu_us();
                    if !limit.starts_with(b"+") {
                        inside::shed_privilege()?;
                    }
                    memory = Some(match limit.strip_prefix(b"+") {
                        Some(more) => Memory::of_another_kernel(number(more) as u64),
                        None => Memory::new(number(limit) as u64),
                    });
                    say(format_args!("kept\n"))?;
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(Errno::CHILD) => {
                    // Nobody may be there any more who hears it.
                    let spent_us = raw::children_cpu_us().saturating_sub(of_the_runtime_us);
                    let _ = say(format_args!("spent {spent_us}\n"));
                    return Ok(code);
                }
                Err(errno) => return Err(errno),
            }
        }
        if memory.as_ref().is_some_and(Memory::is_exceeded) {
            memory = None;
            say(format_args!("exceeded\n"))?;
        }
    }
}
