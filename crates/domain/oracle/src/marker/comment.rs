//! Comments that tools obey.

use super::found::{Marker, Place};
use crate::source::{Comment, Language, Source};

/// What such a comment starts with, in lower case, and the name under which the guard knows it.
type Directive = (&'static str, &'static str);

/// Every part of a comment of Python that follows a `#` is read by itself, so one may follow another.
const PYTHON: [Directive; 13] = [
    ("noqa", "noqa"),
    ("type: ignore", "type: ignore"),
    ("type:ignore", "type: ignore"),
    ("ruff: noqa", "noqa"),
    ("flake8: noqa", "noqa"),
    ("pylint: disable", "pylint: disable"),
    ("pylint:disable", "pylint: disable"),
    ("pyright: ", "pyright"),
    ("mypy: ", "mypy"),
    ("pytype: disable", "pytype: disable"),
    ("pragma: no cover", "pragma: no cover"),
    ("pragma: no branch", "pragma: no cover"),
    ("nosec", "nosec"),
];
const JAVASCRIPT: [Directive; 14] = [
    ("eslint-disable", "eslint-disable"),
    ("eslint ", "eslint-disable"),
    ("oxlint-disable", "eslint-disable"),
    ("tslint:disable", "tslint:disable"),
    ("@ts-ignore", "@ts-ignore"),
    ("@ts-nocheck", "@ts-nocheck"),
    ("@ts-expect-error", "@ts-expect-error"),
    ("istanbul ignore", "coverage ignore"),
    ("c8 ignore", "coverage ignore"),
    ("v8 ignore", "coverage ignore"),
    ("node:coverage ", "coverage ignore"),
    ("biome-ignore", "biome-ignore"),
    ("deno-lint-ignore", "deno-lint-ignore"),
    ("jshint ignore", "jshint ignore"),
];
const GO: [Directive; 4] =
    [("nolint", "nolint"), ("lint:ignore", "lint:ignore"), ("#nosec", "nosec"), ("revive:disable", "nolint")];
/// In a test file a build constraint decides whether the file is compiled at all.
const GO_TESTS: [Directive; 2] = [("go:build", "go:build"), ("+build", "go:build")];
const JAVA: [Directive; 6] = [
    ("nosonar", "NOSONAR"),
    ("noinspection", "noinspection"),
    ("checkstyle:off", "CHECKSTYLE:OFF"),
    ("checkstyle.off", "CHECKSTYLE:OFF"),
    ("ktlint-disable", "ktlint-disable"),
    ("detekt:", "detekt"),
];

/// The directives of a source file. Words about a directive within other words are none: a tool looks at the start.
pub(super) fn find(language: Language, source: &Source<'_>, place: Place) -> Vec<Marker> {
    let (directives, tests_only): (&[Directive], &[Directive]) = match language {
        Language::Python => (&PYTHON, &[]),
        Language::JavaScript { .. } => (&JAVASCRIPT, &[]),
        Language::Go => (&GO, if place.is_test { &GO_TESTS } else { &[] }),
        Language::Java => (&JAVA, &[]),
        Language::Rust => return Vec::new(),
    };
    let known = || directives.iter().chain(tests_only);
    let marker = |comment: &Comment<'_>, part: &str| {
        let said = part.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '/' | '!'));
        let said: String = said.chars().take(40).collect::<String>().to_lowercase();
        known().find(|(start, _)| said.starts_with(start)).map(|(_, name)| Marker {
            name,
            offset: comment.offset,
            anchor: String::new(),
            fits_new_tests: false,
        })
    };
    let parts = |comment: &Comment<'_>| match language {
        Language::Python => comment.text.split('#').find_map(|part| marker(comment, part)),
        _ => marker(comment, comment.text),
    };
    source.comments.iter().filter_map(parts).collect()
}
