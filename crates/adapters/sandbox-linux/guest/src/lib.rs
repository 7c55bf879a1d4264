//! The programs inside and beside a Linux sandbox.
//!
//! One static program without libc plays four parts:
//! - the *spawner* ([`spawner`]), a small process that makes the namespaces of every sandbox, because forking the large
//!   control plane is slow, and whose end is the end of every sandbox;
//! - the *guest* ([`guest`]), the first process inside: it builds the root, makes the volumes of every command, reaps, and
//!   tells how the command ended;
//! - the *launcher* ([`launcher`]), the process that confines itself and then becomes the command;
//! - the *prober* ([`prober`]), a command that tries what a hostile program would try, so that a sandbox can be measured
//!   even where its image is empty.
//!
//! Beside containers of other runtimes it plays two more: the *keeper* ([`keeper`]), which starts a runtime and reaps what
//! comes of it, and the *first* process inside ([`first`]), which starts the command and tells how it ended. For a user who
//! is not root the keeper is another one ([`rootless`]), which makes the namespaces and mounts that a runtime needs.
//!
//! The roles are written for x86-64 only; messages and sockets for every Linux.
//!
//! The logic is a library without std, so that it is compiled and checked with everything else; the program around it is
//! built only by the build script of `ambit-sandbox-linux`.

#![cfg(target_os = "linux")]
#![cfg_attr(not(test), no_std)]

pub mod socket;
mod step;
pub mod wire;

pub use step::Step;

#[cfg(target_arch = "x86_64")]
mod roles {
    pub(crate) mod copy;
    pub(crate) mod declared;
    pub mod first;
    pub(crate) mod guest;
    pub(crate) mod hoarder;
    pub(crate) mod inside;
    pub mod keeper;
    pub(crate) mod landlock;
    pub(crate) mod launcher;
    pub(crate) mod lingerer;
    pub(crate) mod memory;
    pub(crate) mod memory_files;
    pub(crate) mod mounts;
    pub(crate) mod notify;
    pub mod prober;
    pub(crate) mod proc;
    #[expect(unsafe_code, reason = "the system calls that no safe wrapper covers")]
    pub mod raw;
    pub(crate) mod root;
    pub mod rootless;
    pub(crate) mod searcher;
    pub(crate) mod sleepers;
    pub mod spawner;
    pub(crate) mod supervisor;
    pub(crate) mod text;
    pub(crate) mod tree;
    pub(crate) mod volumes;
}

#[cfg(target_arch = "x86_64")]
pub use roles::{first, keeper, prober, raw, rootless, spawner};
