//! The guest: the first process of a sandbox.
//!
//! It serves one adapter over one socket and ends with it. Between commands nothing else runs in the sandbox; a command
//! is over when its main process ended, and then every other process is killed before the answer is given.

use core::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read};
use rustix::net::{AddressFamily, SocketType, socket as new_socket};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, set_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

use crate::Step;
use crate::roles::declared::Declared;
use crate::roles::launcher::Launcher;
use crate::roles::memory::Memory;
use crate::roles::mounts::{self, Source, attach};
use crate::roles::notify::Questions;
use crate::roles::raw::{self, Fresh};
use crate::roles::root::{self, At};
use crate::roles::supervisor::{PAUSE_US, Supervised, kill_the_rest};
use crate::roles::text::Text;
use crate::roles::volumes::{self, Blank, Mounted};
use crate::socket;
use crate::wire::{
    Ended, EndedBy, Execute, Failed, How, MESSAGE_BYTES, Message, Request, Response, Sizes, Spawn,
    TREE_NAME_BYTES, Volumes,
};

/// The user and the group that every command has inside its sandbox.
pub(crate) const SANDBOX_ID: u32 = 1000;

const HOST_NAME: &[u8] = b"sandbox";
/// The largest system-call filter.
const FILTER_BYTES: usize = 4096 * 8;

/// Lives the life of a guest. `mapped` tells when the user is mapped.
pub(crate) fn run(control: &OwnedFd, mapped: OwnedFd, request: Spawn) -> ! {
    let code = match be_born(&mapped, request) {
        Ok(()) => {
            drop(mapped);
            serve(control.as_fd(), request)
        }
        Err(failed) => socket::send(control.as_fd(), &Response::Failed(failed), &[]),
    };
    raw::exit(u8::from(code.is_err()))
}

/// Everything that does not depend on the image or the run.
fn be_born(mapped: &OwnedFd, request: Spawn) -> Result<(), Failed> {
    if read(mapped, &mut [0; 1]).at(Step::UserMap)? == 0 {
        return Err(Failed { step: Step::UserMap, errno: Errno::PIPE.raw_os_error() });
    }
    raw::block_signals().at(Step::Identity)?;
    raw::set_children(raw::Children::Awaited).at(Step::Identity)?;
    become_user(request.foreign).at(Step::Identity)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Step::ParentWatch)?;
    rustix::process::setsid().at(Step::Identity)?;
    rustix::thread::set_no_new_privs(true).at(Step::Capabilities)?;
    rustix::thread::set_name(c"sandbox").at(Step::Identity)?;
    rustix::system::sethostname(HOST_NAME).at(Step::Hostname)?;
    rustix::system::setdomainname(b"").at(Step::Hostname)?;
    raise_loopback().at(Step::Network)?;
    root::enter(request.counted)?;
    if !request.by_path {
        // Nothing of the host is held while the guest waits, and nothing is left to take away when a run asks for it.
        mounts::leave_host().at(Step::HostRoot)?;
    }
    leave_the_hosts_streams().at(Step::Devices)?;
    // Only now: while a process cannot be dumped, its own files in /proc belong to somebody else.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::Identity)
}

fn become_user(foreign: bool) -> Result<(), Errno> {
    let (user, group) = (Uid::from_raw(SANDBOX_ID), Gid::from_raw(SANDBOX_ID));
    if foreign {
        set_thread_groups(&[])?;
    }
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)
}

fn raise_loopback() -> Result<(), Errno> {
    let socket = new_socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    raw::raise_loopback(socket.as_fd())
}

/// The first of the streams was the spawner's control socket.
fn leave_the_hosts_streams() -> Result<(), Errno> {
    let empty = open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&empty)?;
    rustix::stdio::dup2_stdout(&empty)?;
    rustix::stdio::dup2_stderr(&empty)
}

/// What the guest holds once the root is assembled.
struct Ready<'b> {
    trees: OwnedFd,
    declared: Declared,
    filter: &'b [u8],
    /// Whether this process bounds the memory of the whole.
    counted: bool,
    children: OwnedFd,
    blank: Option<Blank>,
    mounted: Option<Mounted>,
    launcher: Option<Launcher>,
}

fn serve(control: BorrowedFd<'_>, born: Spawn) -> Result<(), Errno> {
    socket::send(control, &Response::Born, &[])?;
    let buffer = raw::allocate::<[u8; MESSAGE_BYTES]>()?;
    let filter_space = raw::allocate::<[u8; FILTER_BYTES]>()?;
    match await_root(control, born, buffer, filter_space)? {
        None => Ok(()),
        Some(Err(failed)) => socket::send(control, &Response::Failed(failed), &[]),
        Some(Ok(ready)) => {
            socket::send(control, &Response::Assembled, &[])?;
            obey(control, ready, buffer)
        }
    }
}

/// Takes declared volumes in until the root is asked for, and assembles it; `None` where nobody asks any more. What
/// failed on the way is the answer to the request for the root.
fn await_root<'b>(
    control: BorrowedFd<'_>,
    born: Spawn,
    buffer: &mut [u8; MESSAGE_BYTES],
    filter_space: &'b mut [u8; FILTER_BYTES],
) -> Result<Option<Result<Ready<'b>, Failed>>, Errno> {
    let mut declared = Declared::default();
    let mut brought = Ok(());
    loop {
        let (len, [first, second, ..]) = socket::receive(control, buffer)?;
        if len == 0 {
            return Ok(None);
        }
        match Request::decode(&buffer[..len]) {
            Some(Request::Bring { name, path }) => {
                brought = brought.and_then(|()| declared.bring(name, source(first, path)).at(Step::Declared));
            }
            Some(Request::Assemble { image, share, filter }) => {
                let filter_space = filter_space.get_mut(..filter.len()).ok_or(Errno::TOOBIG)?;
                filter_space.copy_from_slice(filter);
                let assembled = brought.and_then(|()| {
                    let (image, share) = (source(first, image), source(second, share));
                    let trees = root::assemble(image, share, &declared, born.by_path)?;
                    close_the_door()?;
                    Ok((trees, raw::child_events().at(Step::Launcher)?))
                });
                return Ok(Some(assembled.map(|(trees, children)| Ready {
                    trees,
                    declared,
                    filter: filter_space,
                    counted: born.counted,
                    children,
                    blank: None,
                    mounted: None,
                    launcher: None,
                })));
            }
            _ => return Err(Errno::BADMSG),
        }
    }
}

fn source(mount: Option<OwnedFd>, path: &CStr) -> Source<'_> {
    match mount {
        Some(mount) => Source::Mount(mount),
        None => Source::Path(path),
    }
}

/// Does what the adapter asks, until it asks no more.
fn obey(
    control: BorrowedFd<'_>,
    mut ready: Ready<'_>,
    buffer: &mut [u8; MESSAGE_BYTES],
) -> Result<(), Errno> {
    loop {
        let (len, [first, second, ..]) = socket::receive(control, buffer)?;
        if len == 0 {
            return Ok(());
        }
        match Request::decode(&buffer[..len]).ok_or(Errno::BADMSG)? {
            Request::Prepare(volumes) => {
                let response = match ready.prepare(volumes) {
                    Ok(copied) => Response::Prepared { copied },
                    Err(failed) => Response::Failed(failed),
                };
                socket::send(control, &response, ready.door().as_slice())?;
            }
            Request::Execute(command) => {
                let handed = match (first, second) {
                    (Some(stdout), Some(stderr)) => Some((&buffer[..len], stdout, stderr)),
                    (None, None) => None,
                    _ => return Err(Errno::BADMSG),
                };
                let (ended, used) = ready.execute(control, &command, handed)?;
                socket::send(control, &Response::Ended(ended), &[])?;
                // The kernel takes its time to close them, and nobody waits for that.
                drop(used);
            }
            Request::Tree(name) => {
                // A workspace without its tree must not be taken for one with an empty tree.
                if let Err(failed) = ready.keep(&name, first.ok_or(Errno::BADMSG)?) {
                    return socket::send(control, &Response::Failed(failed), &[]);
                }
            }
            // What comes of it shows when volumes are needed.
            Request::Lay(sizes) => drop(ready.lay(sizes)),
            Request::Prove { nonce } => {
                socket::send(control, &Response::Proven { nonce }, ready.door().as_slice())?;
            }
            // The command had ended already when this was sent.
            Request::Stop => {}
            Request::Open { written, path } => ready.open(control, written, path)?,
            Request::Finish => match ready.finish() {
                Ok(()) => socket::send(control, &Response::Finished, &[])?,
                // The next command must not find what could not be taken away.
                Err(failed) => return socket::send(control, &Response::Failed(failed), &[]),
            },
            Request::Bring { .. } | Request::Assemble { .. } => return Err(Errno::BADMSG),
        }
    }
}

/// Gives up what only the assembly needed.
fn close_the_door() -> Result<(), Failed> {
    // The namespace is made now, because a control group that is joined later would show its place on the host.
    raw::renew(Fresh::Cgroup).at(Step::CgroupNamespace)?;
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // A capability that this kernel does not know yet.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(errno) => return Err(errno).at(Step::Capabilities),
        }
    }
    // What mounting takes, and what an overlay needs to work on files that forbid everything to their own user.
    let kept = CapabilitySet::SYS_ADMIN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER;
    set_capabilities(
        None,
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() },
    )
    .at(Step::Capabilities)
}

impl Ready<'_> {
    /// Makes volumes and launcher ready; answers whether the workspace is a copy.
    fn prepare(&mut self, volumes: Volumes) -> Result<bool, Failed> {
        if self.is_prepared(&volumes) {
            return Ok(self.mounted.as_ref().is_some_and(|mounted| mounted.copied));
        }
        if self.mounted.is_some() {
            self.finish()?;
        }
        self.lay(volumes.sizes)?;
        let Some(blank) = self.blank.take() else { return Err(Errno::INVAL).at(Step::Volumes) };
        let mounted = volumes::mount_tree(blank, volumes, self.trees.as_fd(), &self.declared)?;
        let copied = mounted.copied;
        self.mounted = Some(mounted);
        if let Some(launcher) = &self.launcher {
            // One that could not even begin has ended, and tells why once it is asked for its command.
            let _ = launcher.confine();
        }
        Ok(copied)
    }

    /// Where the launcher takes its command that stands ready on a tree. The adapter may hand it over there by itself, which
    /// saves a change of processes.
    fn door(&self) -> Option<BorrowedFd<'_>> {
        self.launcher.as_ref().filter(|_| self.mounted.is_some()).map(Launcher::door)
    }

    fn is_prepared(&self, volumes: &Volumes) -> bool {
        self.launcher.is_some() && self.mounted.as_ref().is_some_and(|mounted| mounted.volumes == *volumes)
    }

    /// Makes ready what does not depend on the tree of the next command.
    fn lay(&mut self, sizes: Sizes) -> Result<(), Failed> {
        let is_laid = self.blank.as_ref().is_some_and(|blank| blank.sizes == sizes);
        if is_laid && self.launcher.is_some() {
            return Ok(());
        }
        self.finish()?;
        self.blank = Some(Blank::lay(sizes)?);
        self.launcher = Some(Launcher::start(self.filter)?);
        Ok(())
    }

    /// Keeps a tree that others may be using as well.
    fn keep(&self, name: &[u8; TREE_NAME_BYTES], tree: OwnedFd) -> Result<(), Failed> {
        let name: Text<{ TREE_NAME_BYTES + 1 }> = core::str::from_utf8(name)
            .map_err(|_| Errno::INVAL)
            .and_then(|name| Text::format(format_args!("{name}")))
            .at(Step::Workspace)?;
        let tree = Source::Mount(tree).mount().at(Step::Workspace)?;
        attach(tree.as_fd(), self.trees.as_fd(), name.as_c_str().at(Step::Workspace)?).at(Step::Workspace)
    }

    /// Runs a command that is `handed` over here, as its message and its streams, or went to the launcher already.
    fn execute(
        &mut self,
        control: BorrowedFd<'_>,
        command: &Execute<'_>,
        handed: Option<(&[u8], OwnedFd, OwnedFd)>,
    ) -> Result<(Ended, Option<(Launcher, Questions)>), Errno> {
        let started_us = raw::monotonic_us();
        let cpu_before_us = raw::children_cpu_us();
        let mut ended = Ended {
            how: How::NotFound,
            by: EndedBy::Itself,
            killed: 0,
            wall_us: 0,
            cpu_us: 0,
            disk_full: false,
            memory_refusals: 0,
            signs: None,
        };
        if handed.is_none() && !self.is_prepared(&command.volumes) {
            // The launcher that has the command is not the one that is ready.
            return Err(Errno::BADMSG);
        }
        if let Err(failed) = self.prepare(command.volumes) {
            return Ok((Ended { how: How::NotConfined(failed), ..ended }, None));
        }
        let (Some(mut launcher), Some(volumes)) = (self.launcher.take(), &self.mounted) else {
            return Err(Errno::INVAL);
        };
        let memory = self.counted.then(|| Memory::new(command.limits.data_bytes));
        let questions = Questions::new(launcher.listener(), memory);
        if let Some((message, stdout, stderr)) = handed {
            // A launcher that could not confine itself has ended, and tells why.
            let _ = launcher.launch(message, stdout.as_fd(), stderr.as_fd());
        }
        let mut supervised = Supervised {
            control,
            children: self.children.as_fd(),
            main: launcher.pid,
            deadline_us: started_us.saturating_add(command.wall_ms.saturating_mul(1000)),
            questions,
            volumes,
            disk_full: false,
            next_look_us: started_us.saturating_add(PAUSE_US),
        };
        (ended.how, ended.by, ended.killed) = supervised.until_ended()?;
        ended.memory_refusals = supervised.questions.memory().map_or(0, Memory::refusals);
        ended.signs = supervised.questions.signs();
        ended.how = launcher.failure().unwrap_or(ended.how);
        ended.disk_full = supervised.disk_full;
        ended.wall_us = raw::monotonic_us().saturating_sub(started_us);
        ended.cpu_us = raw::children_cpu_us().saturating_sub(cpu_before_us);
        Ok((ended, Some((launcher, supervised.questions))))
    }

    fn open(&self, control: BorrowedFd<'_>, written: bool, path: &CStr) -> Result<(), Errno> {
        let opened =
            self.mounted.as_ref().ok_or(Errno::NOENT).and_then(|mounted| mounted.open(written, path));
        match opened {
            Ok(file) => socket::send(control, &Response::Opened, &[file.as_fd()]),
            Err(errno) => socket::send(control, &Response::Unopened { errno: errno.raw_os_error() }, &[]),
        }
    }

    /// Takes away what the last command had, so that the next finds nothing of it.
    fn finish(&mut self) -> Result<(), Failed> {
        if self.launcher.take().is_some() {
            kill_the_rest().at(Step::Launcher)?;
        }
        if let Some(mounted) = self.mounted.take() {
            mounted.unmount().at(Step::Volumes)?;
            raw::remove_objects();
            raw::renew(Fresh::Ipc).at(Step::Ipc)?;
        }
        if let Some(blank) = self.blank.take() {
            blank.unmount().at(Step::Volumes)?;
        }
        Ok(())
    }
}
