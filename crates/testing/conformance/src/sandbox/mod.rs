//! What every execution backend must hold, whatever it is made of.
//!
//! An adapter calls each function from a test of its own, with a [`Bench`] around its port. A check fails by panicking. None
//! needs anything of the image: what runs inside is a *prober*, a static program that the bench stages into the workspace
//! like any other file. Its first argument names what to try:
//!
//! | word | what it does |
//! |---|---|
//! | `exit CODE`, `signal NUMBER`, `sleep`, `spin` | ends so, or never |
//! | `say TEXT`, `print COUNT` | writes the text, or so many `x`, to standard output |
//! | `speak OUT ERR` | writes a text to each stream, and goes on until it is ended |
//! | `environment`, `read PATH`, `list PATH` | writes its environment, a file, or the names in a directory |
//! | `remove PATH` | takes the name of a file away |
//! | `write PATH TEXT`, `link TO PATH`, `hardlink OLD PATH`, `fifo PATH`, `sparse PATH COUNT` | makes a file |
//! | `fill PATH MIB`, `files DIRECTORY COUNT` | writes until there is no room |
//! | `hog MIB`, `fork COUNT`, `orphans COUNT`, `family COUNT` | takes memory, or starts sleeping children and ends, or sleeps too |
//! | `call NUMBER ARGUMENT...` | makes a system call with these integers |
//! | `path-call NUMBER TEXT ARGUMENT...` | likewise, with the address of a text as the first argument |
//! | `connect ADDRESS PORT`, `loopback` | connects to an IPv4 address, or to itself |
//!
//! Where a word makes an attempt, it writes `ok VALUE` and exits with 0, or `errno NUMBER` and exits with 1.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a check fails by panicking, as any test does"
)]

pub mod answers;
mod bench;
mod blobs;
pub mod confinement;
pub mod endings;
mod gated;
pub mod hostile;
pub mod lifecycle;
pub mod limits;
pub mod outputs;
pub mod stores;
pub mod volumes;
pub mod watching;
pub mod written;

pub use bench::{Bench, BenchVolumes, PROMPT, Staged};
pub use blobs::MemoryBlobs;
