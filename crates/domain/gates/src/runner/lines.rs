//! What readers of every format look for in lines: counts, indentation, and what belongs to a failure.

/// The number before each word in a line of counts, such as `3 failed, 2 passed`.
pub(super) fn counted(line: &str, word: &str) -> u32 {
    let mut number = None;
    for part in line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '=' | '(' | ')')) {
        if part == word
            && let Some(number) = number
        {
            return number;
        }
        if !part.is_empty() {
            number = part.parse().ok();
        }
    }
    0
}

/// The number in the last line that is a mark, the word and the number: `# pass 3`.
pub(super) fn total(lines: &[String], mark: &str, word: &str) -> Option<u32> {
    lines.iter().rev().find_map(|line| {
        let rest = line.strip_prefix(mark)?.strip_prefix(' ')?.strip_prefix(word)?;
        rest.strip_prefix(' ')?.parse().ok()
    })
}

/// What belongs to the failure that `lines` follow: all up to where `ends` says so, and never more than a thousand
/// lines, so that the work for one failure has a limit.
pub(super) fn body(lines: &[String], ends: impl Fn(&str) -> bool) -> &[String] {
    let near = &lines[..lines.len().min(1000)];
    &near[..near.iter().position(|line| ends(line)).unwrap_or(near.len())]
}

/// How deep a line is indented, in bytes.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
