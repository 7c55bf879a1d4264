//! Which system calls a command may make, and with which arguments.
//!
//! This is the policy and nothing else: every backend translates it into the words of what enforces it there, a program
//! for the kernel or a profile for a runtime, so that all of them allow the same. A call is in exactly one table:
//! - [`ALLOWED`] whatever its arguments,
//! - [`CONDITIONAL`] on its arguments,
//! - [`REFUSED`] without a word, because honest programs make it now and then and go on without,
//! - among the [`Sign`]s, because no honest program makes it,
//! - or absent: answered as by a kernel that does not have it.
//!
//! The tables are those of x86-64. The crate has no dependency on the standard library, since the program inside a sandbox
//! reads them too.

#![cfg_attr(not(any(test, feature = "samples")), no_std)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod allowed;
#[cfg(target_arch = "x86_64")]
mod call;
#[cfg(target_arch = "x86_64")]
mod policy;
#[cfg(target_arch = "x86_64")]
mod refused;
#[cfg(target_arch = "x86_64")]
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod sign;

#[cfg(target_arch = "x86_64")]
pub use allowed::ALLOWED;
#[cfg(target_arch = "x86_64")]
pub use call::Call;
#[cfg(target_arch = "x86_64")]
pub use policy::{CONDITIONAL, Condition, HIDDEN_ARGUMENTS, HIGHEST, Rule, rule};
#[cfg(target_arch = "x86_64")]
pub use refused::REFUSED;

pub use sign::{Counts, SIGNS, Sign};

/// How commands may use memory that is not a process's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// As they like: something bounds it together with all other memory.
    Free,
    /// As the first process of the sandbox allows, which counts it. Of the rest the kernel holds nothing that neither it nor
    /// that process bounds.
    Counted,
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;
