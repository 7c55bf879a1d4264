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
/// What silences lints within an attribute.
const LEVELS: [&str; 2] = ["allow(", "expect("];

/// One attribute: where it starts and ends, and what it says without white space.
struct Attribute {
    from: usize,
    to: usize,
    is_inner: bool,
    text: String,
}

/// The attributes in code, whatever white space stands in them.
fn attributes(code: &str) -> Vec<Attribute> {
    let mut found = Vec::new();
    for (from, _) in code.match_indices('#') {
        let near = &code[from..code.floor_char_boundary(from + NEAR_BYTES)];
        let text: String = near.chars().filter(|c| !c.is_whitespace()).take(3).collect();
        let is_inner = text.starts_with("#![");
        if !is_inner && !text.starts_with("#[") {
            continue;
        }
        let mut depth = 0_usize;
        let closed = near.bytes().position(|byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            byte == b']' && depth == 0
        });
        let length = closed.map_or(near.len(), |at| at + 1);
        let text = near[..length].chars().filter(|c| !c.is_whitespace()).collect();
        found.push(Attribute { from, to: from + length, is_inner, text });
    }
    found
}

/// `#[allow(…)]`, `#[expect(…)]`, `#![allow(…)]`, and each within `cfg_attr(…)`.
pub(super) fn rust(source: &Source<'_>) -> Vec<Directive> {
    let attributes = attributes(&source.code);
    let mut found = Vec::new();
    for attribute in &attributes {
        let starts = if attribute.text.contains("[cfg_attr(") { "," } else { "[" };
        for level in LEVELS {
            let Some(at) = attribute.text.find(&format!("{starts}{level}")) else { continue };
            let lints = attribute.text[at + 1 + level.len()..].split(')').next().unwrap_or("");
            let lints = lints.split(',').filter(|lint| !lint.starts_with("reason="));
            let mut rules = named(lints.map(str::to_owned));
            if rules.iter().any(|rule| GROUPS.contains(&rule.as_str())) {
                rules.clear();
            }
            found.push(Directive {
                name: "#[allow(",
                rules,
                reach: if attribute.is_inner { Reach::File } else { Reach::Place },
                line: source.line(attribute.from),
                acts: if attribute.is_inner { Acts::File } else { Acts::Next(attribute.to) },
                code: Vec::new(),
                shown: source.text.get(attribute.from..attribute.to).unwrap_or(&attribute.text).to_owned(),
                in_tests: false,
            });
        }
    }
    if !found.is_empty() {
        let tests = test_modules(&source.code, &attributes);
        let starts = |line: u32| {
            tests.iter().any(|(from, to)| (source.line(*from)..=source.line(*to)).contains(&line))
        };
        found.iter_mut().for_each(|directive| directive.in_tests = starts(directive.line));
    }
    found
}

/// Where modules lie that are built for tests alone.
fn test_modules(code: &str, attributes: &[Attribute]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.text == "#[cfg(test)]") {
        let rest = &code[attribute.to..];
        let open = rest.find(['{', ';']).filter(|open| rest[*open..].starts_with('{'));
        let Some(open) = open.filter(|open| rest[..*open].split_whitespace().any(|word| word == "mod"))
        else {
            continue;
        };
        let mut depth = 0_usize;
        let closed = rest.bytes().skip(open).position(|byte| {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        let end = closed.map_or(rest.len().saturating_sub(1), |at| open + at);
        found.push((attribute.from, attribute.to + end));
    }
    found
}

/// `@SuppressWarnings(…)` and its like.
pub(super) fn java(source: &Source<'_>) -> Vec<Directive> {
    if !source.code.contains("Suppress") {
        return Vec::new();
    }
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
                acts: if reach == Reach::File { Acts::File } else { Acts::Next(end) },
                code: Vec::new(),
                shown: format!("@{}", source.text.get(offset..end).unwrap_or(word.text)),
                in_tests: false,
            }
        })
        .collect()
}

/// `@no_type_check`, which names nothing.
pub(super) fn python(source: &Source<'_>) -> Vec<Directive> {
    if !source.code.contains("no_type_check") {
        return Vec::new();
    }
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
                acts: Acts::Next(offset + word.text.len()),
                code: Vec::new(),
                shown: source.line_text(offset).to_owned(),
                in_tests: false,
            }
        })
        .collect()
}
