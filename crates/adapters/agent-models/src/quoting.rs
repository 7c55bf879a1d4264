//! How text that is not the platform's stands in what a model reads: marked line by line, so that nothing in it can end the
//! mark, with an escape for everything that does not show.

use std::fmt::Write as _;

use ambit_ids::is_unprintable;

/// What stands before a line of data.
pub(crate) const DATA: &str = "| ";
/// What stands before a line of what people want.
pub(crate) const WANTED: &str = "> ";

/// The text in one line: what does not show, line ends included, stands as an escape.
pub(crate) fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) && c != '\t' {
            let _ = write!(line, "\\u{{{:x}}}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line
}

/// The text in one line of at most so many bytes; what is longer says how long it is.
pub(crate) fn in_short(text: &str, room: usize) -> String {
    // Escapes only make it longer: what lies beyond the room is not looked at.
    let shown = in_one_line(&text[..text.floor_char_boundary(room)]);
    if text.len() <= room && shown.len() <= room {
        return shown;
    }
    let kept = shown.floor_char_boundary(room.saturating_sub(NOTE_BYTES / 2));
    format!("{} [cut off; it has {} bytes]", &shown[..kept], text.len())
}

/// The lines of a text, each after `mark`, within so many bytes.
pub(crate) fn marked(text: &str, mark: &str, room: usize) -> String {
    within(text, room, |_| mark.to_owned())
}

/// The lines of a file, each after its number, within so many bytes.
pub(crate) fn numbered(text: &str, room: usize) -> String {
    within(text, room, |index| format!("{:>4}{DATA}", index + 1))
}

/// How many lines a text has.
pub(crate) fn line_count(text: &str) -> usize {
    lines_of(text).count()
}

/// Only a line feed ends a line: any other character that some reader takes for an end is escaped in its place.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.strip_suffix('\n').unwrap_or(text);
    whole.split('\n').filter(|_| !text.is_empty())
}

/// Room for the note on what is left out.
const NOTE_BYTES: usize = 80;

/// The beginning and the end of what has too many lines, with the number of those that are left out between them.
fn within(text: &str, room: usize, mark: impl Fn(usize) -> String) -> String {
    let lines: Vec<&str> = lines_of(text).collect();
    let widest = (room / 8).max(NOTE_BYTES);
    let shown = |index: usize| format!("{}{}\n", mark(index), in_short(lines[index], widest));
    let whole = taken((0..lines.len()).map(shown), room);
    if whole.len() == lines.len() {
        return whole.concat();
    }
    let room = room.saturating_sub(NOTE_BYTES);
    let head = taken((0..lines.len()).map(shown), room * 2 / 3);
    let mut tail = taken((head.len()..lines.len()).rev().map(shown), room / 3);
    tail.reverse();
    let left_out = &lines[head.len()..lines.len() - tail.len()];
    let bytes: usize = left_out.iter().map(|line| line.len() + 1).sum();
    let note = format!("[{} lines of {bytes} bytes are left out]\n", left_out.len());
    head.concat() + &note + &tail.concat()
}

/// As many of the lines as fit.
fn taken(lines: impl Iterator<Item = String>, room: usize) -> Vec<String> {
    let mut left = room;
    lines
        .map_while(|line| {
            left = left.checked_sub(line.len())?;
            Some(line)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_quote_stands_without_its_mark() {
        let text = "a\r\u{2028}b\u{85}c\n\n| d\n> e\n[1 lines of 2 bytes are left out]\n\u{202e}f";
        let quote = marked(text, DATA, 10_000);
        let expected = "| a\\u{d}\\u{2028}b\\u{85}c\n| \n| | d\n| > e\n| [1 lines of 2 bytes are left out]\n| \\u{202e}f\n";
        assert_eq!(quote, expected);
        assert_eq!(numbered("x\ny", 100), "   1| x\n   2| y\n");
        assert_eq!((marked("", DATA, 100), line_count(""), line_count("a\n\n")), (String::new(), 0, 2));
    }

    #[test]
    fn what_is_too_long_is_its_beginning_and_its_end_with_the_count_between() {
        let text: String = (0..1000).map(|line| format!("line {line}\n")).collect();
        for room in [200, 1_000, 5_000, 9_999] {
            let quote = marked(&text, DATA, room);
            assert!(quote.len() <= room, "{} of {room}", quote.len());
            assert!(quote.starts_with("| line 0\n") && quote.ends_with("| line 999\n"), "{quote}");
            let note = quote.lines().find(|line| line.starts_with('[')).unwrap();
            let count: usize = note[1..].split(' ').next().unwrap().parse().unwrap();
            assert_eq!(count + quote.lines().count() - 1, 1000);
        }
        let long = marked(&"x".repeat(100_000), DATA, 1_000);
        assert!(long.len() <= 1_000 && long.contains("[cut off; it has 100000 bytes]"), "{long}");
    }
}
