//! Markers that keep a test from running.

mod anchor;
mod attribute;
mod call;
mod comment;
mod compared;
mod found;

pub(crate) use compared::{Markers, Sides};

use crate::source::{Language, Source, Tight};
use found::Marker;
pub(crate) use found::Place;

/// The markers of a source file, in the order of their kinds.
pub(crate) fn find(language: Language, source: &Source<'_>, place: Place) -> Vec<Marker> {
    if !call::may_stand(language, source) {
        return comment::find(language, source, place);
    }
    let tight = Tight::of(source);
    let mut found = match language {
        Language::Rust => attribute::rust(&tight, source),
        Language::Java => attribute::java(&tight, source),
        Language::Python | Language::JavaScript { .. } | Language::Go => Vec::new(),
    };
    found.extend(call::find(language, &tight, source, place));
    found.extend(comment::find(language, source, place));
    found
}
