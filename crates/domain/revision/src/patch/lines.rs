//! What single lines of a patch are, whatever form it has.

/// Whether two lines are the names of a file.
pub(super) fn is_header_pair(lines: &[&[u8]], at: usize) -> bool {
    starts(lines, at, b"--- ") && starts(lines, at + 1, b"+++ ")
}

pub(super) fn starts(lines: &[&[u8]], at: usize, with: &[u8]) -> bool {
    lines.get(at).is_some_and(|line| line.starts_with(with))
}

pub(super) fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

/// Whether a line starts the diff of a merge.
pub(super) fn is_combined(text: &[u8]) -> bool {
    text.starts_with(b"diff --cc") || text.starts_with(b"diff --combined")
}

/// The index of the first line from `from` on that is not blank, or the number of lines.
pub(super) fn after_blanks(lines: &[&[u8]], from: usize) -> usize {
    (from..lines.len()).find(|at| !is_blank(lines[*at])).unwrap_or(lines.len())
}
