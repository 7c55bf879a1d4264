//! Source trees for people who live in git. Nothing is ever merged or pushed: what comes out is bytes, which somebody
//! takes into a repository or throws away.
//!
//! - [`Mail`] is one mail as `git format-patch` writes it. `git am` applies it on a fresh clone of the base and makes the
//!   very tree, with modes, links, binary files and names of any bytes.
//! - [`Bundle`] is a bundle of git, version 2, with one branch of one commit, for `git fetch`.
//! - [`NewFile`] is the file that either is written to, whole or not at all.
//!
//! No program is started and no repository is opened. Names of objects are those of repositories with SHA-1, computed
//! with detection of collisions. What is written is a function of what is handed in, and of the version of the
//! compression: the same build gives the same bytes.

#![forbid(unsafe_code)]

mod admitted;
mod author;
mod base85;
mod branch;
mod bundle;
mod commit;
mod envelope;
mod error;
mod heading;
pub mod limits;
mod mail;
mod message;
mod naming;
mod new_file;
mod new_objects;
mod object;
mod pack;
mod section;
mod source;
mod spool;
mod step;

pub use author::{Author, AuthorError};
pub use branch::{BranchError, BranchName};
pub use bundle::{Bundle, Bundled, Parent};
pub use envelope::{Envelope, Evidence, Standing};
pub use error::ExportError;
pub use mail::{Mail, Mailed};
pub use message::{Message, MessageError};
pub use new_file::{NewFile, Written};
pub use object::{ObjectKind, ObjectName, ObjectNameError};
pub use source::Source;
pub use spool::write_whole;
