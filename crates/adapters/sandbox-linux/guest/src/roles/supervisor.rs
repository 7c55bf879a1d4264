//! A command while it runs: what ends it, and who tells.

use core::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::{Errno, read};
use rustix::process::{Pid, WaitOptions, WaitStatus};

use crate::roles::memory::Memory;
use crate::roles::notify::Questions;
use crate::roles::raw;
use crate::roles::volumes::Mounted;
use crate::socket;
use crate::wire::{EndedBy, How, Message, Request};

const KILL: u32 = 9;

/// The shortest pause between two looks at what a command uses.
pub(crate) const PAUSE_US: u64 = 20_000;
/// And the longest: a command must not gain time by making a look slow.
const LONGEST_PAUSE_US: u64 = 200_000;
/// Between these, a look takes one part in this many of the time.
const SHARE_OF_TIME: u64 = 10;

/// A command that runs.
pub(crate) struct Supervised<'a> {
    /// Where the adapter may ask to stop it.
    pub control: BorrowedFd<'a>,
    /// Readable when a child has ended.
    pub children: BorrowedFd<'a>,
    /// Its main process.
    pub main: Pid,
    /// When its time is over.
    pub deadline_us: u64,
    /// What its filter leaves to this process.
    pub questions: Questions,
    /// What it can write to.
    pub volumes: &'a Mounted,
    /// Whether one of them was seen full. A command may remove what it could not finish before it ends.
    pub disk_full: bool,
    /// When the next look is due.
    pub next_look_us: u64,
}

/// What there is to be looked at.
struct News {
    children: bool,
    request: bool,
    question: bool,
}

impl Supervised<'_> {
    /// Waits for the end of the main process, by itself or by force, and then for the end of every other process.
    pub(crate) fn until_ended(&mut self) -> Result<(How, EndedBy, u32), Errno> {
        let mut by = EndedBy::Itself;
        let mut how = None;
        let mut killed = 0;
        while how.is_none() {
            let news = self.wait(by)?;
            if news.children {
                let _ = read(self.children, &mut [0; 128]);
                while let Some((pid, status)) = next_ended(WaitOptions::NOHANG)? {
                    if pid == self.main {
                        how = Some(status_of(status));
                        break;
                    }
                    killed += u32::from(by != EndedBy::Itself && is_killed(status));
                }
            }
            if how.is_some() || by != EndedBy::Itself {
                continue;
            }
            by = self.reason(&news)?;
            if by != EndedBy::Itself {
                kill_all()?;
            }
        }
        killed += kill_the_rest()?;
        self.disk_full |= self.volumes.is_full();
        Ok((how.unwrap_or(How::Signalled(9)), by, killed))
    }

    fn wait(&mut self, by: EndedBy) -> Result<News, Errno> {
        let listener = self.questions.listener();
        let wake_us = self.next_look_us.min(self.deadline_us);
        let left = Duration::from_micros(wake_us.saturating_sub(raw::monotonic_us()));
        // Once everything is being killed, only its end matters.
        let (count, timeout) = match by {
            EndedBy::Itself if listener.is_some() => (3, Timespec::try_from(left).ok()),
            EndedBy::Itself => (2, Timespec::try_from(left).ok()),
            _ => (1, None),
        };
        let mut watched = [self.children, self.control, listener.unwrap_or(self.control)]
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        poll(&mut watched[..count], timeout.as_ref())?;
        let [children, request, question] = watched.map(|watched| watched.revents());
        let news = News {
            children: !children.is_empty(),
            request: !request.is_empty(),
            question: question.contains(PollFlags::IN),
        };
        if !question.is_empty() && !news.question {
            // Whoever could ask is ending, and this would be told again and again until all of them have.
            self.questions.nobody_asks();
        }
        Ok(news)
    }

    /// Who has to end the command now, after every question of it was answered.
    fn reason(&mut self, news: &News) -> Result<EndedBy, Errno> {
        if news.request {
            let mut buffer = [0; 16];
            let (len, _) = socket::receive(self.control, &mut buffer)?;
            return match Request::decode(&buffer[..len]) {
                Some(Request::Stop) => Ok(EndedBy::Request),
                // The adapter is gone, or out of step: this process ends, and with it the sandbox.
                _ => Err(Errno::PIPE),
            };
        }
        let now_us = raw::monotonic_us();
        if now_us >= self.deadline_us {
            return Ok(EndedBy::Deadline);
        }
        if news.question {
            self.questions.answer();
        }
        if now_us >= self.next_look_us && self.look(now_us) {
            return Ok(EndedBy::Memory);
        }
        Ok(EndedBy::Itself)
    }

    /// Looks at what the command uses; answers whether that is more memory than it may.
    fn look(&mut self, now_us: u64) -> bool {
        self.disk_full |= self.volumes.is_full();
        let exceeded = self.questions.memory().is_some_and(Memory::is_exceeded);
        let ended_us = raw::monotonic_us();
        let took_us = ended_us.saturating_sub(now_us);
        let pause_us = took_us.saturating_mul(SHARE_OF_TIME).clamp(PAUSE_US, LONGEST_PAUSE_US);
        self.next_look_us = ended_us.saturating_add(pause_us);
        exceeded
    }
}

fn next_ended(options: WaitOptions) -> Result<Option<(Pid, WaitStatus)>, Errno> {
    match rustix::process::wait(options) {
        Ok(ended) => Ok(ended),
        Err(Errno::CHILD) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn status_of(status: WaitStatus) -> How {
    let number = |value: i32| u8::try_from(value & 0xff).unwrap_or(u8::MAX);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => How::Exited(number(code)),
        (None, Some(signal)) => How::Signalled(number(signal)),
        (None, None) => How::Signalled(9),
    }
}

/// Kills every process but this one; there may be none.
pub(crate) fn kill_all() -> Result<(), Errno> {
    match raw::kill_all(KILL) {
        Err(Errno::SRCH) => Ok(()),
        other => other,
    }
}

fn is_killed(status: WaitStatus) -> bool {
    status.terminating_signal().is_some_and(|signal| u32::try_from(signal) == Ok(KILL))
}

/// Kills every process but this one, waits for all of them, and answers how many were alive.
pub(crate) fn kill_the_rest() -> Result<u32, Errno> {
    let mut killed = 0;
    let mut options = WaitOptions::NOHANG;
    loop {
        match rustix::process::wait(options) {
            // Whatever lives in the namespace descends from this process. The kernel looks at every process of the machine
            // when all are to be killed, so that is done only where there is one.
            Err(Errno::CHILD) => return Ok(killed),
            Err(errno) => return Err(errno),
            Ok(Some((_, status))) => killed += u32::from(is_killed(status)),
            Ok(None) => {
                kill_all()?;
                options = WaitOptions::empty();
            }
        }
    }
}
