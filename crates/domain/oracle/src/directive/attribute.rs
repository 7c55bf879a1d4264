//! Directives that are part of the code: attributes of Rust, annotations of Java, decorators of Python.

use super::code::Acts;
use super::{Directive, Reach, named};
use crate::source::{Source, Tight};

/// How far the end of an attribute is looked for.
const NEAR_BYTES: usize = 1_000;
/// Groups of lints. Whoever names one names no check.
const GROUPS: [&str; 22] = [
    "clippy::all",
    "clippy::cargo",
    "clippy::complexity",
    "clippy::correctness",
    "clippy::nursery",
    "clippy::pedantic",
    "clippy::perf",
    "clippy::restriction",
    "clippy::style",
    "clippy::suspicious",
    "future_incompatible",
    "keyword_idents",
    "let_underscore",
    "nonstandard_style",
    "refining_impl_trait",
    "rust_2018_compatibility",
    "rust_2018_idioms",
    "rust_2021_compatibility",
    "rust_2024_compatibility",
    "rustdoc::all",
    "unused",
    "warnings",
];
/// What silences lints within an attribute, and how it is told.
const LEVELS: [(&str, &str); 2] = [("allow(", "#[allow("), ("expect(", "#[allow(")];

/// `#[allow(…)]`, `#[expect(…)]`, `#![allow(…)]`, and each within `cfg_attr(…)`.
pub(super) fn rust(source: &Source<'_>) -> Vec<Directive> {
    let tight = Tight::of(source);
    let tests = test_modules(&tight.text);
    let mut found = Vec::new();
    for start in tight.text.match_indices('#').map(|(at, _)| at) {
        let near = &tight.text[start..tight.text.floor_char_boundary(start + NEAR_BYTES)];
        let is_inner = near.starts_with("#![");
        if !is_inner && !near.starts_with("#[") {
            continue;
        }
        let attribute = &near[..near.find(")]").map_or(near.len(), |end| end + 2)];
        let is_conditional = attribute.contains("[cfg_attr(");
        for (level, name) in LEVELS {
            let at = match is_conditional {
                true => attribute.find(&format!(",{level}")).map(|at| at + 1),
                false => attribute.find(&format!("[{level}")).map(|at| at + 1),
            };
            let Some(at) = at else { continue };
            let lints = attribute[at + level.len()..].split(')').next().unwrap_or("");
            let mut rules =
                named(lints.split(',').filter(|lint| !lint.starts_with("reason=")).map(str::to_owned));
            if rules.iter().any(|rule| GROUPS.contains(&rule.as_str())) {
                rules.clear();
            }
            let (offset, end) = (tight.offset(start), tight.offset(start + attribute.len() - 1) + 1);
            let reach = if is_inner { Reach::File } else { Reach::Place };
            found.push(Directive {
                name,
                rules,
                reach,
                line: source.line(offset),
                acts: if is_inner { Acts::OnFile } else { Acts::OnNext(end) },
                code: Vec::new(),
                shown: source.text.get(offset..end).unwrap_or(attribute).to_owned(),
                in_tests: tests.iter().any(|(from, to)| (*from..*to).contains(&start)),
            });
        }
    }
    found
}

/// Where modules lie that are built for tests alone, in tight code.
fn test_modules(tight: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, form) in tight.match_indices("#[cfg(test)]") {
        let rest = &tight[at + form.len()..];
        let Some(open) = rest.find(['{', ';']).filter(|open| rest[*open..].starts_with('{')) else {
            continue;
        };
        if !rest[..open].split(|c: char| !c.is_alphanumeric()).any(|word| word == "mod") {
            continue;
        }
        let mut depth = 0_usize;
        let closed = rest.bytes().enumerate().skip(open).find(|(_, byte)| {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        let end = closed.map_or(rest.len(), |(end, _)| end);
        found.push((at, at + form.len() + end));
    }
    found
}

/// `@SuppressWarnings(…)` and its like.
pub(super) fn java(source: &Source<'_>) -> Vec<Directive> {
    let tight = Tight::of(source);
    let annotations = tight.words().filter(|word| {
        matches!(word.text, "SuppressWarnings" | "Suppress" | "SuppressFBWarnings" | "SuppressLint")
            && (word.before.ends_with('@') || word.before.ends_with("@file:"))
    });
    annotations
        .map(|word| {
            let offset = tight.offset(word.position());
            let near = &source.text[offset..source.text.floor_char_boundary(offset + NEAR_BYTES)];
            let arguments = near.strip_prefix(word.text).unwrap_or("").trim_start();
            let inside = arguments.strip_prefix('(').and_then(|rest| rest.split(')').next()).unwrap_or("");
            // Between quotation marks stand names, and reasons with blanks in them.
            let strings = inside.split('"').skip(1).step_by(2).filter(|text| !text.contains(' '));
            let end = if inside.is_empty() {
                offset + word.text.len()
            } else {
                offset + near.find(')').map_or(near.len(), |at| at + 1)
            };
            let reach = if word.before.ends_with("@file:") { Reach::File } else { Reach::Place };
            Directive {
                name: "@SuppressWarnings",
                rules: named(strings.map(str::to_owned)),
                reach,
                line: source.line(offset),
                acts: if reach == Reach::File { Acts::OnFile } else { Acts::OnNext(end) },
                code: Vec::new(),
                shown: format!("@{}", source.text.get(offset..end).unwrap_or(word.text)),
                in_tests: false,
            }
        })
        .collect()
}

/// `@no_type_check`, which names nothing.
pub(super) fn python(source: &Source<'_>) -> Vec<Directive> {
    let tight = Tight::of(source);
    let decorators = tight.words().filter(|word| {
        word.text == "no_type_check" && (word.before.ends_with('@') || word.owner().is_some())
    });
    decorators
        .map(|word| {
            let offset = tight.offset(word.position());
            Directive {
                name: "no_type_check",
                rules: Vec::new(),
                reach: Reach::Place,
                line: source.line(offset),
                acts: Acts::OnNext(offset + word.text.len()),
                code: Vec::new(),
                shown: source.line_text(offset).to_owned(),
                in_tests: false,
            }
        })
        .collect()
}
