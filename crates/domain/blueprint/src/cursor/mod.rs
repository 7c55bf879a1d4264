//! Typed reading of a located tree: every refusal is told once, with its place, and reading goes on where it can.

mod descend;
mod fields;
mod position;
mod report;
mod scalar;
mod sequence;

pub(crate) use descend::Step;
pub(crate) use fields::Fields;
pub(crate) use position::{Cursor, read_document};
pub(crate) use report::{Read, Reported};
pub(crate) use sequence::Distinct;
