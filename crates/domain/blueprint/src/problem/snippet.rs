//! The line of a document that a problem points at.

use crate::located::{Span, is_unreadable};

/// The most characters of a line that are shown.
const WINDOW: usize = 96;
/// How many of them stand before the place that is pointed at, where the line is longer.
const LEAD: usize = 40;

/// One line of the document, or a window of it, with the place that a caret points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    /// What is shown. Holds no character that could not be seen.
    pub(crate) text: String,
    /// Characters before the caret.
    pub(crate) indent: usize,
    /// The number of carets, at least one.
    pub(crate) width: usize,
}

impl Snippet {
    /// The line of `text` that `span` starts in.
    pub(crate) fn of(text: &str, span: Span) -> Self {
        let line = text.split('\n').nth(span.line.saturating_sub(1) as usize).unwrap_or_default();
        let line: Vec<char> = line.strip_suffix('\r').unwrap_or(line).chars().collect();
        let column = (span.column.saturating_sub(1) as usize).min(line.len());
        let start = if line.len() > WINDOW { column.saturating_sub(LEAD) } else { 0 };
        let end = line.len().min(start + WINDOW);

        let mut shown = String::new();
        if start > 0 {
            shown.push('…');
        }
        shown.extend(line[start..end].iter().map(|c| if is_unreadable(*c) { '\u{fffd}' } else { *c }));
        if end < line.len() {
            shown.push('…');
        }
        Self {
            text: shown.trim_end().to_owned(),
            indent: column - start + usize::from(start > 0),
            width: (span.width as usize).clamp(1, (end - column).max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}needle{}", "a".repeat(500), "b".repeat(500));
        let snippet = Snippet::of(&text, Span { line: 1, column: 501, width: 6 });
        assert_eq!(snippet.text.chars().count(), WINDOW + 2);
        let pointed: String = snippet.text.chars().skip(snippet.indent).take(snippet.width).collect();
        assert_eq!(pointed, "needle");
    }

    #[test]
    fn nothing_unreadable_is_shown_and_the_place_is_kept() {
        let snippet = Snippet::of("one\na\u{1b}[2J\u{202e}b\r\n", Span { line: 2, column: 7, width: 9 });
        assert_eq!(snippet, Snippet { text: "a\u{fffd}[2J\u{fffd}b".into(), indent: 6, width: 1 });
    }

    #[test]
    fn a_place_past_the_end_is_the_end() {
        let past = Span { line: 9, column: 9, width: 9 };
        assert_eq!(Snippet::of("a", past), Snippet { text: String::new(), indent: 0, width: 1 });
    }
}
