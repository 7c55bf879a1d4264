use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::commit::{CommitName, CommitSha};

/// A call of git that did not go well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCall {
    /// The repository of ours.
    pub repository: PathBuf,
    /// The commit that was wanted.
    pub wanted: CommitName,
    /// The command with its arguments, as a person would read it.
    pub command: String,
    /// The same in short: what is done, and with which source.
    pub brief: String,
    /// The exit code; `None` where it was killed.
    pub exit: Option<i32>,
    /// The end of what it wrote to standard error, cut to [`limits::TOLD_BYTES`](crate::limits::TOLD_BYTES), without
    /// control characters.
    pub output: String,
}

/// Why a commit was not obtained. The source is as it was, and so is every commit that was obtained before.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// There is no git.
    #[error("there is no git in the directories of the search path; nothing was fetched. Install git")]
    GitMissing,
    /// The source is a path, or a URL of one, and no directory is there.
    #[error("{source_name} is no directory; nothing was fetched. Name a repository")]
    SourceMissing {
        /// The source.
        source_name: String,
    },
    /// The source is no repository, or holds none that this user may read.
    #[error(
        "{source_name} is no repository of git, or none that may be read; nothing was fetched. Name the directory that \
         holds `.git`, a bare repository, or a URL of one. Git wrote: {}",
        call.output
    )]
    NotARepository {
        /// The source.
        source_name: String,
        /// The call that found out.
        call: Box<GitCall>,
    },
    /// The source is a directory of another user, from which git does not fetch.
    #[error(
        "{source_name} belongs to another user, and git does not fetch from there; nothing was fetched. Name the directory \
         as a path instead of a URL, so that it is read without git, or fetch as its owner"
    )]
    OtherOwner {
        /// The source.
        source_name: String,
        /// The call that found out.
        call: Box<GitCall>,
    },
    /// Another process worked on the same mirror until time was up.
    #[error(
        "another process was fetching into {} all the time; nothing was done. Try again",
        repository.display()
    )]
    Busy {
        /// The mirror.
        repository: PathBuf,
    },
    /// The mirror cannot be written or read.
    #[error("{} cannot be kept; nothing was fetched. Mend the disk or the rights of the home", path.display())]
    Storage {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Git could not be started or watched.
    #[error("git cannot be run; nothing was fetched")]
    Unstartable {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Git failed.
    #[error(
        "{} could not be obtained: `{}` failed; what was fetched before is kept. It wrote: {}",
        call.wanted, call.brief, call.output
    )]
    Git {
        /// The call.
        call: Box<GitCall>,
    },
    /// Time was up. Git and everything that it had started were killed.
    #[error(
        "{} was not obtained within {} ms, and `{}` was ended; ask again with a longer deadline. It wrote: {}",
        call.wanted, deadline.as_millis(), call.brief, call.output
    )]
    Deadline {
        /// The call.
        call: Box<GitCall>,
        /// The time that was allowed.
        deadline: Duration,
    },
    /// The source has no such commit.
    #[error(
        "the source has no commit {}; `{}` did not bring it. Name another commit, or the branch that has it. It \
         wrote: {}",
        call.wanted, call.brief, call.output
    )]
    NotFound {
        /// The last call that looked for it.
        call: Box<GitCall>,
    },
    /// More than one commit begins with the digits.
    #[error("{digits} begins the names of several commits: {}; name one in full", names(candidates))]
    Ambiguous {
        /// The digits.
        digits: String,
        /// The commits, the first of them.
        candidates: Vec<CommitSha>,
    },
    /// The name is that of something else.
    #[error("{sha} names a {found} and no commit; name the commit itself")]
    NotACommit {
        /// The name.
        sha: CommitSha,
        /// What it names.
        found: String,
    },
    /// An object of the commit's tree is not there.
    #[error("the tree of {} is not whole in the source: `{}` wrote: {}", call.wanted, call.brief, call.output)]
    Incomplete {
        /// The call that found out.
        call: Box<GitCall>,
    },
}

impl MirrorError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::GitMissing => "MIRROR_GIT_MISSING",
            Self::SourceMissing { .. } => "MIRROR_SOURCE_MISSING",
            Self::NotARepository { .. } => "MIRROR_SOURCE_NOT_A_REPOSITORY",
            Self::OtherOwner { .. } => "MIRROR_SOURCE_OTHER_OWNER",
            Self::Busy { .. } => "MIRROR_BUSY",
            Self::Storage { .. } => "MIRROR_STORAGE",
            Self::Unstartable { .. } => "MIRROR_GIT_UNSTARTABLE",
            Self::Git { .. } => "MIRROR_GIT_FAILED",
            Self::Deadline { .. } => "MIRROR_DEADLINE",
            Self::NotFound { .. } => "MIRROR_COMMIT_NOT_FOUND",
            Self::Ambiguous { .. } => "MIRROR_COMMIT_AMBIGUOUS",
            Self::NotACommit { .. } => "MIRROR_NOT_A_COMMIT",
            Self::Incomplete { .. } => "MIRROR_INCOMPLETE",
        }
    }

    /// The call of git that tells more, where there is one.
    #[must_use]
    pub const fn call(&self) -> Option<&GitCall> {
        match self {
            Self::Git { call }
            | Self::NotARepository { call, .. }
            | Self::OtherOwner { call, .. }
            | Self::Deadline { call, .. }
            | Self::NotFound { call }
            | Self::Incomplete { call } => Some(call),
            _ => None,
        }
    }
}

fn names(candidates: &[CommitSha]) -> String {
    let names: Vec<&str> = candidates.iter().map(CommitSha::as_str).collect();
    names.join(", ")
}
