/// A file's bytes with a sparse index of its lines. A line ends with its line feed; the last may have none.
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    /// The offset of every [`STRIDE`]th line, from the first on.
    marks: Vec<usize>,
    line_count: usize,
}

/// Every how many lines the index has an entry: a file of 64 MiB of line feeds needs 2 MiB of it.
const STRIDE: usize = 256;

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut marks = vec![0];
        let mut line_feeds = 0;
        for at in memchr::memchr_iter(b'\n', bytes) {
            line_feeds += 1;
            if line_feeds % STRIDE == 0 {
                marks.push(at + 1);
            }
        }
        let unended = usize::from(bytes.last().is_some_and(|last| *last != b'\n'));
        Self { bytes, marks, line_count: line_feeds + unended }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where a line starts, counted from 1; `None` where the file has no such line.
    pub(super) fn offset_of(&self, line: usize) -> Option<usize> {
        let index = line.checked_sub(1).filter(|index| *index < self.line_count)?;
        let mark = *self.marks.get(index / STRIDE)?;
        match index % STRIDE {
            0 => Some(mark),
            further => {
                memchr::memchr_iter(b'\n', &self.bytes[mark..]).nth(further - 1).map(|at| mark + at + 1)
            }
        }
    }

    /// The line that holds the byte at `offset`, counted from 1. Behind the last byte it is the line after the last.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        let marks = self.marks.partition_point(|mark| *mark <= offset);
        let mark = self.marks[marks - 1];
        (marks - 1) * STRIDE + memchr::memchr_iter(b'\n', &self.bytes[mark..offset]).count() + 1
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
            lengths in proptest::collection::vec(0_usize..3, 0..900), ended in proptest::bool::ANY,
        ) {
            let mut bytes: Vec<u8> = lengths.iter().flat_map(|n| [&b"xx"[..*n], b"\n"].concat()).collect();
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
