use std::borrow::Cow;

use ambit_ids::limits;

use super::span::{Span, count};
use super::unreadable::is_unreadable;
use crate::problem::{DocumentError, Finding, Problem, ProblemCode};

/// The admitted text of a document, and the name under which its problems are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    /// Admits bytes that are small enough, are UTF-8, and show a person everything that a reader reads.
    pub(crate) fn admit(file: &'a str, bytes: &'a [u8]) -> Result<Self, DocumentError> {
        if bytes.len() > limits::DOCUMENT_BYTES {
            let message =
                format!("the document has {} bytes, and {} are allowed", bytes.len(), limits::DOCUMENT_BYTES);
            let finding = Finding::new(ProblemCode::TooLarge, message, "nothing of it was read");
            return Err(DocumentError::whole(file, bytes, finding));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| not_utf_8(file, bytes, error.valid_up_to()))?;
        let source = Self { file, text };
        match text.char_indices().find(|(at, c)| is_refused(text, *at, *c)) {
            Some((at, c)) => Err(source.unreadable(at, c)),
            None => Ok(source),
        }
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// The error of a single problem.
    pub(crate) fn error(&self, finding: Finding, span: Span) -> DocumentError {
        DocumentError::one(self.file, Problem::new(finding, span, self.text))
    }

    fn unreadable(&self, at: usize, c: char) -> DocumentError {
        let message = format!("the character U+{:04X} must not stand in a document", u32::from(c));
        let label = match c {
            '\t' => "indent and separate with spaces; within double quotes write `\\t`",
            '\r' => "end lines with a line feed",
            _ => "it cannot be seen, or it changes how other characters are seen",
        };
        self.error(Finding::new(ProblemCode::Encoding, message, label), place_of(self.text, at))
    }
}

fn not_utf_8(file: &str, bytes: &[u8], at: usize) -> DocumentError {
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
    let finding = Finding::new(ProblemCode::Encoding, "the document is not UTF-8", "save it as UTF-8");
    DocumentError::one(file, Problem::new(finding, place_of(&text, at), &text))
}

/// The place of the character at a byte of `text`.
fn place_of(text: &str, at: usize) -> Span {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Span { line: count(line), column: count(column), width: 1 }
}

fn is_refused(text: &str, at: usize, c: char) -> bool {
    match c {
        '\n' => false,
        '\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
        c => is_unreadable(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> (ProblemCode, u32, u32) {
        let error = Source::admit("x.yaml", bytes).unwrap_err();
        let first = error.problems().next().unwrap();
        (first.code, first.line, first.column)
    }

    #[test]
    fn what_cannot_be_seen_is_refused_at_its_place() {
        for good in ["a: b\n", "a: b\r\nc: d", "é: ❤\u{fe0f}", ""] {
            assert!(Source::admit("x.yaml", good.as_bytes()).is_ok(), "{good:?}");
        }
        for (bad, line, column) in [
            ("a: b\nc:\td", 2, 3),
            ("a\0", 1, 2),
            ("é\u{1b}", 1, 2),
            ("a\rb", 1, 2),
            ("\u{feff}a: b", 1, 1),
            ("a: \u{202e}b", 1, 4),
            ("a: \u{e0041}", 1, 4),
            ("a: \u{85}", 1, 4),
            ("a: \u{ffff}", 1, 4),
        ] {
            assert_eq!(refused(bad.as_bytes()), (ProblemCode::Encoding, line, column), "{bad:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_refused_at_their_place() {
        assert_eq!(refused(b"a: b\nc: \xff\xfe"), (ProblemCode::Encoding, 2, 4));
        assert_eq!(refused(b"a: \xed\xa0\x80"), (ProblemCode::Encoding, 1, 4));
    }

    #[test]
    fn a_document_past_the_limit_is_not_read() {
        let large = vec![b'#'; limits::DOCUMENT_BYTES + 1];
        assert_eq!(refused(&large), (ProblemCode::TooLarge, 1, 1));
        assert!(Source::admit("x.yaml", &large[1..]).is_ok());
    }
}
