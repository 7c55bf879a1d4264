//! An exact commit of a repository elsewhere, in a bare repository of ours.
//!
//! [`Mirrors::obtain`] fetches a commit from a path or URL into a *mirror*: a bare repository in our own state that no
//! untrusted program can reach. A mirror is made where there is none, deepened where its history is too short, and
//! the commit is answered only once every object of its tree is there. Nothing is checked out, merged or pushed.
//!
//! This is the only place that starts `git`. How it is fenced:
//!
//! - the program is found once, by an absolute path; nothing of the caller's environment reaches it;
//! - no configuration but ours is read on our side: none of the system, of a user or of a template;
//! - only the transport of the source is allowed, without redirects, prompts or credential helpers;
//! - a local source is read by `git upload-pack`, which does read the configuration of that repository. It is started
//!   with hooks, monitors and lazy fetches off, and git itself takes the hook of `pack-objects` from no repository. A
//!   repository of another user is refused by git;
//! - everything it starts is in one process group, which is killed as a whole at the deadline, and once git has ended;
//! - its output is bounded, and its objects are checked as they come.

#![forbid(unsafe_code)]

mod branch;
mod commit;
mod error;
mod fence;
pub mod limits;
mod lock;
mod obtain;
mod process;
mod program;
mod repository;
mod source;

pub use branch::{BranchName, BranchNameError};
pub use commit::{CommitName, CommitNameError, CommitSha};
pub use error::{GitCall, MirrorError};
pub use obtain::{Mirrors, Obtained, Wanted};
pub use source::{Source, SourceError};
