use ambit_ids::limits;

use super::fault::{Form, PatchFault};
use super::set::StatedLines;

/// What the header of a hunk states. Nothing of it is trusted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Where the hunk stands; `None` where that is left out.
    pub(super) stated: Option<StatedLines>,
    /// How many lines it has before and after; `None` where that is left out.
    pub(super) counts: Option<(usize, usize)>,
}

/// Reads the header of a hunk: `@@ -LINE,COUNT +LINE,COUNT @@`, and leaves the section heading that may follow.
///
/// Models leave out what they do not know: all of it (`@@`, `@@ ... @@`, `@@ fn main() {`), a number of it (`-?,?`), or
/// the end. What is left out is not stated; a number that is none, and a line that could mean something else, is a fault.
pub(super) fn read(text: &[u8]) -> Result<Range, PatchFault> {
    if text.starts_with(b"@@@") {
        return Err(PatchFault::Unsupported(Form::Combined));
    }
    let rest = text.strip_prefix(b"@@").unwrap_or(text);
    if rest.starts_with(b" -") {
        return read_spans(&rest[b" -".len()..]).ok_or(PatchFault::HunkHeader);
    }
    let heading = rest.trim_ascii();
    let apart = rest.is_empty() || rest.starts_with(b" ");
    if !apart || matches!(heading, [b'-' | b'+', ..]) {
        return Err(PatchFault::HunkHeader);
    }
    Ok(Range { stated: None, counts: None })
}

fn read_spans(text: &[u8]) -> Option<Range> {
    let (old, old_count, rest) = read_span(text)?;
    let (new, new_count, rest) = read_span(rest.strip_prefix(b" +")?)?;
    let heading = rest.strip_prefix(b" @@").unwrap_or(rest);
    let ends = heading.is_empty() || heading.len() < rest.len() && heading.starts_with(b" ");
    let stated = old.zip(new).map(|(old, new)| StatedLines { old, new });
    ends.then_some(Range { stated, counts: old_count.zip(new_count) })
}

type Span<'a> = (Option<usize>, Option<usize>, &'a [u8]);

/// Reads `LINE` or `LINE,COUNT`; a count that does not stand is 1.
fn read_span(text: &[u8]) -> Option<Span<'_>> {
    let (line, rest) = read_number(text)?;
    match rest.strip_prefix(b",") {
        None => Some((line, Some(1), rest)),
        Some(rest) => read_number(rest).map(|(count, rest)| (line, count, rest)),
    }
}

/// Reads a number of at most nine digits, which is more lines than any file has, or what stands for one.
fn read_number(text: &[u8]) -> Option<(Option<usize>, &[u8])> {
    let length = text.iter().take_while(|b| !matches!(b, b',' | b' ')).count();
    let (word, rest) = text.split_at(length);
    let is_left_out = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'?' | b'.' | b'*' | b'_');
    if word.len() <= 5 && word.iter().all(is_left_out) {
        return Some((None, rest));
    }
    if word.len() > 9 || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(word).ok()?.parse().ok()?;
    Some((Some(number), rest))
}

const _: () =
    assert!(limits::FILE_BYTES < 999_999_999, "the number of a line of a file has at most nine digits");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_is_read_and_what_is_left_out_is_not() {
        let stated = |old, new| Some(StatedLines { old, new });
        for (text, lines, counts) in [
            ("@@ -4,3 +5,2 @@", stated(4, 5), Some((3, 2))),
            ("@@ -4 +5 @@ fn main() {", stated(4, 5), Some((1, 1))),
            ("@@ -4,3 +5,2", stated(4, 5), Some((3, 2))),
            ("@@ -4,? +5,? @@", stated(4, 5), None),
            ("@@ -?,? +?,? @@", None, None),
            ("@@ -, +, @@", None, None),
            ("@@ -XX,3 +YY,3 @@", None, Some((3, 3))),
            ("@@ -...,... +...,... @@", None, None),
            ("@@", None, None),
            ("@@ @@", None, None),
            ("@@ ... @@", None, None),
            ("@@ \u{2026} @@", None, None),
            ("@@ fn main() {", None, None),
            ("@@ class A @@", None, None),
            ("@@ 4,3 @@", None, None),
        ] {
            assert_eq!(read(text.as_bytes()), Ok(Range { stated: lines, counts }), "{text}");
        }
    }

    #[test]
    fn what_could_mean_something_else_is_a_fault() {
        for text in [
            "@@ -1,5 -1,5 @@",
            "@@ -1 +-1 @@",
            "@@ -1,+1 +1 @@",
            "@@ -1 +1 @@x",
            "@@ -1 +1 fn",
            "@@ -1 @@",
            "@@ +1 -1 @@",
            "@@-1 +1@@",
            "@@x",
            "@@ -9999999999 +1 @@",
            "@@ -placeholder +placeholder @@",
        ] {
            let fault = read(text.as_bytes());
            assert_eq!(fault, Err(PatchFault::HunkHeader), "{text}");
        }
        assert_eq!(read(b"@@@ -1 -1 +1 @@@").unwrap_err().code(), "PATCH_UNSUPPORTED_COMBINED");
    }
}
