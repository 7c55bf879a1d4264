//! Properties that hold for every input, as fuzz targets with a kept corpus.
//!
//! A property is a function of bytes that panics where it does not hold. `cargo xtask fuzz` links each with libFuzzer and
//! looks for such bytes, led by the code that they reach; it works with stable Rust, since LLVM's own pass does the
//! instrumentation. The inputs below `corpus/NAME` are those that reached something new, and whatever once broke a
//! property: the tests of this crate run all of them without libFuzzer.

#![forbid(unsafe_code)]
// A broken property is a panic: that is what a fuzzer and a test both see.
#![allow(clippy::panic, reason = "a property that does not hold says so by a panic")]

mod properties;
mod scene;

pub use properties::{
    apply, bundle, checkpoint, difference, directory, envelope, note, parse, proof, report, statement,
};

/// A property of bytes; panics where it does not hold.
pub type Property = fn(&[u8]);

/// Every property by its name, which is also that of its corpus and of its target.
pub const PROPERTIES: [(&str, Property); 11] = [
    ("parse", parse),
    ("apply", apply),
    ("difference", difference),
    ("directory", directory),
    ("report", report),
    ("envelope", envelope),
    ("statement", statement),
    ("note", note),
    ("checkpoint", checkpoint),
    ("proof", proof),
    ("bundle", bundle),
];
