//! Pages whose parts have colours where they are read at a terminal.

use std::io::{IsTerminal as _, stdout};

use crate::terminal::{QUOTED, columns, folded, has_styles, printable};

/// The column at which the text of a row begins.
pub(crate) const TEXT: usize = 13;
/// What stands in a text for what was left out of its middle.
const LEFT_OUT: &str = "...";
/// The most characters of a quoted line that are shown: a file of one line can be as long as a file.
const QUOTED_CHARS: usize = 500;

/// How a part of a page looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// As everything.
    Plain,
    /// What a part is called.
    Strong,
    /// What went well, or is there now.
    Good,
    /// What did not, or is gone.
    Bad,
    /// What a person should notice.
    Notable,
    /// Where in a file something is.
    Place,
    /// What matters less.
    Quiet,
}

impl Ink {
    /// The parameter of Select Graphic Rendition (ECMA-48).
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Strong => "1",
            Self::Quiet => "2",
            Self::Bad => "31",
            Self::Good => "32",
            Self::Notable => "33",
            Self::Place => "36",
        }
    }
}

/// A page while it is written. Whatever is put on it is made safe for a terminal first.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    columns: Option<usize>,
    has_styles: bool,
}

impl Page {
    /// A page for standard output, as wide as that is, with colours where it is a terminal that wants them.
    pub(crate) fn for_output() -> Self {
        let has_styles = stdout().is_terminal()
            && has_styles()
            && std::env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        Self::new(columns(stdout()), has_styles)
    }

    pub(crate) const fn new(columns: Option<usize>, has_styles: bool) -> Self {
        Self { text: String::new(), columns, has_styles }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// How many columns there are for a text that begins in this one; `None` where lines may be as long as they are.
    pub(crate) fn room(&self, from: usize) -> Option<usize> {
        self.columns.map(|columns| columns.saturating_sub(from))
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A row: what it is about, and its text, which goes on below itself.
    pub(crate) fn row(&mut self, ink: Ink, label: &str, text: &str) {
        // Two spaces end a column, which is how a line is known to go on below the last one.
        let gap = if label.len() + 2 > TEXT { label.len() + 2 } else { TEXT };
        let line = printable(&format!("{label:<gap$}{text}").replace(['\n', '\t'], " "));
        let lines = folded(line.trim_end(), self.columns);
        let label = printable(label);
        match lines.strip_prefix(&label) {
            Some(rest) => {
                self.paint(ink, &label);
                self.text.push_str(rest);
            }
            None => self.text.push_str(&lines),
        }
        self.text.push('\n');
    }

    /// A line that is told in one ink.
    pub(crate) fn line(&mut self, ink: Ink, text: &str) {
        let lines = folded(&printable(&text.replace(['\n', '\t'], " ")), self.columns);
        self.paint(ink, &lines);
        self.text.push('\n');
    }

    /// Parts that make one line, however wide it becomes.
    pub(crate) fn parts(&mut self, parts: &[(Ink, &str)]) {
        for (ink, part) in parts {
            self.paint(*ink, &printable(&part.replace(['\n', '\t'], " ")));
        }
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }

    /// A line that is not ours, behind a bar that it cannot pass for ours without. Where it is wider than the page,
    /// each piece of it has one.
    pub(crate) fn quoted(&mut self, ink: Ink, line: &str) {
        let mut line = line.replace('\t', "    ");
        if let Some((at, _)) = line.char_indices().nth(QUOTED_CHARS) {
            let more = line[at..].chars().count();
            line.truncate(at);
            line.push_str(&format!("{LEFT_OUT} and {more} more characters"));
        }
        let line = if line == " " { "" } else { &line };
        for piece in folded(&printable(&format!("{QUOTED}{line}")), self.columns).lines() {
            let bare = piece.strip_prefix(QUOTED).unwrap_or(piece);
            let bar = if bare.is_empty() { QUOTED.trim_end() } else { QUOTED };
            self.paint(Ink::Quiet, bar);
            self.paint(ink, bare);
            self.text.push('\n');
        }
    }

    fn paint(&mut self, ink: Ink, text: &str) {
        if !self.has_styles || ink == Ink::Plain || text.trim().is_empty() {
            self.text.push_str(text);
            return;
        }
        self.text.push_str(&format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code()));
    }
}

/// The columns that a text takes at most: what is not ASCII counts as two.
pub(crate) fn widest(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// The text in so much room: where it is wider, its middle is left out, since the beginning and the end of a path say
/// the most.
pub(crate) fn within(text: &str, room: Option<usize>) -> String {
    let Some(room) = room.map(|room| room.max(LEFT_OUT.len() + 2)).filter(|room| widest(text) > *room) else {
        return text.to_owned();
    };
    let kept = room - LEFT_OUT.len();
    let take = |chars: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let fitting = chars.scan(room, |left, c| {
            *left = left.checked_sub(if c.is_ascii() { 1 } else { 2 })?;
            Some(c)
        });
        fitting.collect()
    };
    let head = take(&mut text.chars(), kept / 3);
    let mut tail = take(&mut text.chars().rev(), kept - kept / 3);
    tail.reverse();
    head.into_iter().chain(LEFT_OUT.chars()).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_what_is_too_long_is_left_out() {
        let path = "crates/bins/ambit/src/verbs/revision/diff/page.rs";
        assert_eq!(within(path, None), path);
        assert_eq!(within(path, Some(path.len())), path);
        assert_eq!(within(path, Some(20)), "crate...diff/page.rs");
        for room in 0..60 {
            let wide = format!("{path}/\u{6f22}\u{5b57}/\u{e4}.rs");
            assert!(widest(&within(&wide, Some(room))) <= room.max(5), "{room}");
        }
    }

    #[test]
    fn colours_are_ours_and_nothing_on_a_page_is_obeyed() {
        let hostile = "a\u{1b}[2J\u{202e}b\nforged       row";
        for has_styles in [false, true] {
            let mut page = Page::new(Some(40), has_styles);
            page.row(Ink::Good, "gained", hostile);
            page.line(Ink::Strong, hostile);
            page.parts(&[(Ink::Bad, hostile), (Ink::Plain, " ")]);
            page.quoted(Ink::Good, hostile.lines().next().unwrap());
            let text = page.into_text();
            assert_eq!(text.contains("\u{1b}[32mgained\u{1b}[0m"), has_styles);
            assert!(!text.contains("\u{1b}[2J") && !text.contains('\u{202e}'), "{text:?}");
            assert!(!text.lines().any(|line| line.starts_with("forged")), "{text:?}");
            if !has_styles {
                assert!(!text.contains('\u{1b}'), "{text:?}");
            }
        }
    }

    #[test]
    fn a_quoted_line_is_marked_however_long_it_is() {
        let mut page = Page::new(Some(20), false);
        page.quoted(Ink::Plain, &format!("+{}", "x".repeat(20)));
        page.quoted(Ink::Plain, " ");
        page.quoted(Ink::Plain, "");
        assert_eq!(page.into_text(), format!("  | +{}\n  | xxxxx\n  |\n  |\n", "x".repeat(15)));
        let mut page = Page::new(None, false);
        page.quoted(Ink::Plain, &"y".repeat(QUOTED_CHARS + 7));
        let text = page.into_text();
        assert!(text.ends_with("y... and 7 more characters\n") && text.len() < QUOTED_CHARS + 40, "{text}");
    }
}
