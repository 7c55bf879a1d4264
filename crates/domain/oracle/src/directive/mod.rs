//! Directives that silence a check in source: what each silences, and where.
//!
//! A directive that names its checks and holds for one place is one thing that a person can judge. One that names none, or
//! holds for a whole file, hides more than anybody is shown of it, later lines included.

mod attribute;
mod code;
mod comment;
mod compared;
mod known;

pub(crate) use compared::{Directives, Sides};

use crate::source::{Language, Source};
use code::{Acts, Code};

/// How far a directive reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// A line, a statement or an item.
    Place,
    /// A file, or what follows in it.
    File,
}

/// One directive in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directive {
    /// The name under which the guard knows it. Those of one name silence the same checks by the same words.
    pub(crate) name: &'static str,
    /// The checks that it names, sorted. Empty where it names none and silences all.
    pub(crate) rules: Vec<String>,
    pub(crate) reach: Reach,
    /// The line that it stands on, counted from 1.
    pub(crate) line: u32,
    pub(crate) acts: Acts,
    /// The words of the code that it acts on; none where it holds for the file.
    pub(crate) code: Vec<String>,
    /// The directive itself.
    pub(crate) shown: String,
    /// Whether it stands among tests.
    pub(crate) in_tests: bool,
}

/// Names of everything, in any tool's words.
const ALL: [&str; 3] = ["all", "*", "warnings"];

impl Directive {
    /// Whether it silences more than what it names at one place.
    pub(crate) fn is_blanket(&self) -> bool {
        self.rules.is_empty() || self.reach == Reach::File
    }

    /// By what it is the same one on both sides.
    fn key(&self) -> (&'static str, &[String], Reach, &[String]) {
        (self.name, &self.rules, self.reach, &self.code)
    }

    /// Whether everything that the other one silences is silenced by this one, where both act on the same code.
    fn covers(&self, other: &Self) -> bool {
        self.name == other.name
            && self.reach >= other.reach
            && (self.rules.is_empty()
                || (!other.rules.is_empty() && other.rules.iter().all(|rule| self.rules.contains(rule))))
    }
}

/// The rules as they are compared: sorted, without those that are a name for all.
fn named(rules: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut rules: Vec<String> = rules.into_iter().filter(|rule| !rule.is_empty()).collect();
    if rules.iter().any(|rule| ALL.contains(&rule.to_lowercase().as_str())) {
        return Vec::new();
    }
    rules.sort();
    rules.dedup();
    rules
}

/// The directives of a source file.
pub(crate) fn find(language: Language, source: &Source<'_>, is_test: bool) -> Vec<Directive> {
    let mut found = match language {
        Language::Rust => attribute::rust(source),
        Language::Java => attribute::java(source),
        Language::Python => attribute::python(source),
        Language::JavaScript { .. } | Language::Go => Vec::new(),
    };
    found.extend(comment::find(language, source));
    if !found.is_empty() {
        let code = Code::of(source);
        for directive in &mut found {
            directive.in_tests |= is_test;
            directive.code = code.words(directive.acts);
        }
    }
    found
}
