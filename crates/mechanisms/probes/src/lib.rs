//! Measures a backend of sandboxes by running probes inside a real sandbox of it.
//!
//! A [`Subject`] is a sandbox with the prober in its tree: a static program, so nothing is needed of any image. Everything is
//! asked through the port, so that what is measured is what a run will get; [`ProbedBackend`] adds the little that the port
//! does not tell, and what to expect. A negative probe passes only beside a positive control with the same tool.
//!
//! What a backend has for itself alone it probes beside these, with [`Subject::attempt`] and [`denials::denied`].

#![forbid(unsafe_code)]

mod backend;
mod blobs;
pub mod denials;
pub mod failures;
pub mod lives;
mod manifest;
mod result;
mod subject;

pub use backend::ProbedBackend;
pub use manifest::{Circumstances, manifest};
pub use subject::Subject;
