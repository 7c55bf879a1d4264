//! Markers that keep a test from running or silence a check.

mod anchor;
mod attribute;
mod call;
mod comment;
mod compared;

pub(crate) use compared::{Markers, Sides};

use crate::source::{Language, Source, Tight};

/// One marker in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The name under which the guard knows it.
    pub(crate) name: &'static str,
    /// Where it stands, in bytes.
    pub(crate) offset: usize,
    /// What it acts on, where that can be told: the name of the test. A marker that moves to another test is another.
    pub(crate) anchor: String,
    /// Whether it is at home on a new test, and weakens only one that was there before.
    pub(crate) fits_new_tests: bool,
}

/// What kind of file the markers are looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whether the file is a test file: forms count there that mean other things elsewhere.
    pub(crate) is_test: bool,
    /// Whether the file is a copy of other people's code, whose silenced checks are theirs.
    pub(crate) is_vendored: bool,
}

/// The markers of a source file, in the order of their kinds.
pub(crate) fn find(language: Language, source: &Source<'_>, place: Place) -> Vec<Marker> {
    let tight = Tight::of(source);
    let mut found = match language {
        Language::Rust => attribute::rust(&tight, source, place),
        Language::Java => attribute::java(&tight, source, place),
        Language::Python | Language::JavaScript { .. } | Language::Go => Vec::new(),
    };
    found.extend(call::find(language, &tight, source, place));
    if !place.is_vendored {
        found.extend(comment::find(language, source, place));
    }
    found
}
