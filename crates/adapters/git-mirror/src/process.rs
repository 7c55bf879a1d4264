//! One program, with a deadline, a bounded output and nothing left of it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::limits::{ANSWER_BYTES, TOLD_BYTES};

/// What a program did.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    /// The first bytes of its standard output.
    pub(crate) answer: Vec<u8>,
    /// Whether there was more.
    pub(crate) is_cut: bool,
    /// The last bytes of its standard error.
    pub(crate) errors: Vec<u8>,
}

/// Why there is no end of a program to tell of.
pub(crate) enum RunFault {
    /// It could not be started or watched.
    Io(io::Error),
    /// Time was up. It and all that it started were killed.
    Deadline {
        /// The last bytes of its standard error.
        errors: Vec<u8>,
    },
}

impl From<Errno> for RunFault {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Runs a command in a process group of its own until it ends or `deadline` comes.
pub(crate) fn run(command: &mut Command, deadline: Instant) -> Result<Ran, RunFault> {
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group(command.spawn().map_err(RunFault::Io)?);
    let missing = || RunFault::Io(io::ErrorKind::BrokenPipe.into());
    let answer = group.0.stdout.take().ok_or_else(missing)?;
    let errors = group.0.stderr.take().ok_or_else(missing)?;
    let mut answer = Stream::new(answer.into(), ANSWER_BYTES, Kept::First)?;
    let mut errors = Stream::new(errors.into(), TOLD_BYTES, Kept::Last)?;
    let leader = pidfd_open(Pid::from_child(&group.0), PidfdFlags::empty())?;
    while !wait(&leader, &answer, &errors, deadline)? {
        answer.read()?;
        errors.read()?;
        if Instant::now() >= deadline {
            return Err(RunFault::Deadline { errors: errors.kept });
        }
    }
    group.kill();
    answer.read()?;
    errors.read()?;
    let status = group.0.wait().map_err(RunFault::Io)?;
    Ok(Ran { status, answer: answer.kept, is_cut: answer.is_cut, errors: errors.kept })
}

/// A process group and the child that leads it.
struct Group(Child);

impl Group {
    /// Kills whatever is in the group. Its leader is not reaped before, so that no other group can have its number.
    fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // One that was waited for is reaped, and its number may be another's.
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill();
            let _ = self.0.wait();
        }
    }
}

/// Waits until something can be read, the leader has ended, or time is up. Answers whether the leader has ended.
fn wait(leader: &OwnedFd, answer: &Stream, errors: &Stream, deadline: Instant) -> Result<bool, RunFault> {
    let left = deadline.saturating_duration_since(Instant::now());
    let mut watched = vec![PollFd::new(leader, PollFlags::IN)];
    for stream in [answer, errors] {
        if !stream.is_over {
            watched.push(PollFd::new(&stream.descriptor, PollFlags::IN));
        }
    }
    match poll(&mut watched, Some(&timespec(left))) {
        Ok(_) => Ok(!watched[0].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

fn timespec(left: Duration) -> Timespec {
    Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
}

/// Which end of a stream is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    First,
    Last,
}

struct Stream {
    descriptor: OwnedFd,
    limit: usize,
    keeps: Kept,
    kept: Vec<u8>,
    is_cut: bool,
    is_over: bool,
}

impl Stream {
    fn new(descriptor: OwnedFd, limit: usize, keeps: Kept) -> Result<Self, RunFault> {
        let flags = fcntl_getfl(descriptor.as_fd())?;
        fcntl_setfl(descriptor.as_fd(), flags | OFlags::NONBLOCK)?;
        Ok(Self { descriptor, limit, keeps, kept: Vec::new(), is_cut: false, is_over: false })
    }

    /// Reads what is there, at most a pipe full, so that a program that never stops writing meets its deadline.
    fn read(&mut self) -> Result<(), RunFault> {
        let mut buffer = [0; 16 << 10];
        for _ in 0..8 {
            if self.is_over {
                break;
            }
            match rustix::io::read(&self.descriptor, &mut buffer) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.keep(&buffer[..count]),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        match self.keeps {
            Kept::First => {
                let room = self.limit - self.kept.len();
                self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
                self.is_cut |= bytes.len() > room;
            }
            Kept::Last => {
                self.kept.extend_from_slice(bytes);
                let over = self.kept.len().saturating_sub(self.limit);
                self.kept.drain(..over);
                self.is_cut |= over > 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration) -> Result<Ran, RunFault> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null());
        run(&mut command, Instant::now() + deadline)
    }

    #[test]
    fn output_is_bounded_and_its_useful_end_is_kept() {
        let script =
            "i=0; while [ $i -lt 9000 ]; do echo line-$i; echo fault-$i >&2; i=$((i+1)); done; exit 3";
        let Ok(ran) = shell(script, Duration::from_secs(60)) else { panic!("it ends") };
        assert_eq!(ran.status.code(), Some(3));
        assert!(ran.is_cut && ran.answer.len() == ANSWER_BYTES && ran.answer.starts_with(b"line-0\n"));
        assert!(ran.errors.len() == TOLD_BYTES && ran.errors.ends_with(b"fault-8999\n"));
    }

    #[test]
    fn what_a_program_leaves_behind_does_not_outlive_it() {
        // The one that stays holds both pipes open; whoever waited for their end would wait for it.
        let script = "sleep 1000 & echo $!";
        let Ok(ran) = shell(script, Duration::from_secs(60)) else { panic!("it ends") };
        let pid: i32 = String::from_utf8(ran.answer).unwrap().trim().parse().unwrap();
        gone(pid);
    }

    #[test]
    fn the_deadline_kills_everything_that_was_started() {
        let script = "sleep 1000 & echo $! >&2; wait";
        // On a busy machine nothing may have been started when a short time is over.
        let told = [1_500, 15_000, 60_000].iter().find_map(|deadline_ms| {
            let Err(RunFault::Deadline { errors }) = shell(script, Duration::from_millis(*deadline_ms))
            else {
                panic!("it does not end by itself")
            };
            String::from_utf8(errors).unwrap().trim().parse().ok()
        });
        gone(told.unwrap());
    }

    /// Waits for the end of a process that was killed, and whose parent may be slow to notice.
    fn gone(pid: i32) {
        let Ok(process) = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()) else { return };
        let mut watched = [PollFd::new(&process, PollFlags::IN)];
        let limit = Timespec { tv_sec: 30, tv_nsec: 0 };
        assert_eq!(poll(&mut watched, Some(&limit)), Ok(1), "{pid} is still alive");
    }
}
