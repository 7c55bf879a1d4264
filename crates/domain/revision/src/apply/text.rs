/// A file's bytes with a sparse index of its lines. A line ends with its line feed; the last may have none.
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    /// How many line feeds lie above every [`STRIDE`]th byte, from the first on.
    marks: Vec<usize>,
    line_count: usize,
}

/// Every how many bytes the index has an entry. What is looked up passes over so many bytes, and to the end of a line,
/// however long the lines are; a file of 64 MiB needs 128 KiB of it.
const STRIDE: usize = 4096;

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut marks = vec![0];
        let mut line_feeds = 0;
        for block in bytes.chunks(STRIDE) {
            line_feeds += memchr::memchr_iter(b'\n', block).count();
            marks.push(line_feeds);
        }
        let unended = usize::from(bytes.last().is_some_and(|last| *last != b'\n'));
        Self { bytes, marks, line_count: line_feeds + unended }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where a line starts, counted from 1; `None` where the file has no such line.
    pub(super) fn offset_of(&self, line: usize) -> Option<usize> {
        let above = line.checked_sub(1).filter(|above| *above < self.line_count)?;
        let Some(block) = self.marks.partition_point(|mark| *mark < above).checked_sub(1) else {
            return Some(0);
        };
        let start = block * STRIDE;
        let further = above - self.marks[block] - 1;
        memchr::memchr_iter(b'\n', &self.bytes[start..]).nth(further).map(|at| start + at + 1)
    }

    /// The line that holds the byte at `offset`, counted from 1. Behind the last byte it is the line after the last.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        let block = offset / STRIDE;
        self.marks[block] + memchr::memchr_iter(b'\n', &self.bytes[block * STRIDE..offset]).count() + 1
    }

    /// The lines from `offset` on.
    pub(super) fn lines_from(&self, offset: usize) -> impl Iterator<Item = &'a [u8]> {
        self.bytes[offset..].split_inclusive(|b| *b == b'\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn lines_and_offsets_agree_with_a_plain_count(
            lengths in proptest::collection::vec(0_usize..50, 0..900), ended in proptest::bool::ANY,
        ) {
            let mut bytes: Vec<u8> = lengths.iter().flat_map(|n| [&[b'x'; 50][..*n], b"\n"].concat()).collect();
            if !ended {
                bytes.pop();
            }
            let text = Text::new(&bytes);
            let mut offset = 0;
            for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
                proptest::prop_assert_eq!(text.offset_of(index + 1), Some(offset));
                proptest::prop_assert_eq!(text.line_at(offset), index + 1);
                proptest::prop_assert_eq!(text.line_at(offset + line.len() - 1), index + 1);
                proptest::prop_assert_eq!(text.lines_from(offset).next(), Some(line));
                offset += line.len();
            }
            let count = bytes.split_inclusive(|b| *b == b'\n').count();
            proptest::prop_assert_eq!(text.offset_of(count + 1), None);
            proptest::prop_assert_eq!(text.offset_of(0), None);
        }
    }
}
