//! What a terminal gets to see, of whatever it is made.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

pub(crate) use ambit_verify::{printable, printable_json};
use serde_json::Value;

/// What stands before a line of text that is not ours, so that it cannot pass for ours.
pub(crate) const QUOTED: &str = "  | ";
/// A terminal with fewer columns than this is not laid out for.
const LEAST_COLUMNS: usize = 20;

/// The value with the members of every object in the order of their names. What is printed must not depend on how the maps
/// of this build keep them.
pub(crate) fn in_order(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

/// A number of things.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// How many columns a stream has: as many as `COLUMNS` says, else those of the terminal, else as many as are wanted.
pub(crate) fn columns(stream: impl AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    said.or_else(own).filter(|columns| *columns >= LEAST_COLUMNS)
}

/// Whether an answer goes to a terminal, and JSON was not asked for.
pub(crate) fn is_read_by_a_person(json: bool) -> bool {
    !json && std::io::stdout().is_terminal()
}

/// Whether colours and the like are wanted where there is a terminal.
pub(crate) fn has_styles() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|said| said.is_empty())
}

/// The text with no line wider than so many columns, as far as its words allow. What goes on stands below the last
/// column that begins in the left half. A command that is to be copied keeps the lines that it has.
pub(crate) fn folded(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut goes_on = false;
    text.split_inclusive('\n')
        .map(|line| {
            let is_of_command = goes_on && line.trim_start().starts_with("--");
            goes_on = line.trim_end().ends_with('\\');
            let is_copied = is_of_command || !line.starts_with(QUOTED) && holds_command(line);
            if is_copied { line.to_owned() } else { folded_line(line, columns) }
        })
        .collect()
}

/// The same of what holds no command that is to be copied, such as how commands are written.
pub(crate) fn wrapped(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    text.split_inclusive('\n').map(|line| folded_line(line, columns)).collect()
}

fn folded_line(line: &str, columns: usize) -> String {
    let (bare, end) = line.strip_suffix('\n').map_or((line, ""), |bare| (bare, "\n"));
    if let Some(text) = bare.strip_prefix(QUOTED) {
        return cut(text, columns) + end;
    }
    if bare.chars().count() <= columns {
        return line.to_owned();
    }
    // A digest is wide: it stands further to the left rather than over the edge.
    let widest = bare.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let indent = hang(bare, columns).min(columns.saturating_sub(widest));
    let mut folded = String::new();
    let (mut rest, mut room) = (bare, columns);
    while rest.chars().count() > room {
        // No break within the indentation, which would leave an empty line.
        let start = rest.len() - rest.trim_start().len();
        let fits = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
        let within = rest[..=fits].rfind(' ').filter(|at| *at > start);
        let Some(at) = within.or_else(|| rest[fits..].find(' ').map(|at| fits + at)) else { break };
        folded.push_str(rest[..at].trim_end());
        rest = rest[at..].trim_start();
        folded.push('\n');
        folded.extend(std::iter::repeat_n(' ', indent));
        room = columns - indent;
    }
    folded + rest + end
}

/// A quoted line, cut where the terminal ends whatever stands there: every piece of it is marked. What is not ASCII counts
/// as two columns: nothing is wider, and a piece that is too short deceives nobody.
fn cut(text: &str, columns: usize) -> String {
    let mut cut = QUOTED.to_owned();
    let mut left = columns - QUOTED.len();
    for c in text.chars() {
        let width = if c.is_ascii() { 1 } else { 2 };
        if width > left {
            cut.push('\n');
            cut.push_str(QUOTED);
            left = columns - QUOTED.len();
        }
        left -= width;
        cut.push(c);
    }
    cut
}

/// Whether a line tells a command, at its beginning or in a column.
fn holds_command(line: &str) -> bool {
    let begins = |with| line.trim_start().starts_with(with);
    let follows = |(_, after): (&str, &str)| {
        after.starts_with("--") || after.starts_with(|c: char| c.is_ascii_lowercase())
    };
    begins("AMBIT_HOME=") || begins("ambit ") || line.split_once("  ambit ").is_some_and(follows)
}

/// Where the last column of a line begins, if that is in its left half; else a little right of where the line begins.
fn hang(line: &str, columns: usize) -> usize {
    let chars: Vec<char> = line.chars().take(columns / 2 + 1).collect();
    let begins = |at: &usize| chars[*at] != ' ' && chars[at - 2..*at] == [' ', ' '];
    let first = line.chars().take_while(|c| *c == ' ').count();
    (2..chars.len()).rev().find(begins).filter(|at| *at > first).unwrap_or((first + 2).min(columns / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_stands_only_before_the_end_of_its_line() {
        assert_eq!(printable("a\r\nb\n"), "a\r\nb\n");
        assert_eq!(printable("a\rb\r\r\n\r"), "a\u{fffd}b\u{fffd}\r\n\u{fffd}");
    }

    #[test]
    fn what_nobody_would_see_is_shown_and_for_a_program_escaped() {
        for hidden in ['\u{1b}', '\r', '\u{200b}', '\u{202e}', '\u{ad}', '\u{3164}', '\u{2800}', '\u{e0041}']
        {
            assert_eq!(printable(&format!("a{hidden}b\n")), "a\u{fffd}b\n", "{hidden:?}");
            let json = printable_json(&Value::from(hidden.to_string()));
            assert!(
                json.is_ascii() && serde_json::from_str::<Value>(&json).unwrap() == hidden.to_string(),
                "{json}"
            );
        }
        assert_eq!(printable("\u{e4} \u{6f22}\tb\n"), "\u{e4} \u{6f22}\tb\n");
    }

    #[test]
    fn what_goes_on_stands_below_its_column() {
        let row = "  ok      chain  every record has the shape of its kind\n";
        let told = "  ok      chain  every record has the\n                 shape of its kind\n";
        assert_eq!(folded(row, Some(40)), told);
        assert_eq!(folded(row, Some(60)), row);
        assert_eq!(folded(row, None), row);
        assert_eq!(
            folded("a sentence without columns goes on\n", Some(24)),
            "a sentence without\n  columns goes on\n"
        );
        assert_eq!(folded("exactly twenty chars\n", Some(20)), "exactly twenty chars\n");
        assert_eq!(folded("exactly twenty chars.\n", Some(20)), "exactly twenty\n  chars.\n");
    }

    #[test]
    fn no_word_is_cut_and_no_command_is_broken() {
        let actor = "    7  ambit   denied a read of another project\n";
        assert_eq!(
            folded(actor, Some(34)),
            "    7  ambit   denied a read of\n               another project\n"
        );
        let digest = format!("tree  sha256:{}  after it\n", "0".repeat(64));
        assert_eq!(folded(&digest, Some(30)), format!("tree\nsha256:{}\nafter it\n", "0".repeat(64)));
        let command = "next         ambit run resume a-run-of-a-long-name --agent FILE   goes on with it\n";
        assert_eq!(folded(command, Some(40)), command);
        assert_eq!(
            folded("  ambit approve prop --digest sha256:0\n", Some(24)),
            "  ambit approve prop --digest sha256:0\n"
        );
        let elsewhere = "next         ambit --org acme --project p run show first   every call\n";
        assert_eq!(folded(elsewhere, Some(40)), elsewhere);
        let goes_on = format!("  ambit approve prop \\\n    --digest sha256:{}\n", "0".repeat(64));
        assert_eq!(folded(&goes_on, Some(80)), goes_on);
        let alone = "    --digest is what it must quote\n";
        assert_eq!(folded(alone, Some(30)), "    --digest is what it must\n      quote\n");
    }

    #[test]
    fn every_piece_of_what_is_quoted_is_marked() {
        let quoted = format!("  | +{}  ambit approve prop_x\n", "x".repeat(15));
        assert_eq!(folded(&quoted, Some(20)), "  | +xxxxxxxxxxxxxxx\n  |   ambit approve \n  | prop_x\n");
        assert_eq!(folded("  | \n", Some(20)), "  | \n");
        let wide = format!("  | {}text\n", "\u{6f22}".repeat(9));
        let told = format!("  | {}\n  | {}text\n", "\u{6f22}".repeat(8), "\u{6f22}");
        assert_eq!(folded(&wide, Some(20)), told);
        assert_eq!(folded(&quoted, None), quoted);
    }

    #[test]
    fn nothing_but_line_ends_and_spaces_is_changed() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for text in [
            "",
            "\n",
            " \n",
            "   x",
            "ä é ü\u{301} 漢字 words and more of them",
            "a  b  c  d  e  f  g  h",
            &" ".repeat(90),
        ] {
            for columns in [20, 21, 33, 80] {
                let told = folded(text, Some(columns));
                assert_eq!(words(&told), words(text));
                assert!(
                    told.lines().all(|line| line.chars().count() <= columns || line.trim().is_empty()),
                    "{told:?}"
                );
            }
        }
    }
}
