//! What holds a container that is made without root: a process namespace, whose first process is the keeper. Everything of
//! the container is in it, and the kernel ends all of that before the keeper's own end can be seen.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ambit_control_groups::Usage;
use ambit_ownership::{ProcessIdentity, ended_within, kill};
use ambit_ports::sandbox::SandboxError;
use rustix::fs::{Mode, OFlags, open};
use rustix::param::clock_ticks_per_second;

use crate::control::Control;
use crate::stage::Held;
use crate::unprivileged::error_of;

/// How long the keeper may take to put the files together.
const STAGING: Duration = Duration::from_secs(30);
/// How long the kernel may take to end what was killed, before that counts as a failure.
const DYING: Duration = Duration::from_secs(5);
/// The keeper and the first process of the container, which are none of the command's.
const OWN_PROCESSES: u32 = 2;

/// A keeper that is held.
pub(crate) struct Cell {
    pub(crate) keeper: ProcessIdentity,
    process: OwnedFd,
    /// The `/proc` of the process namespace.
    processes: OwnedFd,
    /// Processor time before the command, and of everything after the runtime had gone, as it is told at the end.
    pub(crate) before_us: u64,
    pub(crate) spent_us: Option<u64>,
    /// What was seen last.
    seen_us: AtomicU64,
}

impl Cell {
    /// Waits until the keeper has put the files together; where it could not, the answer is what this machine lacks.
    pub(crate) async fn staged(control: &mut Control) -> Result<Self, SandboxError> {
        let failed =
            |source| SandboxError::ControlFailed { control: "the keeper of the container".into(), source };
        let (mut keeper, mut is_staged) = (None, false);
        while keeper.is_none() || !is_staged {
            let line = tokio::time::timeout(STAGING, control.next_line()).await;
            let line = line.map_err(|_| failed(io::ErrorKind::TimedOut.into()))?.map_err(failed)?;
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["staged"] => is_staged = true,
                ["keeper", pid] => keeper = pid.parse().ok(),
                _ => return Err(error_of(&line)),
            }
        }
        let keeper = keeper.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let keeper = ProcessIdentity::read(keeper).map_err(failed)?;
        let process = keeper.hold().map_err(failed)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let processes =
            open(proc_of(&keeper), directory, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        let cell =
            Self { keeper, process, processes, before_us: 0, spent_us: None, seen_us: AtomicU64::new(0) };
        // As long as it lives, nobody else has its number.
        if cell.has_ended() { Err(failed(io::ErrorKind::NotFound.into())) } else { Ok(cell) }
    }

    /// What of the stage can be looked at from outside.
    pub(crate) fn look(&self, stage: &Path) -> io::Result<Held> {
        let held = Held::below(&root_of(&self.keeper).join(stage.strip_prefix("/").unwrap_or(stage)))?;
        if self.has_ended() { Err(io::ErrorKind::NotFound.into()) } else { Ok(held) }
    }

    fn has_ended(&self) -> bool {
        ended_within(&self.process, Duration::ZERO)
    }

    /// Ends everything.
    pub(crate) fn kill(&self) {
        let _ = kill(&self.process);
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage { cpu_us: self.cpu_us(), ..Usage::default() }
    }

    /// The processor time that was used so far: as it was told at the end, or else as the kernel tells it of the processes
    /// that are there, and of those that their parents waited for. A runtime's kernel may shut the socket at its end; then it
    /// is what was seen last.
    pub(crate) fn cpu_us(&self) -> Option<u64> {
        if let Some(spent_us) = self.spent_us {
            return Some(self.before_us.saturating_add(spent_us));
        }
        let place = PathBuf::from(format!("/proc/self/fd/{}", self.processes.as_raw_fd()));
        let ticks: Vec<u64> =
            numbered(&place).filter_map(|process| ticks_of(&process.join("stat"))).collect();
        let now_us = ticks.iter().sum::<u64>().saturating_mul(1_000_000) / clock_ticks_per_second().max(1);
        // Less than before is what a process leaves that nobody waited for.
        let seen_us = self.seen_us.fetch_max(now_us, Ordering::Relaxed).max(now_us);
        (seen_us > 0 || !ticks.is_empty()).then_some(seen_us)
    }
}

/// Where the root of a keeper is seen.
fn root_of(keeper: &ProcessIdentity) -> PathBuf {
    Path::new("/proc").join(keeper.pid().to_string()).join("root")
}

/// Where the `/proc` of the namespace of a keeper is seen.
fn proc_of(keeper: &ProcessIdentity) -> PathBuf {
    root_of(keeper).join("proc")
}

/// The processes in a `/proc`.
fn numbered(place: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()))
        .map(|entry| entry.path())
}

/// The time of a process and of the children that it waited for, in ticks of the kernel's clock.
fn ticks_of(stat: &Path) -> Option<u64> {
    let stat = fs::read_to_string(stat).ok()?;
    // The name is in parentheses and may hold anything; the times are the 12th to the 15th field after it.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    Some(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
}

/// Ends everything that a keeper keeps, in whatever process; answers how many processes of a command there were, and
/// whether something is left.
pub(crate) fn end(keeper: &ProcessIdentity) -> io::Result<(u32, u32)> {
    let Some(process) = keeper.hold()? else { return Ok((0, 0)) };
    let killed = population(keeper).saturating_sub(OWN_PROCESSES);
    kill(&process)?;
    Ok((killed, u32::from(!ended_within(&process, DYING))))
}

/// How many processes there are, as the keeper's own `/proc` lists them.
fn population(keeper: &ProcessIdentity) -> u32 {
    u32::try_from(numbered(&proc_of(keeper)).count()).unwrap_or(u32::MAX)
}
