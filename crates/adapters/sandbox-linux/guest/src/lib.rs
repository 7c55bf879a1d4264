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
    pub(crate) mod guest;
    pub(crate) mod hoarder;
    pub(crate) mod launcher;
    pub(crate) mod memory;
    pub(crate) mod mounts;
    pub mod prober;
    #[expect(unsafe_code, reason = "the system calls that no safe wrapper covers")]
    pub mod raw;
    pub(crate) mod root;
    pub(crate) mod sleepers;
    pub mod spawner;
    pub(crate) mod supervisor;
    pub(crate) mod text;
    pub(crate) mod volumes;
}

#[cfg(target_arch = "x86_64")]
pub use roles::{prober, raw, spawner};
