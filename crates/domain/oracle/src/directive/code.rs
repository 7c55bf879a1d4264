//! The code that a directive acts on.

use std::collections::BTreeSet;

use crate::source::Source;

/// The most words of a line by which it is known again.
const WORDS: usize = 60;

/// How many lines behind a directive its code is looked for.
const AHEAD: usize = 200;

/// What a directive acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acts {
    /// On the file.
    File,
    /// On the line of this offset.
    Line(usize),
    /// On the first code behind this offset.
    Next(usize),
}

/// A source file without its comments; every offset is that of the source.
pub(super) struct Code(String);

impl Code {
    pub(super) fn of(source: &Source<'_>) -> Self {
        let mut bytes = source.text.as_bytes().to_vec();
        for comment in &source.comments {
            let marks = match bytes.get(comment.offset..).unwrap_or_default() {
                [b'/', b'*', ..] => 4,
                [b'/', ..] => 2,
                _ => 1,
            };
            let end = (comment.offset + comment.text.len() + marks).min(bytes.len());
            for byte in bytes.get_mut(comment.offset..end).unwrap_or_default() {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        Self(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The words of the code that is acted on.
    pub(super) fn words(&self, acts: Acts) -> Vec<String> {
        match acts {
            Acts::File => Vec::new(),
            Acts::Line(offset) => {
                let offset = self.0.floor_char_boundary(offset);
                let start = self.0[..offset].rfind('\n').map_or(0, |at| at + 1);
                let line = words(self.0[start..].lines().next().unwrap_or(""));
                if line.is_empty() { self.words(Acts::Next(offset)) } else { line }
            }
            Acts::Next(offset) => {
                let behind = &self.0[self.0.floor_char_boundary(offset)..];
                let notes = ["#[", "#![", "@"];
                let is_note = |line: &str| notes.iter().any(|start| line.trim_start().starts_with(start));
                let lines = behind.lines().take(AHEAD).filter(|line| !is_note(line)).map(words);
                lines.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
            }
        }
    }

    /// Each line that has words, by these.
    pub(super) fn lines(&self) -> BTreeSet<Vec<String>> {
        self.0.lines().map(words).filter(|words| !words.is_empty()).collect()
    }
}

fn words(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.take(WORDS).map(str::to_owned).collect()
}

/// Whether nothing but white space stands before the offset on its line.
pub(super) fn is_alone(source: &Source<'_>, offset: usize) -> bool {
    let before = &source.code[..source.code.floor_char_boundary(offset)];
    before.rsplit('\n').next().unwrap_or("").trim().is_empty()
}

/// Whether the offset is the start of its line.
pub(super) fn is_outmost(source: &Source<'_>, offset: usize) -> bool {
    offset == 0 || source.text.as_bytes().get(offset - 1) == Some(&b'\n')
}

/// Whether more than half of the words of both lines are in both.
pub(super) fn is_mostly(one: &[String], other: &[String]) -> bool {
    let mut left: Vec<&String> = other.iter().collect();
    let mut common = 0;
    for word in one {
        if let Some(at) = left.iter().position(|other| *other == word) {
            left.swap_remove(at);
            common += 1;
        }
    }
    4 * common > one.len() + other.len()
}
