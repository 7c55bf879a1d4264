//! What is wrong with a document, in the form that a person reads.

mod code;
mod snippet;

use std::fmt;

pub use code::ProblemCode;
pub(crate) use snippet::Snippet;

use crate::located::Span;

/// The most problems of one document that are told.
pub(crate) const MAX_PROBLEMS: usize = 20;

/// One thing that is wrong, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of thing is wrong.
    pub code: ProblemCode,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// What is wrong, in a sentence without its place.
    pub message: String,
    /// What to do about it, for the line under the caret; may be empty.
    pub label: String,
    /// What else helps, such as the words that would be accepted.
    pub help: Option<String>,
    snippet: Snippet,
}

impl Problem {
    pub(crate) fn new(finding: Finding, span: Span, text: &str) -> Self {
        let span = span.within(text);
        Self {
            code: finding.code,
            line: span.line,
            column: span.column,
            message: finding.message,
            label: finding.label,
            help: finding.help,
            snippet: Snippet::of(text, span),
        }
    }

    /// The line that is wrong, or the part of it around the place where it is long.
    #[must_use]
    pub fn snippet(&self) -> &str {
        &self.snippet.text
    }

    /// The problem with its place, its line and a caret, as compilers show it. Plain text, ends with a line feed.
    #[must_use]
    pub fn render(&self, file: &str) -> String {
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let caret = " ".repeat(self.snippet.indent) + &"^".repeat(self.snippet.width);
        let mut lines = vec![
            format!("error[{}]: {}", self.code, self.message),
            format!("{gutter}--> {file}:{}:{}", self.line, self.column),
            format!("{gutter} |"),
            format!("{number} | {}", self.snippet.text),
            format!("{gutter} | {caret} {}", self.label),
        ];
        if let Some(help) = &self.help {
            lines.extend([format!("{gutter} |"), format!("{gutter} = help: {help}")]);
        }
        lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

/// A problem before its place is known.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    code: ProblemCode,
    message: String,
    label: String,
    help: Option<String>,
}

impl Finding {
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { code, message: message.into(), label: label.into(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Everything that was found wrong with one document. Nothing of the document was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    file: String,
    first: Box<Problem>,
    others: Vec<Problem>,
}

impl DocumentError {
    /// One problem.
    pub(crate) fn one(file: &str, problem: Problem) -> Self {
        Self { file: file.to_owned(), first: Box::new(problem), others: Vec::new() }
    }

    /// A problem of the document as a whole.
    pub(crate) fn whole(file: &str, bytes: &[u8], finding: Finding) -> Self {
        // Only the first line is shown, and a document may be all one line.
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]);
        Self::one(file, Problem::new(finding, Span::START, &start))
    }

    /// Several problems, put in the order of the document; `None` where there are none.
    pub(crate) fn several(file: &str, mut problems: Vec<Problem>) -> Option<Self> {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        let mut problems = problems.into_iter();
        Some(Self { file: file.to_owned(), first: Box::new(problems.next()?), others: problems.collect() })
    }

    /// The file as the caller named it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The problems in the order of the document; never empty, and at most twenty.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        std::iter::once(self.first.as_ref()).chain(&self.others)
    }

    /// The stable code of the first problem.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.first.code.as_str()
    }

    /// Every problem with its place, its line and a caret, with an empty line between two. Plain text.
    #[must_use]
    pub fn render(&self) -> String {
        let all: Vec<String> = self.problems().map(|problem| problem.render(&self.file)).collect();
        all.join("\n")
    }
}

impl fmt::Display for DocumentError {
    /// The first problem in one line, with its place, and how many more there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { line, column, message, label, .. } = self.first.as_ref();
        write!(f, "{}:{line}:{column}: {message}", self.file)?;
        if !label.is_empty() {
            write!(f, "; {label}")?;
        }
        match self.others.len() {
            0 => Ok(()),
            more => write!(f, " (and {more} more)"),
        }
    }
}

impl std::error::Error for DocumentError {}
