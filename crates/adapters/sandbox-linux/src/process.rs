//! A guest's process, by descriptor where it is ours and by number and age where it is not.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use tokio::io::unix::AsyncFd;

use crate::watch::watch;

/// How long the kernel may take to end a process that was killed, before that counts as a failure.
pub(crate) const DYING: Duration = Duration::from_secs(5);

/// A process, such that no later process can be taken for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProcessIdentity {
    pid: i32,
    /// When it started, in clock ticks since the machine did.
    start_ticks: u64,
    /// Which start of the machine.
    boot: String,
    /// The number of its process namespace.
    namespace: Option<u64>,
}

/// A process that is held by a descriptor.
pub(crate) struct Process {
    descriptor: AsyncFd<OwnedFd>,
}

impl ProcessIdentity {
    /// Reads the identity of a process that cannot have ended unnoticed meanwhile.
    pub(crate) fn read(pid: i32) -> io::Result<Self> {
        Ok(Self { pid, start_ticks: start_ticks(pid)?, boot: boot()?, namespace: namespace(pid) })
    }

    /// Holds the process; `None` where it is gone.
    pub(crate) fn hold(&self) -> io::Result<Option<Process>> {
        let Some(pid) = Pid::from_raw(self.pid).filter(|_| boot().is_ok_and(|boot| boot == self.boot)) else {
            return Ok(None);
        };
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH | Errno::INVAL) => return Ok(None),
            other => other?,
        };
        // The number is fixed by the descriptor now, so the age that is read cannot be another process's.
        match start_ticks(self.pid) {
            Ok(ticks) if ticks == self.start_ticks => Process::new(descriptor).map(Some),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Processes in its namespace, itself not counted, as far as this user can see.
    pub(crate) fn companions(&self) -> u32 {
        let Some(namespace_of_it) = self.namespace else { return 0 };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let count = processes
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| *pid != self.pid && namespace(*pid) == Some(namespace_of_it))
            .count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl Process {
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        Ok(Self { descriptor: watch(descriptor)? })
    }

    /// Ends it, and every process in its namespace.
    pub(crate) fn kill(&self) -> io::Result<()> {
        match pidfd_send_signal(self.descriptor.get_ref(), Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended_within(Duration::ZERO)
    }

    /// Blocks until it has ended, or the time is over; answers whether it has.
    pub(crate) fn ended_within(&self, patience: Duration) -> bool {
        let mut watched = [PollFd::from_borrowed_fd(self.descriptor.as_fd(), PollFlags::IN)];
        let timeout = Timespec::try_from(patience).unwrap_or_default();
        poll(&mut watched, Some(&timeout)).is_ok_and(|ended| ended > 0)
    }

    /// Waits for its end, at most [`DYING`]. The kernel ends the first process of a namespace after all others.
    pub(crate) async fn ended(&self) -> bool {
        tokio::time::timeout(DYING, self.descriptor.readable()).await.is_ok_and(|ready| ready.is_ok())
    }
}

fn start_ticks(pid: i32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name is in parentheses and may hold anything; the age is the 20th field after it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().nth(19).and_then(|ticks| ticks.parse().ok());
    ticks.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

fn namespace(pid: i32) -> Option<u64> {
    let link = fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}
