//! Attributes of Rust and annotations of Java.

use super::anchor;
use super::found::Marker;
use crate::source::{Language, Source, Tight};

/// How far the end of an attribute is looked for.
const NEAR_BYTES: usize = 500;
/// Attributes of Rust, as tight code spells them up to where they may go on.
const RUST: [(&str, &str); 6] = [
    ("#[ignore]", "#[ignore]"),
    ("#[ignore=", "#[ignore]"),
    ("#[cfg(any())]", "#[cfg(any())]"),
    ("#[cfg(false)]", "#[cfg(false)]"),
    ("#[cfg(not(test))]", "#[cfg(not(test))]"),
    ("#[should_panic", "#[should_panic]"),
];
/// Annotations of JUnit and TestNG that keep a test from running.
const JAVA: [&str; 3] = ["Disabled", "Ignore", "EnabledIf"];

pub(super) fn rust(tight: &Tight, source: &Source<'_>) -> Vec<Marker> {
    let plain = RUST.iter().flat_map(|(form, name)| {
        tight.text.match_indices(form).map(|(at, _)| (at, *name)).collect::<Vec<_>>()
    });
    let conditional = tight.text.match_indices("cfg_attr(").filter_map(|(at, _)| {
        let near = &tight.text[at..tight.text.floor_char_boundary(at + NEAR_BYTES)];
        let inside = &near[..near.find(")]").unwrap_or(near.len())];
        let ignores =
            inside.ends_with(",ignore") || inside.contains(",ignore=") || inside.contains(",ignore,");
        ignores.then_some((at, "#[ignore]"))
    });
    plain
        .chain(conditional)
        .map(|(at, name)| {
            let offset = tight.offset(at);
            let anchor = anchor::next_item(Language::Rust, source, offset);
            Marker { name, offset, anchor, fits_new_tests: name == "#[should_panic]" }
        })
        .collect()
}

pub(super) fn java(tight: &Tight, source: &Source<'_>) -> Vec<Marker> {
    let annotations = tight.words().filter(|word| word.before.ends_with('@'));
    annotations
        .filter_map(|word| {
            JAVA.iter().find(|start| word.text.starts_with(**start))?;
            let offset = tight.offset(word.position());
            let anchor = anchor::next_item(Language::Java, source, offset);
            Some(Marker { name: "@Disabled", offset, anchor, fits_new_tests: false })
        })
        .collect()
}
