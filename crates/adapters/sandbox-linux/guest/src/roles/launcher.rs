//! The launcher: a process that confines itself, waits for its command, and becomes it.
//!
//! Everything that takes time is done before the command is known. What is left then is descriptors, limits, the working
//! directory and the exec, under the same walls as the command itself.

use core::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::Step;
use crate::roles::raw::{self, Fork, Strings};
use crate::roles::root::At;
use crate::roles::text::Text;
use crate::roles::volumes::Mounted;
use crate::socket;
use crate::wire::{Execute, Failed, How, MESSAGE_BYTES, Message, ProcessLimits, Request};

/// Where programs are looked for when the environment does not say.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// A launcher that waits.
pub(crate) struct Launcher {
    /// Its process.
    pub pid: Pid,
    socket: OwnedFd,
    failure: Option<How>,
}

impl Launcher {
    /// Starts one for these volumes. Where memory is `counted`, its filter asks.
    pub(crate) fn start(volumes: &Mounted, filter: &[u8], counted: bool) -> Result<Self, Failed> {
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .at(Step::Launcher)?;
        match raw::fork().at(Step::Launcher)? {
            Fork::Parent(pid) => Ok(Self { pid, socket: near, failure: None }),
            Fork::Child => {
                drop(near);
                let confined = confine(volumes, filter, counted).and_then(|listener| {
                    if counted { tell(far.as_fd(), listener).at(Step::Filter) } else { Ok(()) }
                });
                let how = match confined {
                    Ok(()) => launch(far.as_fd()),
                    Err(failed) => How::NotConfined(failed),
                };
                let _ = socket::send(far.as_fd(), &how, &[]);
                raw::exit(127)
            }
        }
    }

    /// Hands it the message of its command.
    pub(crate) fn launch(
        &self,
        message: &[u8],
        stdout: BorrowedFd<'_>,
        stderr: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        socket::send_bytes(self.socket.as_fd(), message, &[stdout, stderr])
    }

    /// Where its filter asks, once it is confined; `None` where it does not, or could not confine itself.
    pub(crate) fn listener(&mut self) -> Option<OwnedFd> {
        let mut buffer = [0; 64];
        let (len, [listener, ..]) = socket::receive(self.socket.as_fd(), &mut buffer).ok()?;
        self.failure = How::decode(&buffer[..len]);
        listener
    }

    /// Why it did not become its command; `None` where it did. To be asked after it ended.
    pub(crate) fn failure(&self) -> Option<How> {
        if self.failure.is_some() {
            return self.failure;
        }
        let mut buffer = [0; 64];
        match socket::receive(self.socket.as_fd(), &mut buffer) {
            Ok((len, _)) => How::decode(&buffer[..len]),
            Err(_) => None,
        }
    }
}

/// The first message of a launcher that is to be counted. It is none of those that tell why it failed.
const CONFINED: [u8; 1] = [u8::MAX];

fn tell(socket: BorrowedFd<'_>, listener: Option<OwnedFd>) -> Result<(), Errno> {
    match listener {
        Some(listener) => socket::send_bytes(socket, &CONFINED, &[listener.as_fd()]),
        None => socket::send_bytes(socket, &CONFINED, &[]),
    }
}

fn confine(volumes: &Mounted, filter: &[u8], counted: bool) -> Result<Option<OwnedFd>, Failed> {
    rustix::process::setsid().at(Step::Launcher)?;
    first_to_be_killed().at(Step::Launcher)?;
    rustix::process::umask(Mode::from_raw_mode(0o022));
    raw::set_children(raw::Children::Awaited).at(Step::Launcher)?;
    fence(volumes).at(Step::Landlock)?;
    let nothing = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing })
        .at(Step::Capabilities)?;
    raw::set_filter(filter, counted).at(Step::Filter)
}

/// Makes the command the first choice of the kernel when memory runs out, before the guest and before the host.
fn first_to_be_killed() -> Result<(), Errno> {
    // The file belongs to root while the process is not dumpable. Nothing else runs in the sandbox meanwhile.
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    let score = open(c"/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&score, b"1000")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// The accesses of Landlock, by their bits in the kernel's interface.
mod access {
    pub(super) const EXECUTE: u64 = 1 << 0;
    pub(super) const WRITE_FILE: u64 = 1 << 1;
    pub(super) const READ_FILE: u64 = 1 << 2;
    pub(super) const READ_DIR: u64 = 1 << 3;
    pub(super) const MAKE_CHAR: u64 = 1 << 6;
    pub(super) const MAKE_BLOCK: u64 = 1 << 11;

    /// Every access that this version of Landlock can handle.
    pub(super) const fn all(version: u32) -> u64 {
        let bits = match version {
            ..=2 => 14,
            3 | 4 => 15,
            _ => 16,
        };
        (1 << bits) - 1
    }
}

/// A second wall: even where a mount could be written, only the volumes are.
fn fence(volumes: &Mounted) -> Result<(), Errno> {
    // Before its second version, Landlock forbids every rename from one directory to another.
    let Some(version) = raw::landlock_version().filter(|version| *version >= 2) else {
        return Ok(());
    };
    let all = access::all(version);
    let read = access::EXECUTE | access::READ_FILE | access::READ_DIR;
    let use_files = all & !(access::MAKE_CHAR | access::MAKE_BLOCK);
    let ruleset = raw::landlock_ruleset(all)?;
    let allow = |path: &CStr, allowed: u64| -> Result<(), Errno> {
        let below = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        raw::landlock_allow(ruleset.as_fd(), allowed, below.as_fd())
    };
    allow(c"/", read)?;
    allow(c"/dev", all & !access::EXECUTE & (read | access::WRITE_FILE | 1 << 14 | 1 << 15))?;
    allow(c"/proc", access::WRITE_FILE)?;
    raw::landlock_allow(ruleset.as_fd(), use_files, volumes.workspace())?;
    raw::landlock_allow(ruleset.as_fd(), use_files, volumes.temporary())?;
    raw::landlock_restrict(ruleset.as_fd())
}

/// Waits for the command and becomes it. Answers only where it cannot.
fn launch(socket: BorrowedFd<'_>) -> How {
    let buffer = match raw::allocate::<[u8; MESSAGE_BYTES]>().at(Step::Launcher) {
        Ok(buffer) => buffer,
        Err(failed) => return How::NotConfined(failed),
    };
    let Ok((len, [Some(stdout), Some(stderr), _])) = socket::receive(socket, buffer) else {
        raw::exit(0);
    };
    let Some(Request::Execute(command)) = Request::decode(&buffer[..len]) else {
        return How::NotConfined(Failed { step: Step::Message, errno: Errno::BADMSG.raw_os_error() });
    };
    match enter_workdir(command.workdir) {
        Ok(()) => {}
        Err(_) => return How::NoWorkdir,
    }
    if let Err(failed) = limit(command.limits).and_then(|()| connect(&stdout, &stderr).at(Step::Launcher)) {
        return How::NotConfined(failed);
    }
    become_command(&command)
}

fn enter_workdir(workdir: &CStr) -> Result<(), Errno> {
    rustix::process::chdir(c"/workspace")?;
    if workdir.is_empty() {
        return Ok(());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory =
        openat2(CWD, workdir, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS)?;
    rustix::process::fchdir(directory)
}

/// What all POSIX message queues of the sandbox's user hold together: the kernel's own default.
const QUEUE_BYTES: u64 = 819_200;

fn limit(limits: ProcessLimits) -> Result<(), Failed> {
    let all = [
        // No dump to a file, and none to a helper of the host either: that one looks only for this value.
        (Resource::Core, 1),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Nproc, limits.processes),
        (Resource::Data, limits.data_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Msgqueue, QUEUE_BYTES),
    ];
    for (resource, wanted) in all {
        let set = |value| setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
        match set(wanted) {
            // A limit that is tighter already cannot be, and need not be, raised.
            Err(Errno::PERM) => set(getrlimit(resource).maximum.unwrap_or(wanted)).at(Step::ProcessLimits)?,
            other => other.at(Step::ProcessLimits)?,
        }
    }
    Ok(())
}

/// Puts the standard streams in place. Every other descriptor is closed at the exec.
fn connect(stdout: &OwnedFd, stderr: &OwnedFd) -> Result<(), Errno> {
    rustix::stdio::dup2_stdout(stdout)?;
    rustix::stdio::dup2_stderr(stderr)?;
    raw::close_from(3, raw::Closing::AtExec)
}

fn become_command(command: &Execute<'_>) -> How {
    let not_confined =
        |errno: Errno| How::NotConfined(Failed { step: Step::Launcher, errno: errno.raw_os_error() });
    let arguments = match Strings::of(strings(command.arguments)) {
        Ok(arguments) => arguments,
        Err(errno) => return not_confined(errno),
    };
    let environment = match Strings::of(strings(command.environment)) {
        Ok(environment) => environment,
        Err(errno) => return not_confined(errno),
    };
    let Some(program) = strings(command.arguments).next() else {
        return How::NotFound;
    };
    if let Err(errno) = raw::unblock_signals() {
        return not_confined(errno);
    }
    let attempt = |path: &CStr| raw::execve(path, &arguments, &environment);
    let mut why = How::NotFound;
    if program.to_bytes().contains(&b'/') {
        return refusal(program, attempt(program)).unwrap_or(why);
    }
    let path = strings(command.environment)
        .find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="))
        .unwrap_or(DEFAULT_PATH);
    for directory in path.split(|byte| *byte == b':').filter(|directory| !directory.is_empty()) {
        let (Ok(directory), Ok(name)) = (core::str::from_utf8(directory), program.to_str()) else { continue };
        let Ok(candidate) = Text::<4096>::format(format_args!("{directory}/{name}")) else { continue };
        let Ok(candidate) = candidate.as_c_str() else { continue };
        why = refusal(candidate, attempt(candidate)).unwrap_or(why);
    }
    why
}

/// What a failed exec means; `None` where there was nothing to execute.
fn refusal(program: &CStr, errno: Errno) -> Option<How> {
    match errno {
        // The same number tells that the interpreter of a program that is there is missing.
        Errno::NOENT | Errno::NOTDIR => {
            let there = rustix::fs::statat(CWD, program, rustix::fs::AtFlags::empty()).is_ok();
            there.then_some(How::NotExecutable)
        }
        _ => Some(How::NotExecutable),
    }
}

fn strings(block: &[u8]) -> impl Iterator<Item = &CStr> {
    block.split_inclusive(|byte| *byte == 0).filter_map(|string| CStr::from_bytes_with_nul(string).ok())
}
