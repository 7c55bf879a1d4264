use super::block::Block;
use super::excerpt::Excerpt;
use super::locate::{Found, SearchBudget};
use super::refusal::Reason;
use super::text::Text;

/// The part of a file where a hunk that says more than its lines is to be found.
pub(super) struct Part<'a> {
    pub(super) text: Text<'a>,
    offset: usize,
    lines_above: usize,
}

/// The part of a file below the lines that a block names, and of these its last lines where the block ends the file;
/// `None` where it is the whole file.
pub(super) fn narrow<'a>(
    text: &Text<'a>,
    block: &Block,
    budget: &mut SearchBudget,
) -> Result<Option<Part<'a>>, Reason> {
    if block.anchors.is_empty() && !block.ends_file {
        return Ok(None);
    }
    let bytes = text.bytes();
    let mut offset = 0;
    for anchor in &block.anchors {
        let length = below(&bytes[offset..], anchor);
        budget.spend(length.unwrap_or(bytes.len() - offset)).map_err(|_| Reason::SearchLimit)?;
        let missing = || Reason::AnchorMissing { hunk: block.hunk, line: Excerpt::of(anchor) };
        offset += length.ok_or_else(missing)?;
    }
    if block.ends_file {
        let lines = block.before.split_inclusive(|b| *b == b'\n').count();
        offset = offset.max(last_lines(bytes, lines));
    }
    budget.spend(bytes.len()).map_err(|_| Reason::SearchLimit)?;
    let lines_above = memchr::memchr_iter(b'\n', &bytes[..offset]).count();
    Ok(Some(Part { text: Text::new(&bytes[offset..]), offset, lines_above }))
}

/// How many bytes there are down to the end of the first line that is `anchor` but for the blanks around it.
fn below(bytes: &[u8], anchor: &[u8]) -> Option<usize> {
    let mut length = 0;
    bytes.split_inclusive(|b| *b == b'\n').find_map(|line| {
        length += line.len();
        (line.trim_ascii() == anchor).then_some(length)
    })
}

/// Where the last `count` lines start, or all lines where there are fewer.
fn last_lines(bytes: &[u8], count: usize) -> usize {
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    match count.checked_sub(1) {
        None => bytes.len(),
        Some(further) => memchr::memrchr_iter(b'\n', ended).nth(further).map_or(0, |at| at + 1),
    }
}

impl Part<'_> {
    /// What was found in the part, in terms of the whole file.
    pub(super) fn of_whole(&self, found: Result<Found, Reason>) -> Result<Found, Reason> {
        let shift = |line: usize| line + self.lines_above;
        match found {
            Ok(found) => Ok(Found { offset: found.offset + self.offset, line: shift(found.line), ..found }),
            Err(Reason::ContextMismatch(mut mismatch)) => {
                mismatch.line = shift(mismatch.line);
                mismatch.candidates = mismatch.candidates.into_iter().map(shift).collect();
                Err(Reason::ContextMismatch(mismatch))
            }
            Err(Reason::AmbiguousPlace { hunk, lines }) => {
                Err(Reason::AmbiguousPlace { hunk, lines: lines.into_iter().map(shift).collect() })
            }
            Err(Reason::ContextLineEnding { hunk, line, file_has }) => {
                Err(Reason::ContextLineEnding { hunk, line: shift(line), file_has })
            }
            Err(other) => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_below_an_anchor_starts_on_the_next_line() {
        assert_eq!(below(b"a\n  b \nc\n", b"b"), Some(7));
        assert_eq!(below(b"a\nbb\n", b"b"), None);
        assert_eq!(below(b"b", b"b"), Some(1));
    }

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        let starts: Vec<usize> = (0..5).map(|count| last_lines(b"a\nb\nc\n", count)).collect();
        assert_eq!(starts, [6, 4, 2, 0, 0]);
        assert_eq!((last_lines(b"a\nb", 1), last_lines(b"", 1)), (2, 0));
    }
}
