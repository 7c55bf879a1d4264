//! Directives in comments.

use std::collections::BTreeMap;

use super::code::{self, Acts};
use super::known::{self, Known};
use super::{Directive, Reach};
use crate::source::{Comment, Language, Source};

/// How much of a directive is read.
const DIRECTIVE_BYTES: usize = 500;
const ANYWHERE: &str = "pylint:";

/// The directives in the comments of a file. Words about a directive within other words are none: a tool looks at the start.
pub(super) fn find(language: Language, source: &Source<'_>) -> Vec<Directive> {
    let known = known::of(language);
    if known.is_empty() {
        return Vec::new();
    }
    // Whether a later comment ends what this one begins: each end is looked for once.
    let mut last: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    let mut is_ended = |at: usize, ends: &'static str| {
        let starts = |comment: &Comment<'_>| {
            parts(language, comment).iter().any(|part| part.to_ascii_lowercase().starts_with(ends))
        };
        let last = last.entry(ends).or_insert_with(|| source.comments.iter().rposition(starts));
        !ends.is_empty() && last.is_some_and(|last| last > at)
    };
    let head = source.code.len() - source.code.trim_start().len();
    let mut found = Vec::new();
    let said = source.comments.iter().enumerate();
    let said = said
        .flat_map(|(at, comment)| parts(language, comment).into_iter().map(move |part| (at, comment, part)));
    for (at, comment, part) in said {
        let Some((of, rules)) = read(known, part) else { continue };
        let reach = reach(&of, &rules, source, comment, (is_ended(at, of.ends), head));
        let is_about_next = of.start.contains("-next") || code::is_alone(source, comment.offset);
        found.push(Directive {
            name: of.name,
            rules,
            reach,
            line: source.line(comment.offset),
            acts: match reach {
                Reach::File => Acts::File,
                Reach::Place if is_about_next => Acts::Next(comment.offset + comment.text.len()),
                Reach::Place => Acts::Line(comment.offset),
            },
            code: Vec::new(),
            shown: part.to_owned(),
            in_tests: false,
        });
    }
    found
}

/// What may be directives in a comment. Every part of a comment of Python that follows a `#` is read by itself, so one may
/// follow another.
fn parts<'a>(language: Language, comment: &Comment<'a>) -> Vec<&'a str> {
    let text = &comment.text[..comment.text.floor_char_boundary(DIRECTIVE_BYTES)];
    let mut parts: Vec<&str> =
        if language == Language::Python { text.split('#').collect() } else { vec![text] };
    if language == Language::Python {
        // This tool looks for its own name anywhere.
        let at = |part: &&'a str| part.find(ANYWHERE).filter(|at| !part[..*at].trim().is_empty());
        parts.extend(parts.clone().iter().filter_map(|part| at(part).map(|at| &part[at..])));
    }
    let said = |part: &'a str| {
        part.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '/' | '!')).trim_end()
    };
    parts.into_iter().map(said).filter(|part| !part.is_empty()).collect()
}

/// The directive that a comment is, and the checks that it names.
fn read(known: &[Known], part: &str) -> Option<(Known, Vec<String>)> {
    let first = part.chars().next()?.to_ascii_lowercase();
    if !known.iter().any(|of| of.start.starts_with(first)) {
        return None;
    }
    // A tool takes white space after its colon or leaves it.
    let tight = match part.split_once(':') {
        Some((tool, rest)) if !tool.contains(char::is_whitespace) => format!("{tool}:{}", rest.trim_start()),
        _ => part.to_owned(),
    };
    let lower = tight.to_ascii_lowercase();
    let of = known.iter().find(|of| lower.starts_with(of.start))?;
    let rest = tight.get(of.start.len()..).unwrap_or("");
    Some((*of, of.rules(rest)?))
}

fn reach(
    of: &Known,
    rules: &[String],
    source: &Source<'_>,
    comment: &Comment<'_>,
    (is_ended, head): (bool, usize),
) -> Reach {
    let alone = || code::is_alone(source, comment.offset);
    let goes_on = of.goes_on && alone() && code::is_outmost(source, comment.offset);
    // What stands before all code is about all of it, for the tools that know this place.
    let heads =
        matches!(of.name, "type: ignore" | "nolint" | "noinspection") && alone() && comment.offset <= head;
    match of.reach {
        // Between its start and its end it is about what stands there. What names nothing is no better by that.
        Reach::File if is_ended && !rules.is_empty() => Reach::Place,
        Reach::File => Reach::File,
        Reach::Place if goes_on || heads => Reach::File,
        Reach::Place => Reach::Place,
    }
}
