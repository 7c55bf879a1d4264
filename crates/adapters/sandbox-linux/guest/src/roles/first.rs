//! The first process of a container of another runtime: it starts one command, ends what the command leaves, and tells how
//! it ended.
//!
//! Standard input is a socket whose other end the adapter holds. The container says `ready`; a byte from outside starts
//! the command; another, or the end of the socket, ends it. The last line is the account. The command never has the
//! socket, and cannot look into this process: it is not dumpable.

use core::ffi::CStr;
use core::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, WaitOptions, WaitStatus, set_dumpable_behavior, setrlimit,
};

use crate::Step;
use crate::roles::launcher::execute;
use crate::roles::raw::{self, Fork, Strings};
use crate::roles::supervisor::{kill_all, kill_the_rest};
use crate::roles::text::{Text, number};
use crate::wire::{Failed, How};

/// Where the words of the command begin: after the program, the role, the time, the memory, the directory and the count of
/// variables.
const VARIABLES: usize = 6;

/// What the command is to be.
struct Command<A> {
    argument: A,
    wall_ms: u64,
    /// The memory of each process, where it is not bounded otherwise; else 0.
    data_bytes: u64,
    workdir: &'static CStr,
    variables: usize,
}

/// Runs the command that the arguments name; answers 0 where its account was given.
pub fn run<A: Fn(usize) -> Option<&'static CStr>>(argument: A) -> u8 {
    let text = |index| argument(index).unwrap_or(c"");
    let command = Command {
        wall_ms: number(text(2).to_bytes()) as u64,
        data_bytes: number(text(3).to_bytes()) as u64,
        workdir: text(4),
        variables: number(text(5).to_bytes()),
        argument,
    };
    u8::from(command.run().is_err())
}

impl<A: Fn(usize) -> Option<&'static CStr>> Command<A> {
    fn run(&self) -> Result<(), Errno> {
        let control = raw::standard_stream(0);
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        raw::block_signals()?;
        raw::set_children(raw::Children::Awaited)?;
        let children = raw::child_events()?;
        write(control, b"ready\n")?;
        if read(control, &mut [0; 1])? == 0 {
            return Err(Errno::PIPE);
        }
        let started_us = raw::monotonic_us();
        // A socket: where another kernel lets a process look at the descriptors of this one, it cannot open that by a path.
        let (failure, failed) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let main = match raw::fork()? {
            Fork::Parent(main) => main,
            Fork::Child => {
                let _ = write(&failed, &code(self.become_command()));
                raw::exit(127)
            }
        };
        drop(failed);
        let nothing = openat(CWD, c"/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
        let deadline_us = started_us.saturating_add(self.wall_ms.saturating_mul(1000));
        let (how, by, mut killed) = until_ended(children.as_fd(), main, deadline_us)?;
        killed += kill_the_rest()?;
        let how = told(&failure)?.unwrap_or(how);
        let wall_us = raw::monotonic_us().saturating_sub(started_us);
        let (word, value) = match how {
            How::Exited(code) => ("exited", code),
            How::Signalled(signal) => ("signalled", signal),
            How::NotFound => ("not-found", 0),
            How::NotExecutable => ("not-executable", 0),
            How::NoWorkdir => ("no-workdir", 0),
            How::NotConfined(failed) => ("not-confined", u8::try_from(failed.errno).unwrap_or(0)),
        };
        let account: Text<128> =
            Text::format(format_args!("ended {word} {value} {by} {killed} {wall_us}\n"))?;
        write(control, account.as_bytes()).map(drop)
    }

    /// Answers only where the command cannot be started.
    fn become_command(&self) -> How {
        match self.prepare() {
            Ok(()) => {}
            Err(how) => return how,
        }
        let variables = || (VARIABLES..VARIABLES + self.variables).map_while(&self.argument);
        let words = || (VARIABLES + self.variables..).map_while(&self.argument);
        let (arguments, environment) = match (Strings::of(words()), Strings::of(variables())) {
            (Ok(arguments), Ok(environment)) => (arguments, environment),
            (Err(errno), _) | (_, Err(errno)) => return not_confined(errno),
        };
        let Some(program) = words().next() else { return How::NotFound };
        let path = variables().find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
        execute(program, path, &arguments, &environment)
    }

    fn prepare(&self) -> Result<(), How> {
        self.enter_workdir().map_err(|_| How::NoWorkdir)?;
        if self.data_bytes > 0 {
            let limit = Some(self.data_bytes);
            setrlimit(Resource::Data, Rlimit { current: limit, maximum: limit }).map_err(not_confined)?;
        }
        detach().map_err(not_confined)
    }

    fn enter_workdir(&self) -> Result<(), Errno> {
        rustix::process::chdir(c"/workspace")?;
        if self.workdir.is_empty() {
            return Ok(());
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(CWD, self.workdir, flags, Mode::empty(), resolve) {
            Ok(directory) => rustix::process::fchdir(directory),
            // Not every kernel has the call, or a filter knows it. A link that leads out of the workspace leads to what the
            // command sees anyway.
            Err(Errno::NOSYS | Errno::PERM) => rustix::process::chdir(self.workdir),
            Err(errno) => Err(errno),
        }
    }
}

/// Leaves everything behind that is not the command's.
fn detach() -> Result<(), Errno> {
    rustix::process::setsid()?;
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let nothing = openat(CWD, c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    raw::close_from(3, raw::Closing::AtExec)?;
    raw::unblock_signals()
}

fn not_confined(errno: Errno) -> How {
    How::NotConfined(Failed { step: Step::Launcher, errno: errno.raw_os_error() })
}

/// The two bytes by which a process tells why it did not become the command.
fn code(how: How) -> [u8; 2] {
    match how {
        How::NotFound => [1, 0],
        How::NoWorkdir => [3, 0],
        How::NotConfined(failed) => [4, u8::try_from(failed.errno).unwrap_or(0)],
        _ => [2, 0],
    }
}

fn told(failure: &OwnedFd) -> Result<Option<How>, Errno> {
    let mut code = [0; 2];
    Ok(match (read(failure, &mut code)?, code) {
        (0, _) => None,
        (_, [1, _]) => Some(How::NotFound),
        (_, [3, _]) => Some(How::NoWorkdir),
        (_, [4, errno]) => Some(not_confined(Errno::from_raw_os_error(i32::from(errno)))),
        _ => Some(How::NotExecutable),
    })
}

/// Waits for the end of the main process, by itself or by force.
fn until_ended(
    children: rustix::fd::BorrowedFd<'_>,
    main: Pid,
    deadline_us: u64,
) -> Result<(How, &'static str, u32), Errno> {
    let mut by = "itself";
    let mut killed = 0;
    loop {
        let left = Duration::from_micros(deadline_us.saturating_sub(raw::monotonic_us()));
        let mut watched = [children, raw::standard_stream(0)]
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        // Once everything is being killed, only its end matters.
        let (count, timeout) = if by == "itself" { (2, Timespec::try_from(left).ok()) } else { (1, None) };
        poll(&mut watched[..count], timeout.as_ref())?;
        if !watched[0].revents().is_empty() {
            let _ = read(children, &mut [0; 128]);
        }
        while let Some((pid, status)) = next_ended()? {
            if pid == main {
                return Ok((status_of(status), by, killed));
            }
            killed += u32::from(by != "itself");
        }
        if by != "itself" {
            continue;
        }
        if !watched[1].revents().is_empty() {
            by = "request";
        } else if raw::monotonic_us() >= deadline_us {
            by = "deadline";
        }
        if by != "itself" {
            kill_all()?;
        }
    }
}

fn next_ended() -> Result<Option<(Pid, WaitStatus)>, Errno> {
    match rustix::process::wait(WaitOptions::NOHANG) {
        Err(Errno::CHILD) => Ok(None),
        other => other,
    }
}

fn status_of(status: WaitStatus) -> How {
    let number = |value: i32| u8::try_from(value & 0xff).unwrap_or(u8::MAX);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => How::Exited(number(code)),
        (_, signal) => How::Signalled(signal.map_or(9, number)),
    }
}
