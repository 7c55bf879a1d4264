//! Directives in comments.

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
    let said: Vec<(usize, &Comment<'_>, String)> = source
        .comments
        .iter()
        .enumerate()
        .flat_map(|(at, comment)| parts(language, comment).map(move |part| (at, comment, part)))
        .collect();
    let ended_after = |at: usize, ends: &str| {
        !ends.is_empty()
            && said.iter().any(|(other, _, part)| *other > at && part.to_ascii_lowercase().starts_with(ends))
    };
    let mut found = Vec::new();
    for (at, comment, part) in &said {
        let Some((of, rules)) = read(known, part) else { continue };
        let reach = reach(&of, &rules, source, comment, ended_after(*at, of.ends));
        let is_about_next = of.start.contains("-next") || code::is_alone(source, comment.offset);
        found.push(Directive {
            name: of.name,
            rules,
            reach,
            line: source.line(comment.offset),
            acts: match reach {
                Reach::File => Acts::OnFile,
                Reach::Place if is_about_next => Acts::OnNext(comment.offset + comment.text.len()),
                Reach::Place => Acts::OnLine(comment.offset),
            },
            code: Vec::new(),
            shown: part.clone(),
            in_tests: false,
        });
    }
    found
}

/// What may be directives in a comment. Every part of a comment of Python that follows a `#` is read by itself, so one may
/// follow another.
fn parts<'a>(language: Language, comment: &Comment<'a>) -> impl Iterator<Item = String> + use<'a> {
    let text = &comment.text[..comment.text.floor_char_boundary(DIRECTIVE_BYTES)];
    let is_python = language == Language::Python;
    let mut parts: Vec<&str> = if is_python { text.split('#').collect() } else { vec![text] };
    if is_python {
        // This tool looks for its own name anywhere.
        let inner: Vec<&str> =
            parts.iter().flat_map(|part| part.match_indices(ANYWHERE).map(|(at, _)| &part[at..])).collect();
        parts.retain(|part| !part.trim_start().starts_with(ANYWHERE));
        parts.extend(inner);
    }
    parts.into_iter().filter_map(|part| {
        let said =
            part.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '/' | '!')).trim_end();
        (!said.is_empty()).then(|| said.to_owned())
    })
}

/// The directive that a comment is, and the checks that it names.
fn read(known: &[Known], part: &str) -> Option<(Known, Vec<String>)> {
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

fn reach(of: &Known, rules: &[String], source: &Source<'_>, comment: &Comment<'_>, is_ended: bool) -> Reach {
    let alone = || code::is_alone(source, comment.offset);
    let goes_on = of.goes_on && alone() && code::is_outmost(source, comment.offset);
    // What stands before all code is about all of it, for the tools that know this place.
    let heads = matches!(of.name, "type: ignore" | "nolint" | "noinspection")
        && alone()
        && code::is_at_head(source, comment.offset);
    match of.reach {
        // Between its start and its end it is about what stands there. What names nothing is no better by that.
        Reach::File if is_ended && !rules.is_empty() => Reach::Place,
        Reach::File => Reach::File,
        Reach::Place if goes_on || heads => Reach::File,
        Reach::Place => Reach::Place,
    }
}
