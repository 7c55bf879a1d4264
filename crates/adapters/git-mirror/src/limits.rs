//! The limits of this crate.

use std::time::Duration;

/// How many commits of a line of history are fetched at first, unless more are asked for.
pub const DEPTH: u32 = 1;
/// How long obtaining a commit may take in all, unless another time is asked for.
pub const DEADLINE: Duration = Duration::from_secs(300);
/// The shortest abbreviation of a commit.
pub const ABBREVIATION_DIGITS: usize = 7;
/// The longest source and the longest name of a branch.
pub const NAME_BYTES: usize = 4_096;
/// How much of the end of an output is told in an error.
pub const TOLD_BYTES: usize = 4_096;
/// How much of an answer of git is read. A longer one is cut.
pub(crate) const ANSWER_BYTES: usize = 64 << 10;
/// How many objects may share an abbreviation and be looked at.
pub(crate) const CANDIDATES: usize = 64;
/// How many packs a mirror may have before they are made one. Git itself gathers them at 50.
pub(crate) const PACKS: usize = 50;
/// What git takes for "the whole history", whether or not the history was cut before.
pub(crate) const WHOLE_HISTORY: u32 = 2_147_483_647;
