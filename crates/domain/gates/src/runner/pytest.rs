//! pytest, in its long, short and native tracebacks.

use std::collections::{BTreeMap, VecDeque};

use super::lines::{body, counted};
use super::python;
use crate::Place;
use crate::failure::{Counts, Failure, Report};
use crate::place::{split_position, workspace_path};

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    if !lines.iter().any(|line| is_title(line)) {
        return report;
    }
    let mut listed = Listed::read(lines);
    for (title, body) in sections(lines) {
        let (class, message, place) = outcome(body);
        let test = listed.take(&title).unwrap_or(title);
        report.push(Failure::new(Some(&test), &class, &message, place));
    }
    for (test, said) in listed.remaining() {
        let (class, message) = python::exception(&said).unwrap_or((default_class(&said), &said));
        report.push(Failure::new(Some(&test), class, message, None));
    }
    report.counts = lines.iter().rev().find_map(|line| counts(line));
    report
}

fn is_title(line: &str) -> bool {
    let inner = line.trim_matches('=');
    line.len() >= inner.len() + 4 && matches!(inner.trim(), "FAILURES" | "ERRORS" | "short test summary info")
}

/// `____ title ____` and the lines below it.
fn sections(lines: &[String]) -> Vec<(String, &[String])> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut at = 0;
    while at < lines.len() {
        if lines[at].starts_with("===") {
            inside = is_title(&lines[at]) && !lines[at].contains("short test summary");
        }
        let title = if inside { section_title(&lines[at]) } else { None };
        at += 1;
        if let Some(title) = title {
            let below = body(&lines[at..], |line| line.starts_with("===") || section_title(line).is_some());
            at += below.len();
            found.push((title, below));
        }
    }
    found
}

fn section_title(line: &str) -> Option<String> {
    let inner = line.strip_prefix("__")?.strip_suffix("__")?.trim_matches('_');
    let title = inner.strip_prefix(' ')?.strip_suffix(' ')?.trim();
    let title = title.strip_prefix("ERROR collecting ").unwrap_or(title);
    let title = title.strip_prefix("ERROR at setup of ").unwrap_or(title);
    let title = title.strip_prefix("ERROR at teardown of ").unwrap_or(title);
    // `_ _ _ _` separates the frames of one traceback.
    title.contains(|c: char| c != '_' && c != ' ').then(|| title.to_owned())
}

/// The error type, the message and the deepest frame of one section.
fn outcome(below: &[String]) -> (String, String, Option<Place>) {
    let mut found = Outcome::default();
    for line in below.iter().take_while(|line| !is_capture(line)) {
        found.line(line);
    }
    if found.class.is_none()
        && let Some(raised) = python::raised(below)
    {
        return (raised.class, raised.message, raised.place);
    }
    let class = found.class.unwrap_or_else(|| default_class(&found.message).to_owned());
    (class, found.message, found.place)
}

fn is_capture(line: &str) -> bool {
    line.starts_with("---") && line.contains(" Captured ")
}

fn default_class(message: &str) -> &'static str {
    if message.starts_with("assert ") { "AssertionError" } else { "error" }
}

#[derive(Default)]
struct Outcome {
    class: Option<String>,
    message: String,
    place: Option<Place>,
    function: Option<String>,
    said: bool,
}

impl Outcome {
    fn line(&mut self, line: &str) {
        if let Some(said) = line.strip_prefix("E  ") {
            self.said(said.trim());
        } else if line.starts_with("The above exception was") || line.starts_with("During handling of") {
            *self = Self::default();
        } else if let Some(definition) = line.trim_start_matches(['>', ' ']).strip_prefix("def ") {
            self.function = definition.split('(').next().map(str::to_owned);
        } else if !line.starts_with([' ', '>'])
            && let Some((path, number, rest)) = split_position(line)
            && let Some(end) = rest.strip_prefix(':')
        {
            self.frame(path, number, end.trim());
        }
    }

    fn said(&mut self, text: &str) {
        if self.said {
            return;
        }
        self.said = true;
        if let Some((class, message)) = python::exception(text).filter(|_| !text.starts_with("assert ")) {
            self.class = Some(class.to_owned());
            message.clone_into(&mut self.message);
        } else {
            text.clone_into(&mut self.message);
        }
    }

    /// `path:3: in name` (short), `path:3: ` (a frame, long) or `path:3: KeyError` (the last frame, long).
    fn frame(&mut self, path: &str, line: u32, end: &str) {
        let named = end.strip_prefix("in ").map(str::to_owned);
        if named.is_none() && !end.is_empty() && self.class.is_none() {
            self.class = Some(end.to_owned());
        }
        let function = named.or(self.function.take());
        if let Some(path) = workspace_path(path) {
            self.place = Some(Place { path, line: Some(line), function });
        }
    }
}

/// The tests that the short summary lists, by the name that their section has.
struct Listed(BTreeMap<String, VecDeque<(String, String)>>);

impl Listed {
    fn read(lines: &[String]) -> Self {
        let mut by_title: BTreeMap<String, VecDeque<(String, String)>> = BTreeMap::new();
        let start = lines.iter().rposition(|line| line.contains("short test summary info"));
        for line in start.map_or(&[][..], |start| &lines[start..]) {
            let Some((kind, rest)) = line.split_once(' ') else { continue };
            let parameters = match kind.strip_prefix("SUBFAILED") {
                Some(parameters) => parameters,
                None if matches!(kind, "FAILED" | "ERROR") => "",
                None => continue,
            };
            let (id, said) = rest.split_once(" - ").unwrap_or((rest, ""));
            let tail = id.split_once("::").map_or_else(|| id.to_owned(), |(_, tail)| tail.replace("::", "."));
            let (title, test) = if parameters.is_empty() {
                (tail, id.to_owned())
            } else {
                (format!("{tail} {parameters}"), format!("{id} {parameters}"))
            };
            by_title.entry(title).or_default().push_back((test, said.to_owned()));
        }
        Self(by_title)
    }

    fn take(&mut self, title: &str) -> Option<String> {
        Some(self.0.get_mut(title)?.pop_front()?.0)
    }

    fn remaining(self) -> impl Iterator<Item = (String, String)> {
        self.0.into_values().flatten()
    }
}

fn counts(line: &str) -> Option<Counts> {
    let line = line.trim_matches(['=', ' ']);
    if !line.contains(" in ") || !line.ends_with(['s', ')']) {
        return None;
    }
    let of = |words: &[&str]| words.iter().fold(0_u32, |sum, word| sum.saturating_add(counted(line, word)));
    let counts = Counts {
        passed: of(&["passed", "xpassed"]),
        failed: of(&["failed", "error", "errors"]),
        skipped: of(&["skipped", "xfailed", "deselected"]),
    };
    (counts != Counts::default()).then_some(counts)
}
