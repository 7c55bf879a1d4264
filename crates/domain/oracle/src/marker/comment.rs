//! Comments that keep a test file from being compiled.

use super::found::{Marker, Place};
use crate::source::{Comment, Language, Source};

/// What such a comment starts with, in lower case, and the name under which the guard knows it.
type Directive = (&'static str, &'static str);

/// In a test file a build constraint decides whether the file is compiled at all.
const GO_TESTS: [Directive; 2] = [("go:build", "go:build"), ("+build", "go:build")];

/// The build constraints of a test file.
pub(super) fn find(language: Language, source: &Source<'_>, place: Place) -> Vec<Marker> {
    if language != Language::Go || !place.is_test {
        return Vec::new();
    }
    let marker = |comment: &Comment<'_>| {
        let said = comment.text.trim_start();
        GO_TESTS.iter().find(|(start, _)| said.starts_with(start)).map(|(_, name)| Marker {
            name,
            offset: comment.offset,
            anchor: String::new(),
            fits_new_tests: false,
        })
    };
    source.comments.iter().filter_map(marker).collect()
}
