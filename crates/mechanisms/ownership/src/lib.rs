//! Who made something that is left on a machine, and whether that process lives: told by number and age, by the name of a
//! thing, or by whose child a process is; and where things are mounted.

#![cfg(target_os = "linux")]

mod descent;
mod directories;
mod identity;
mod mounts;
mod name;

pub use descent::maker_of_process;
pub use directories::{MakerLink, leases};
pub use identity::{ProcessIdentity, ended_within, kill};
pub use mounts::{mounts, mounts_below};
pub use name::{is_maker_alive, maker_of_name};
