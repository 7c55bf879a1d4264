/// A count of something in a document, of which there are fewer than its bytes.
pub(super) fn count(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// The column in characters, counted from 1.
    pub(crate) column: u32,
    /// The number of characters in that line; zero where only the place is known.
    pub(crate) width: u32,
}

impl Span {
    /// The first character of the document.
    pub(crate) const START: Self = Self { line: 1, column: 1, width: 0 };

    /// The place itself, or the end of the text where the place lies past it.
    pub(crate) fn within(self, text: &str) -> Self {
        let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
        let lines = if last.len() == text.len() { 1 } else { before.matches('\n').count() + 2 };
        if self.line as usize <= lines {
            return self;
        }
        Self { line: count(lines), column: count(last.chars().count() + 1), width: 0 }
    }
}
