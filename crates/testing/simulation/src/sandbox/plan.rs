use std::collections::BTreeMap;

use ambit_ids::DurationMs;
use ambit_ports::sandbox::{MissingFeature, SandboxError, SandboxLease};

/// The verbs of a sandbox with which something can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the verb of the same name")]
pub enum Verb {
    Inspect,
    Allocate,
    Write,
    Execute,
    Cancel,
    Destroy,
}

/// What goes wrong with a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxFault {
    /// This machine cannot run such sandboxes, or not any more.
    Unavailable,
    /// The machine fails.
    Stumbles,
    /// The backend cannot be reached for once, and nothing is done.
    Unreachable,
    /// It never answers and does nothing.
    Hangs,
    /// A command ran, and its end is not known.
    NoExit,
    /// It is done, and the answer never comes, not even after an abort.
    LosesReply,
    /// It is done, and the connection breaks before the answer.
    BreaksReply,
    /// The sandbox is gone before the verb is asked for.
    Vanished,
    /// The sandbox is gone before the command has ended, or as soon as the verb is done.
    Vanishes,
    /// Of the answer, as it travels, so many bytes arrive.
    CutAt(usize),
    /// A success that is made up when the time of the command is over.
    MadeUp,
    /// A success that is made up when the time of the command is over, and said to have taken none.
    MadeUpInNoTime,
    /// The answer of the time before comes again.
    Repeats,
    /// It takes that long.
    Slow(DurationMs),
    /// The answer is about another life of the sandbox.
    AnotherLife,
    /// The answer is about the sandbox of another run.
    AnotherRun,
    /// Something is left, and the answer says so.
    Remains,
}

impl SandboxFault {
    pub(super) fn error(self, lease: Option<&SandboxLease>) -> SandboxError {
        match (self, lease) {
            (Self::Vanishes, Some(lease)) => SandboxError::Gone(lease.lease.clone()),
            (Self::Unavailable, _) => SandboxError::Unavailable(vec![MissingFeature {
                feature: "user namespaces".to_owned(),
                consequence: "nothing separates a run from its neighbours".to_owned(),
                mend: "allow them".to_owned(),
            }]),
            (Self::Unreachable, _) => SandboxError::Unreachable(std::io::Error::other("bad gateway")),
            _ => SandboxError::Io {
                what: "what was planned".to_owned(),
                source: std::io::Error::other("planned"),
            },
        }
    }
}

/// What is planned to go wrong, and how often each verb was asked for.
#[derive(Default)]
pub(super) struct Plan {
    asked: BTreeMap<Verb, u64>,
    planned: BTreeMap<(Verb, u64), SandboxFault>,
    always: BTreeMap<Verb, SandboxFault>,
}

impl Plan {
    pub(super) fn add(&mut self, verb: Verb, skip: u64, fault: SandboxFault) {
        self.planned.insert((verb, self.asked(verb) + skip), fault);
    }

    pub(super) fn add_always(&mut self, verb: Verb, fault: SandboxFault) {
        self.always.insert(verb, fault);
    }

    pub(super) fn clear(&mut self) {
        self.planned.clear();
        self.always.clear();
    }

    pub(super) fn asked(&self, verb: Verb) -> u64 {
        self.asked.get(&verb).copied().unwrap_or_default()
    }

    pub(super) fn next(&mut self, verb: Verb) -> Option<SandboxFault> {
        let number = self.asked(verb);
        self.asked.insert(verb, number + 1);
        self.planned.remove(&(verb, number)).or_else(|| self.always.get(&verb).copied())
    }
}
