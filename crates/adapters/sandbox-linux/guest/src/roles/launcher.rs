//! The launcher: a process that confines itself, waits for its command, and becomes it.
//!
//! Everything that takes time is done before the command is known. What is left then is descriptors, limits, the working
//! directory and the exec, under the same walls as the command itself.

use core::ffi::CStr;

use rustix::event::{Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::Step;
use crate::roles::landlock::Wall;
use crate::roles::raw::{self, Fork, Strings};
use crate::roles::root::At;
use crate::roles::text::Text;
use crate::roles::volumes;
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
    /// Starts one, before it is known on which tree its command will run.
    pub(crate) fn start(filter: &[u8]) -> Result<Self, Failed> {
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .at(Step::Launcher)?;
        match raw::fork().at(Step::Launcher)? {
            Fork::Parent(pid) => Ok(Self { pid, socket: near, failure: None }),
            Fork::Child => {
                drop(near);
                let begun = begin().and_then(|wall| {
                    await_volumes(far.as_fd()).at(Step::Message)?;
                    Ok(wall)
                });
                let confined = begun
                    .and_then(|wall| confine(wall, filter))
                    .and_then(|listener| tell(far.as_fd(), listener).at(Step::Filter));
                let how = match confined {
                    Ok(()) => launch(far.as_fd()),
                    Err(failed) => How::NotConfined(failed),
                };
                let _ = socket::send(far.as_fd(), &how, &[]);
                raw::exit(127)
            }
        }
    }

    /// Lets it confine itself to the volumes that are mounted now.
    pub(crate) fn confine(&self) -> Result<(), Errno> {
        socket::send_bytes(self.socket.as_fd(), &VOLUMES_READY, &[])
    }

    /// Where it takes the message of its command, once it is confined.
    pub(crate) fn door(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
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

    /// Where its filter asks, once it is confined; `None` where it cannot ask, or could not confine itself.
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

/// The first message to a launcher.
const VOLUMES_READY: [u8; 1] = [0];

/// The first message of a launcher that is confined. It is none of those that tell why it failed.
const CONFINED: [u8; 1] = [u8::MAX];

fn tell(socket: BorrowedFd<'_>, listener: Option<OwnedFd>) -> Result<(), Errno> {
    match listener {
        Some(listener) => socket::send_bytes(socket, &CONFINED, &[listener.as_fd()]),
        None => socket::send_bytes(socket, &CONFINED, &[]),
    }
}

/// What needs no volumes.
fn begin() -> Result<Option<Wall>, Failed> {
    rustix::process::setsid().at(Step::Launcher)?;
    first_to_be_killed().at(Step::Launcher)?;
    rustix::process::umask(Mode::from_raw_mode(0o022));
    raw::set_children(raw::Children::Awaited).at(Step::Launcher)?;
    Wall::raise().at(Step::Landlock)
}

/// Waits until the volumes are mounted. Where they never are, there is nothing to do.
fn await_volumes(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    match socket::receive(socket, &mut [0; 8])? {
        (0, _) => raw::exit(0),
        _ => Ok(()),
    }
}

fn confine(wall: Option<Wall>, filter: &[u8]) -> Result<Option<OwnedFd>, Failed> {
    if let Some(wall) = wall {
        let volumes = volumes::tops().at(Step::Landlock)?;
        wall.close(volumes.each_ref().map(OwnedFd::as_fd)).at(Step::Landlock)?;
    }
    let nothing = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing })
        .at(Step::Capabilities)?;
    raw::set_filter(filter).at(Step::Filter)
}

/// Makes the command the first choice of the kernel when memory runs out, before the guest and before the host.
fn first_to_be_killed() -> Result<(), Errno> {
    // The file belongs to root while the process is not dumpable. Nothing else runs in the sandbox meanwhile.
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    let score = open(c"/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&score, b"1000")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Waits for the command and becomes it. Answers only where it cannot.
fn launch(socket: BorrowedFd<'_>) -> How {
    let buffer = match raw::allocate::<[u8; MESSAGE_BYTES]>().at(Step::Launcher) {
        Ok(buffer) => buffer,
        Err(failed) => return How::NotConfined(failed),
    };
    let Ok((len, [Some(stdout), Some(stderr), ..])) = socket::receive(socket, buffer) else {
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
    let path = strings(command.environment).find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    execute(program, path, &arguments, &environment)
}

/// How often, and after which pause, a program is tried again that somebody has open for writing: whoever brought it wrote it
/// a moment ago, and what was started there at the same time lets go of it by itself.
const WRITTEN_LOOKS: u32 = 2000;
const WRITTEN_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Becomes the program, which is looked for along `path` where its name is none. Answers only where it cannot.
pub(crate) fn execute(
    program: &CStr,
    path: Option<&[u8]>,
    arguments: &Strings<'_>,
    environment: &Strings<'_>,
) -> How {
    let attempt = |path: &CStr| {
        let mut why = raw::execve(path, arguments, environment);
        for _ in 0..WRITTEN_LOOKS {
            if why != Errno::TXTBSY {
                break;
            }
            let _ = poll(&mut [], Some(&WRITTEN_PAUSE));
            why = raw::execve(path, arguments, environment);
        }
        why
    };
    let mut why = How::NotFound;
    if program.to_bytes().contains(&b'/') {
        return refusal(program, attempt(program)).unwrap_or(why);
    }
    let path = path.unwrap_or(DEFAULT_PATH);
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
