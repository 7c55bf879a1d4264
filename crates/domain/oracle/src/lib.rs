//! Facts about what a patch does to tests, configuration and dependencies.
//!
//! Both sides of every file that a patch touches are read by lexers and parsers, and what is found is reported as
//! [`Fact`](ambit_policy::Fact)s. Whether a fact ends a run, asks for an approval or matters at all is the policy's.
//! What cannot be read where it would matter is a fact too: unclassified.
//!
//! What a lexer cannot see is not seen here: an expected value that was changed to what a defect gives, a loosened
//! comparison, an assertion that is caught, a test that is no longer collected. Where tests are protected paths, as they
//! should be, none of these gets through; where they are opened, this crate is the weaker guard.

#![forbid(unsafe_code)]

mod assertions;
mod change;
mod dependencies;
mod facts;
mod go;
mod java;
mod manifest;
mod marker;
mod outline;
mod protected;
mod python;
mod runner;
mod rust;
mod source;
mod vacuous;

pub use change::{FileChange, Guard};
pub use dependencies::{AddedDependency, added_dependencies};
pub use facts::facts;
pub use manifest::Ecosystem;
pub use protected::is_protected_by_default;
