//! The output of a command for a terminal, while it runs.

use ambit_ports::sandbox::{OutputStream, Sight};

/// How far a tab goes at most.
const TAB_COLUMNS: usize = 8;

/// Writes what is seen of both streams as rows, each marked with its stream, so that none of them can pass for ours. What
/// is no row of the command has no bar.
pub(crate) struct Marked {
    columns: usize,
    /// The stream whose row the cursor stands in, and the column.
    at: Option<(OutputStream, usize)>,
    /// Whether a line of each stream has begun and not ended.
    is_open: [bool; 2],
}

/// What stands before a row of a stream.
pub(crate) const fn mark(stream: OutputStream) -> &'static str {
    match stream {
        OutputStream::Stdout => "out | ",
        OutputStream::Stderr => "err | ",
    }
}

impl Marked {
    /// For a terminal of so many columns, or for what is none.
    pub(crate) const fn new(columns: Option<usize>) -> Self {
        let columns = match columns {
            Some(columns) => columns,
            None => usize::MAX,
        };
        Self { columns, at: None, is_open: [false; 2] }
    }

    /// What is to be written of this.
    pub(crate) fn rows(&mut self, sight: &Sight) -> String {
        let mut rows = String::new();
        match sight {
            Sight::Text { stream, text, .. } => {
                for c in text.chars() {
                    self.put(&mut rows, *stream, c);
                }
            }
            Sight::Gap { stream, bytes, .. } => {
                rows.push_str(self.end());
                self.is_open[*stream as usize] = false;
                rows.push_str(&format!(
                    "{}   ({bytes} bytes came too fast to be shown)\n",
                    &mark(*stream)[..3]
                ));
            }
        }
        rows
    }

    /// Ends the row in which the cursor stands.
    pub(crate) fn end(&mut self) -> &'static str {
        if self.at.take().is_some() { "\n" } else { "" }
    }

    fn put(&mut self, rows: &mut String, stream: OutputStream, c: char) {
        let is_here = self.at.is_some_and(|(at, _)| at == stream);
        if c == '\n' && self.is_open[stream as usize] && !is_here {
            // Its row was ended already, by the other stream.
            self.is_open[stream as usize] = false;
            return;
        }
        let mut column = match self.at {
            Some((at, column)) if at == stream => column,
            _ => self.begin(rows, stream),
        };
        if c == '\n' {
            rows.push_str(self.end());
            self.is_open[stream as usize] = false;
            return;
        }
        if column + width(c, column) > self.columns {
            column = self.begin(rows, stream);
        }
        rows.push(c);
        self.at = Some((stream, column + width(c, column)));
        self.is_open[stream as usize] = true;
    }

    /// Begins a row, and answers the column behind its mark.
    fn begin(&mut self, rows: &mut String, stream: OutputStream) -> usize {
        rows.push_str(self.end());
        rows.push_str(mark(stream));
        self.at = Some((stream, mark(stream).len()));
        mark(stream).len()
    }
}

/// How many columns a character takes at most. What is not ASCII counts as two: nothing is wider, and a row that is too short
/// deceives nobody.
const fn width(c: char, column: usize) -> usize {
    match c {
        '\t' => TAB_COLUMNS - column % TAB_COLUMNS,
        c if c.is_ascii() => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: OutputStream = OutputStream::Stdout;
    const ERR: OutputStream = OutputStream::Stderr;

    fn told(columns: Option<usize>, said: &[(OutputStream, &str)]) -> String {
        let mut marked = Marked::new(columns);
        let mut told = String::new();
        for (stream, text) in said {
            let bytes = text.len() as u64;
            let sight = Sight::Text { stream: *stream, offset: 0, bytes, text: (*text).to_owned() };
            told.push_str(&marked.rows(&sight));
        }
        told + marked.end()
    }

    #[test]
    fn a_line_is_one_row_in_whatever_pieces_it_comes() {
        let pieces = [(OUT, "a"), (OUT, "b\n\nc"), (OUT, "\n")];
        assert_eq!(told(None, &pieces), "out | ab\nout | \nout | c\n");
        assert_eq!(told(None, &[(ERR, "never ended")]), "err | never ended\n");
        assert_eq!(told(None, &[]), "");
    }

    #[test]
    fn streams_that_cut_in_on_each_other_stay_apart() {
        let pieces = [(OUT, "half"), (ERR, "a warning\n"), (OUT, "\nnext"), (ERR, "x"), (OUT, " on\n")];
        assert_eq!(
            told(None, &pieces),
            "out | half\nerr | a warning\nout | next\nerr | x\nout |  on\n",
            "and a line that was ended by the other stream leaves no empty one"
        );
    }

    #[test]
    fn every_row_is_marked_where_a_terminal_ends_it() {
        let long = format!("{}{{\"ended\":\"exit 0\"}}\n", "x".repeat(14));
        assert_eq!(
            told(Some(20), &[(OUT, &long)]),
            "out | xxxxxxxxxxxxxx\nout | {\"ended\":\"exit\nout |  0\"}\n"
        );
        assert_eq!(told(Some(20), &[(OUT, &"\u{6f22}".repeat(8))]).matches("out | ").count(), 2);
        // 8, 16, and no third one in 20 columns.
        assert_eq!(told(Some(20), &[(OUT, "\t\t\tx\n")]), "out | \t\t\nout | \tx\n");
        for columns in 20..40 {
            let said = "a\tbb\u{6f22}\u{e4}ccc ".repeat(20);
            let told = told(Some(columns), &[(ERR, &said), (ERR, "\n")]);
            assert!(told.lines().all(|row| row.starts_with("err | ")), "{told}");
            assert_eq!(told.replace("err | ", "").replace('\n', ""), said);
        }
    }

    #[test]
    fn what_is_missing_is_told_in_our_own_words() {
        let mut marked = Marked::new(Some(80));
        let before = marked.rows(&Sight::Text { stream: OUT, offset: 0, bytes: 1, text: "a".to_owned() });
        let gap = marked.rows(&Sight::Gap { stream: OUT, offset: 1, bytes: 700_000 });
        let after =
            marked.rows(&Sight::Text { stream: OUT, offset: 700_001, bytes: 2, text: "b\n".to_owned() });
        assert_eq!(
            before + &gap + &after,
            "out | a\nout   (700000 bytes came too fast to be shown)\nout | b\n"
        );
    }
}
