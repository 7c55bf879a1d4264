/// The longest heading that is told.
const HEADING_BYTES: usize = 80;

/// The lines that name what stands below them, asked for from top to bottom of what two files do not share. Every line
/// is looked at once at most, however many hunks there are.
pub(super) struct Headings<'a> {
    /// What stands above all of it, until it was searched.
    above: Option<&'a [u8]>,
    newest: Option<&'a [u8]>,
    /// How many lines were searched.
    searched: usize,
}

impl<'a> Headings<'a> {
    pub(super) const fn of(above: &'a [u8]) -> Self {
        Self { above: Some(above), newest: None, searched: 0 }
    }

    /// The nearest heading above line `end` of `lines`, which is never less than the one asked for before.
    pub(super) fn above(&mut self, lines: &[&'a [u8]], end: usize) -> Option<String> {
        let is_heading = |line: &&[u8]| is_heading(line);
        let near = lines[self.searched..end].iter().rev().copied().find(is_heading).or(self.newest);
        self.newest = near.or_else(|| from_below(self.above.take()?).find(is_heading));
        self.searched = end;
        self.newest.map(|line| {
            let line = &line[..line.len().min(HEADING_BYTES)];
            String::from_utf8_lossy(line).trim_end_matches(char::REPLACEMENT_CHARACTER).trim_end().to_owned()
        })
    }
}

/// The lines of some bytes without their line feeds, the last one first.
fn from_below(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let all = rest?;
        let line_feed = memchr::memrchr(b'\n', all);
        rest = line_feed.map(|at| &all[..at]);
        Some(&all[line_feed.map_or(0, |at| at + 1)..])
    })
}

/// A line that begins with a letter, `_` or `$` at its very start, as git takes it where no language is declared.
fn is_heading(line: &[u8]) -> bool {
    line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str) -> Vec<&[u8]> {
        file.as_bytes().split_inclusive(|byte| *byte == b'\n').collect()
    }

    #[test]
    fn the_last_line_that_begins_at_the_margin_is_the_heading() {
        let lines = lines("\ndef one():\n    return 1\n\n# remark\ndef two():\n    return 2\n");
        let mut headings = Headings::of(b"import a\n    import b\n");
        assert_eq!(headings.above(&lines, 1).as_deref(), Some("import a"));
        assert_eq!(headings.above(&lines, 5).as_deref(), Some("def one():"));
        assert_eq!(headings.above(&lines, 5).as_deref(), Some("def one():"), "nothing lies between");
        assert_eq!(headings.above(&lines, 7).as_deref(), Some("def two():"));
        assert_eq!(Headings::of(b"").above(&lines, 1), None);
        assert_eq!(Headings::of(b"  a\n").above(&lines, 0), None);
    }

    #[test]
    fn a_long_heading_is_cut_and_never_within_a_character() {
        let file = format!("x{}\n", "\u{e4}".repeat(100));
        let heading = Headings::of(file.as_bytes()).above(&[], 0).unwrap();
        assert_eq!(heading, format!("x{}", "\u{e4}".repeat(39)));
        assert_eq!(Headings::of(b"").above(&lines("main()\r\n"), 1).as_deref(), Some("main()"));
    }
}
