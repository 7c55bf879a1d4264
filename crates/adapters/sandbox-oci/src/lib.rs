//! Sandboxes in containers of any OCI runtime, made from bundles.
//!
//! A *lease* is a directory with a record; every execution is a container of its own, so each starts from the tree as it is.
//! What is common to all runtimes is done here, the same way for each: the mounts lie in a mount namespace that nobody else
//! sees and that ends with the container, the limits of the whole are control groups of ours, and the first process inside
//! is a program of ours that starts the command and tells how it ended. So the runtime's own exit code decides nothing: it
//! only tells whether there is a container at all.
//!
//! An ordinary user's containers are made in namespaces of that user's own: a keeper makes these and the mounts, no control
//! group bounds them, and a process namespace takes the place of the groups as the proof of their end.
//!
//! What differs between runtimes stands in one place ([`runtime`]), and the manifest says what each lacks.

#![cfg(target_os = "linux")]

mod account;
mod backend;
mod bundle;
mod cell;
mod container;
mod control;
mod ending;
mod execute;
mod fresh;
mod groups;
mod hold;
mod home;
mod known;
mod label;
mod measuring;
mod missing;
mod outputs;
mod probes;
mod retire;
mod runtime;
mod sandbox;
mod scan;
mod seccomp;
mod stage;
mod trial;
mod unprivileged;
mod user;
mod verbs;

pub use backend::{OciSandboxes, Settings};
pub use runtime::{RuntimeError, RuntimeName};
pub use scan::OciRemains;
