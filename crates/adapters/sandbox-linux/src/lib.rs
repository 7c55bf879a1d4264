//! Sandboxes of the Linux kernel, without a daemon.
//!
//! A small *spawner* process makes namespaces; a *guest* without libc is the first process of every sandbox; the adapter
//! talks to both over sockets. What the program inside does is told in `ambit-sandbox-guest`; this crate is the side in the
//! control plane: it compiles the system-call filter, places control groups, stages trees, streams output, keeps what a
//! command may leave, and measures by probes inside a real sandbox what this machine can hold.
//!
//! As root and as an ordinary user the same sandbox is built the same way. What differs is only whether the sandbox has a
//! user of its own, and which limits the kernel enforces on it as a whole; the manifest says both.

#![cfg(target_os = "linux")]

mod account;
mod backend;
mod channel;
mod execute;
mod filter;
mod forecast;
mod guest;
mod handover;
mod home;
mod host_directory;
mod identity;
mod limits;
mod machine;
mod measuring;
mod missing;
mod namespaces;
mod outputs;
mod pool;
mod probes;
mod process;
mod program;
mod remembered;
mod retire;
mod sandbox;
mod scan;
mod signs;
mod slot;
mod spawner;
mod trees;
mod turn;
mod verbs;
mod watch;

pub use backend::{LinuxSandboxes, Settings};
pub use pool::PoolCounts;
pub use program::PROGRAM as PROBER;
pub use scan::LinuxRemains;
