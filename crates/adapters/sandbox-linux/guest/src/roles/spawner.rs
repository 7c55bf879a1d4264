//! The spawner: it starts guests in namespaces of their own, one request at a time.
//!
//! Its only state is its socket. When the control plane goes away the socket ends and the spawner with it, and every
//! guest asked the kernel to be killed when the spawner ends.

use linux_raw_sys::general as sys;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal};

use crate::Step;
use crate::roles::guest::SANDBOX_ID;
use crate::roles::raw::{Children, Fork};
use crate::roles::text::Text;
use crate::roles::{guest, raw};
use crate::socket::{self, Descriptors};
use crate::wire::{Failed, Message, Response, Spawn, Spawned};

const NAMESPACES: u64 = (sys::CLONE_NEWUSER
    | sys::CLONE_NEWPID
    | sys::CLONE_NEWNS
    | sys::CLONE_NEWNET
    | sys::CLONE_NEWIPC
    | sys::CLONE_NEWUTS) as u64;

/// Serves requests on `control` until its other end is closed.
pub fn run(control: BorrowedFd<'_>) -> Result<(), Errno> {
    raw::close_from(3, raw::Closing::Now)?;
    raw::reset_personality()?;
    rustix::process::chdir(c"/")?;
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    raw::set_children(Children::Forgotten)?;
    loop {
        let mut buffer = [0; 64];
        let (len, beside) = socket::receive(control, &mut buffer)?;
        if len == 0 {
            return Ok(());
        }
        let request = Spawn::decode(&buffer[..len]).ok_or(Errno::BADMSG)?;
        match start(request, beside) {
            Ok((pid, process)) => {
                socket::send(
                    control,
                    &Spawned::Started { pid: pid.as_raw_nonzero().get() },
                    &[process.as_fd()],
                )?;
            }
            Err(failed) => socket::send(control, &Spawned::Failed(failed), &[])?,
        }
    }
}

fn start(request: Spawn, [guest_end, first, rest @ ..]: Descriptors) -> Result<(Pid, OwnedFd), Failed> {
    let failed = |step| move |errno: Errno| Failed { step, errno: errno.raw_os_error() };
    let guest_end = guest_end.ok_or(Errno::BADMSG).map_err(failed(Step::Message))?;
    let (birthplace, first) = if request.placed { (first, None) } else { (None, first) };
    let (mapped, map_done) = pipe_with(PipeFlags::CLOEXEC).map_err(failed(Step::Namespaces))?;
    let forked =
        raw::fork_into(NAMESPACES, birthplace.as_ref().map(AsFd::as_fd)).map_err(failed(Step::Namespaces))?;
    match forked {
        Fork::Child => {
            drop((map_done, birthplace));
            let entered = [&first].into_iter().chain(&rest).flatten().try_for_each(enter);
            drop((first, rest));
            if let Err(errno) = entered {
                let _ = socket::send(
                    guest_end.as_fd(),
                    &Response::Failed(failed(Step::ControlGroups)(errno)),
                    &[],
                );
                raw::exit(1);
            }
            guest::run(&guest_end, mapped, request)
        }
        Fork::Parent((pid, process)) => {
            // Dropping the pipe without a byte ends the child, which waits for it.
            map_user(pid, request).map_err(failed(Step::UserMap))?;
            write(&map_done, &[1]).map_err(failed(Step::UserMap))?;
            Ok((pid, process))
        }
    }
}

/// Enters a control group by its list of tasks. A thread that moves itself is the one move for which the kernel waits for
/// no other processor: it costs microseconds, where the move of another process costs milliseconds.
fn enter(tasks: &OwnedFd) -> Result<(), Errno> {
    write(tasks, b"0").map(drop)
}

fn map_user(pid: Pid, request: Spawn) -> Result<(), Errno> {
    let pid = pid.as_raw_nonzero();
    let put = |name: &str, value: Text<40>| -> Result<(), Errno> {
        let path: Text<40> = Text::format(format_args!("/proc/{pid}/{name}"))?;
        let file = rustix::fs::open(path.as_c_str()?, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        write(&file, value.as_bytes()).map(drop)
    };
    if !request.foreign {
        // The kernel lets an ordinary user map a group only when the groups can no longer be changed.
        put("setgroups", Text::format(format_args!("deny"))?)?;
    }
    put("uid_map", Text::format(format_args!("{SANDBOX_ID} {} 1", request.outer_uid))?)?;
    put("gid_map", Text::format(format_args!("{SANDBOX_ID} {} 1", request.outer_gid))?)
}
