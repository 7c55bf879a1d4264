//! Facts about what a patch does to tests, configuration and dependencies.
//!
//! Both sides of every file that a patch touches are read by lexers and parsers, and what is found is reported as
//! [`Fact`](ambit_policy::Fact)s. Whether a fact ends a run, asks for an approval or matters at all is the policy's.
//! What cannot be read where it would matter is a fact too: unclassified.
//!
//! Of Python, JavaScript, TypeScript, Rust, Go and Java the trees are read: what a test checks, what it expects, what stands between,
//! and whether the runner finds it. Of the other languages a lexer tells less: no expected value, no loosened comparison, no
//! assertion that is caught. Where tests are protected paths, as they should be, none of these gets through.

#![forbid(unsafe_code)]

mod assertions;
mod change;
mod collection;
mod config;
mod dependencies;
mod directive;
mod facts;
mod go;
mod java;
mod javascript;
mod manifest;
mod marker;
mod narrow;
mod outline;
mod protected;
mod python;
mod reading;
mod runner;
mod rust;
mod shadow;
mod source;
mod tree;
mod vacuous;

pub use change::{FileChange, Guard};
pub use dependencies::{AddedDependency, added_dependencies};
pub use facts::facts;
pub use manifest::Ecosystem;
pub use protected::is_protected_by_default;
