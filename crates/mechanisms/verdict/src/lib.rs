//! How an execution ended, from what the sandbox, the kernel and the control plane know.
//!
//! Three sides know something: the first process of a sandbox, which waited for the command; the kernel, which counted what
//! it refused and killed; and the control plane, which may have ended it. A command can forge what none of them says. The
//! same facts are the same verdict on every backend.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use ambit_gates::{Ending, NotStarted, ResourceLimit};

const SIGXCPU: u8 = 24;

/// What the first process saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The command exited with this code.
    Exited(u8),
    /// A signal of this number ended it.
    Signalled(u8),
    /// It could not be started.
    NotStarted(NotStarted),
    /// A step before it failed, so that there was no command.
    NotConfined,
}

/// Who ended the command, as the first process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Nobody but itself.
    Itself,
    /// The first process, which was asked to.
    Request,
    /// The first process, because its time was over.
    Deadline,
    /// The first process, because it held more memory than it may.
    Memory,
}

/// What the first process told at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// How it ended.
    pub how: How,
    /// By whom.
    pub by: EndedBy,
}

/// Why this side ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was asked to.
    Abort,
    /// The first process did not end it in time.
    Deadline,
    /// Too much output.
    Output,
    /// Too much processor time.
    Cpu,
    /// Too much memory, where no control group bounds it.
    Memory,
}

/// Everything that decides.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// What the first process told; `None` where it vanished before.
    pub account: Option<Account>,
    /// Why this side ended the command.
    pub stop: Option<Stop>,
    /// Processes that the kernel killed for lack of memory.
    pub memory_kills: u64,
    /// Memory that was refused, where the kernel does not count that.
    pub memory_refusals: u32,
    /// Processes that the kernel refused.
    pub process_refusals: u64,
    /// Whether what the command can write to was seen full.
    pub disk_full: bool,
    /// Processor time that was used; 0 where nobody counted.
    pub cpu_us: u64,
    /// And that was allowed.
    pub cpu_limit_us: u64,
}

impl Facts {
    /// How it ended, and every limit that was met on the way.
    #[must_use]
    pub fn verdict(&self) -> (Ending, BTreeSet<ResourceLimit>) {
        let ending = self.ending();
        let mut breaches = BTreeSet::new();
        if let Ending::LimitReached { limit } = ending {
            breaches.insert(limit);
        }
        let met = [
            (ResourceLimit::Memory, self.memory_kills > 0 || self.memory_refusals > 0),
            (ResourceLimit::Pids, self.process_refusals > 0),
            (ResourceLimit::Disk, self.disk_full),
            (ResourceLimit::Cpu, self.cpu_us > self.cpu_limit_us),
        ];
        breaches.extend(met.into_iter().filter(|(_, met)| *met).map(|(limit, _)| limit));
        (ending, breaches)
    }

    /// How often a limit was met, as far as that is counted.
    #[must_use]
    pub fn hits(&self, limit: ResourceLimit) -> u32 {
        let counted = match limit {
            ResourceLimit::Memory => self.memory_kills.saturating_add(u64::from(self.memory_refusals)),
            ResourceLimit::Pids => self.process_refusals,
            ResourceLimit::Disk | ResourceLimit::Output | ResourceLimit::Timeout | ResourceLimit::Cpu => 0,
        };
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    fn ending(&self) -> Ending {
        let reached = |limit| Ending::LimitReached { limit };
        // A limit that was passed is the reason even where the command ended by itself before it could be stopped: how
        // fast it was caught must not decide the verdict.
        match self.stop {
            Some(Stop::Output) => return reached(ResourceLimit::Output),
            Some(Stop::Cpu) => return reached(ResourceLimit::Cpu),
            Some(Stop::Memory) => return reached(ResourceLimit::Memory),
            _ => {}
        }
        let Some(account) = self.account else {
            return match self.stop {
                Some(Stop::Abort) => Ending::Aborted,
                Some(_) => reached(ResourceLimit::Timeout),
                None if self.memory_kills > 0 => reached(ResourceLimit::Memory),
                None => Ending::Indeterminate,
            };
        };
        match (account.by, account.how) {
            (EndedBy::Deadline, _) => reached(ResourceLimit::Timeout),
            (EndedBy::Memory, _) => reached(ResourceLimit::Memory),
            (EndedBy::Request, _) => match self.stop {
                Some(Stop::Deadline) => reached(ResourceLimit::Timeout),
                _ => Ending::Aborted,
            },
            (EndedBy::Itself, How::NotConfined) => Ending::Indeterminate,
            (EndedBy::Itself, How::NotStarted(why)) => Ending::NotStarted { why },
            (EndedBy::Itself, _) if self.cpu_us > self.cpu_limit_us => reached(ResourceLimit::Cpu),
            (EndedBy::Itself, How::Exited(0)) => Ending::Exited { code: 0 },
            // A shell or a test runner tells in its own way that a child of it was killed; the reason is the memory.
            (EndedBy::Itself, _) if self.memory_kills > 0 => reached(ResourceLimit::Memory),
            (EndedBy::Itself, How::Signalled(SIGXCPU)) => reached(ResourceLimit::Cpu),
            (EndedBy::Itself, How::Signalled(signal)) => Ending::Signalled { signal },
            (EndedBy::Itself, How::Exited(code)) => Ending::Exited { code },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(how: How, by: EndedBy) -> Facts {
        Facts {
            account: Some(Account { how, by }),
            stop: None,
            memory_kills: 0,
            memory_refusals: 0,
            process_refusals: 0,
            disk_full: false,
            cpu_us: 0,
            cpu_limit_us: 1000,
        }
    }

    #[test]
    fn an_end_that_nobody_told_is_no_success() {
        let lost = Facts { account: None, ..facts(How::Exited(0), EndedBy::Itself) };
        assert_eq!(lost.verdict().0, Ending::Indeterminate);
        let killed = Facts { memory_kills: 1, ..lost };
        assert_eq!(killed.verdict().0, Ending::LimitReached { limit: ResourceLimit::Memory });
        assert_eq!(Facts { stop: Some(Stop::Abort), ..lost }.verdict().0, Ending::Aborted);
    }

    #[test]
    fn a_kill_is_told_from_a_signal_of_its_own() {
        let signalled = facts(How::Signalled(9), EndedBy::Itself);
        assert_eq!(signalled.verdict().0, Ending::Signalled { signal: 9 });
        let starved = Facts { memory_kills: 2, ..signalled };
        assert_eq!(starved.verdict().0, Ending::LimitReached { limit: ResourceLimit::Memory });
        let late = facts(How::Signalled(9), EndedBy::Deadline);
        assert_eq!(late.verdict().0, Ending::LimitReached { limit: ResourceLimit::Timeout });
    }

    #[test]
    fn a_limit_met_on_the_way_does_not_hide_how_it_ended() {
        let refused =
            Facts { process_refusals: 3, disk_full: true, ..facts(How::Exited(3), EndedBy::Itself) };
        let met = BTreeSet::from([ResourceLimit::Pids, ResourceLimit::Disk]);
        assert_eq!(refused.verdict(), (Ending::Exited { code: 3 }, met));
        let survived = Facts { memory_kills: 1, ..facts(How::Exited(0), EndedBy::Itself) };
        assert_eq!(survived.verdict(), (Ending::Exited { code: 0 }, BTreeSet::from([ResourceLimit::Memory])));
    }

    #[test]
    fn a_child_that_was_starved_makes_the_failure_one_of_memory() {
        for how in [How::Exited(137), How::Exited(1), How::Signalled(9), How::Signalled(6)] {
            let starved = Facts { memory_kills: 1, ..facts(how, EndedBy::Itself) };
            assert_eq!(starved.verdict().0, Ending::LimitReached { limit: ResourceLimit::Memory }, "{how:?}");
        }
    }

    #[test]
    fn a_limit_that_was_passed_is_the_reason_whoever_was_first() {
        let loud = Facts { stop: Some(Stop::Output), ..facts(How::Exited(0), EndedBy::Itself) };
        assert_eq!(loud.verdict().0, Ending::LimitReached { limit: ResourceLimit::Output });
        let busy = Facts { cpu_us: 1001, ..facts(How::Exited(0), EndedBy::Itself) };
        assert_eq!(busy.verdict().0, Ending::LimitReached { limit: ResourceLimit::Cpu });
    }

    #[test]
    fn an_abort_that_came_too_late_changes_nothing() {
        let done = Facts { stop: Some(Stop::Abort), ..facts(How::Exited(0), EndedBy::Itself) };
        assert_eq!(done.verdict().0, Ending::Exited { code: 0 });
        let stopped = Facts { stop: Some(Stop::Abort), ..facts(How::Signalled(9), EndedBy::Request) };
        assert_eq!(stopped.verdict().0, Ending::Aborted);
    }
}
