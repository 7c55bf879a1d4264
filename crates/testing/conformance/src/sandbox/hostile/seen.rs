//! What was seen of a case, from inside and from outside.

use std::time::Duration;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::RepoPath;
use ambit_ports::sandbox::{ExecutionObservation, OutputRefusal};
use bytes::Bytes;

use crate::sandbox::PROMPT;

/// Error numbers by the names that the cases use.
const ERRNOS: [(&str, &str); 9] = [
    ("EPERM", "1"),
    ("ESRCH", "3"),
    ("EBADF", "9"),
    ("EACCES", "13"),
    ("EINVAL", "22"),
    ("ENOSPC", "28"),
    ("ENOSYS", "38"),
    ("EPROTONOSUPPORT", "93"),
    ("EAFNOSUPPORT", "97"),
];
/// How tools say that they were refused.
const REFUSALS: [&str; 8] = [
    "not permitted",
    "denied",
    "must be superuser",
    "No such file",
    "No space left",
    "Function not implemented",
    "Invalid argument",
    "Read-only file system",
];

/// What was seen of one execution.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// What the case asks for, in words.
    pub(super) expect: String,
    /// What the backend answered.
    pub(super) observed: ExecutionObservation,
    /// Both ends of standard output.
    pub(super) stdout: String,
    /// The whole of standard output.
    pub(super) whole: Bytes,
    /// The whole of standard error.
    pub(super) errors: Bytes,
    /// What was exported.
    pub(super) exported: Vec<(RepoPath, Bytes)>,
    /// From the question to the answer, by this side's clock.
    pub(super) took: Duration,
    /// Whether a port of the command could be reached from the host.
    pub(super) reached: bool,
    /// Whether another run was answered while this one ran.
    pub(super) other_answered: bool,
}

impl Seen {
    pub(super) fn exited(&self) -> bool {
        matches!(self.observed.ending, Ending::Exited { .. })
    }

    pub(super) fn succeeded(&self) -> bool {
        self.observed.ending.is_success()
    }

    /// Whether the command ended by itself, or by its own doing.
    pub(super) fn ended_plainly(&self) -> bool {
        self.exited() || matches!(self.observed.ending, Ending::Signalled { .. })
    }

    /// Whether the command ran, and ended in a way that is known.
    pub(super) fn contained(&self) -> bool {
        !matches!(self.observed.ending, Ending::Indeterminate | Ending::NotStarted { .. })
    }

    pub(super) fn reached(&self, limit: ResourceLimit) -> bool {
        self.observed.ending == Ending::LimitReached { limit }
    }

    pub(super) fn breached(&self, limit: ResourceLimit) -> bool {
        self.observed.breaches.contains(&limit)
    }

    /// Whether it was ended by its time, and promptly.
    pub(super) fn timed_out(&self, wall: Duration) -> bool {
        self.reached(ResourceLimit::Timeout)
            && Duration::from_millis(self.observed.duration_ms.get()) >= wall
            && self.took < wall + PROMPT
    }

    pub(super) fn within(&self, limit: Duration) -> bool {
        Duration::from_millis(self.observed.duration_ms.get()) < limit
    }

    pub(super) fn last(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    /// The number after a word in the output.
    pub(super) fn number(&self, word: &str) -> Option<u64> {
        let (_, rest) = self.stdout.split_once(word)?;
        rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// Whether at least so many lines say that something was refused.
    pub(super) fn refusals(&self, count: usize) -> bool {
        let refused = |line: &&str| REFUSALS.iter().any(|word| line.contains(word));
        self.exited() && self.stdout.lines().filter(refused).count() >= count
    }

    /// Whether a system call failed with a number that the case names.
    pub(super) fn failed_as_expected(&self) -> bool {
        let mut words = self.last().split_whitespace().skip(1);
        let named =
            |errno: &str| ERRNOS.iter().any(|(name, number)| *number == errno && self.expect.contains(name));
        self.exited() && words.next() == Some("-1") && words.next().is_some_and(named)
    }

    /// Whether nothing was exported, for this reason.
    pub(super) fn refused_as(&self, why: OutputRefusal) -> bool {
        self.exported.is_empty() && self.observed.refused_outputs.iter().any(|refused| refused.why == why)
    }

    /// Everything in which a secret would be found.
    pub(super) fn everything(&self) -> impl Iterator<Item = &[u8]> {
        let streams = [&self.whole[..], &self.errors[..]];
        let views = [&self.observed.stdout, &self.observed.stderr];
        let views = views.into_iter().flat_map(|view| [view.head.as_bytes(), view.tail.as_bytes()]);
        streams.into_iter().chain(views).chain(self.exported.iter().map(|(_, content)| &content[..]))
    }
}
