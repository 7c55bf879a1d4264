use std::fmt;

use serde::{Deserialize, Serialize};

/// How the execution of a named command ended. Read from the wait status and from the supervisor, never from output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Ending {
    /// It ended by itself.
    Exited {
        /// The exit code, 0 to 255.
        code: u8,
    },
    /// A signal ended it that the supervisor did not send.
    Signalled {
        /// The signal number.
        signal: u8,
    },
    /// The supervisor ended it because it passed a limit.
    LimitReached {
        /// The limit.
        limit: ResourceLimit,
    },
    /// The supervisor ended it because it was asked to.
    Aborted,
    /// The command never ran.
    NotStarted {
        /// Why.
        why: NotStarted,
    },
    /// Nobody knows: the sandbox vanished, or its answer was lost. Never success.
    Indeterminate,
}

impl Ending {
    /// Whether the command succeeded: exit code 0 from the wait status and nothing else.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Exited { code: 0 })
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "exit {code}"),
            Self::Signalled { signal } => write!(f, "signal {signal}"),
            Self::LimitReached { limit } => write!(f, "stopped at the {} limit", limit.as_str()),
            Self::Aborted => f.write_str("aborted"),
            Self::NotStarted { why: NotStarted::CommandNotFound } => {
                f.write_str("not started: no such program")
            }
            Self::NotStarted { why: NotStarted::NotExecutable } => f.write_str("not started: not executable"),
            Self::NotStarted { why: NotStarted::WorkdirMissing } => {
                f.write_str("not started: no such working directory")
            }
            Self::Indeterminate => f.write_str("indeterminate"),
        }
    }
}

/// The limits that an execution can pass, each an error class of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceLimit {
    /// Memory.
    Memory,
    /// Processes and threads.
    Pids,
    /// Bytes or files on the workspace or the temporary volume.
    Disk,
    /// Bytes of output.
    Output,
    /// Time by the clock.
    Timeout,
    /// Processor time.
    Cpu,
}

impl ResourceLimit {
    /// The error class, as observations spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Disk => "disk",
            Self::Output => "output",
            Self::Timeout => "timeout",
            Self::Cpu => "cpu",
        }
    }
}

/// Why a command never ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotStarted {
    /// The image has no such program.
    CommandNotFound,
    /// The image has it, but it cannot be executed.
    NotExecutable,
    /// The tree has no such working directory.
    WorkdirMissing,
}
