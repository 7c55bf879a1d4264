use std::collections::VecDeque;

use ambit_ports::sandbox::{OutputStream, Sight};

/// How many lines are kept.
const LINES: usize = 3;
/// How much of a line is kept; no terminal shows more on one row.
const LINE_CHARS: usize = 500;

/// The last lines that a gate put out, of both streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output(VecDeque<Line>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    stream: OutputStream,
    text: String,
    chars: usize,
    has_ended: bool,
}

impl Output {
    /// Takes what was seen. A line of which something is missing is not gone on with.
    pub(super) fn see(&mut self, sight: &Sight) {
        match sight {
            Sight::Text { stream, text, .. } => {
                text.split_inclusive('\n').for_each(|piece| self.put(*stream, piece));
            }
            Sight::Gap { stream, .. } => {
                self.0.iter_mut().filter(|it| it.stream == *stream).for_each(|it| it.has_ended = true);
            }
        }
    }

    /// The lines, the newest last.
    pub(super) fn lines(&self) -> impl Iterator<Item = (OutputStream, &str)> {
        self.0.iter().map(|line| (line.stream, line.text.as_str()))
    }

    fn put(&mut self, stream: OutputStream, piece: &str) {
        let begun = self.0.iter().rposition(|line| line.stream == stream && !line.has_ended);
        let at = begun.unwrap_or_else(|| {
            self.0.push_back(Line { stream, text: String::new(), chars: 0, has_ended: false });
            while self.0.len() > LINES {
                self.0.pop_front();
            }
            self.0.len() - 1
        });
        let line = &mut self.0[at];
        for c in piece.trim_end_matches('\n').chars().take(LINE_CHARS - line.chars) {
            line.text.push(c);
            line.chars += 1;
        }
        line.has_ended = piece.ends_with('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: OutputStream = OutputStream::Stdout;
    const ERR: OutputStream = OutputStream::Stderr;

    fn text(stream: OutputStream, text: &str) -> Sight {
        Sight::Text { stream, offset: 0, bytes: text.len() as u64, text: text.to_owned() }
    }

    #[test]
    fn the_newest_lines_stay_whatever_pieces_they_come_in() {
        let mut output = Output::default();
        for sight in [text(OUT, "one\ntw"), text(ERR, "a warning\n"), text(OUT, "o\nthree")] {
            output.see(&sight);
        }
        let lines = [(OUT, "two"), (ERR, "a warning"), (OUT, "three")];
        assert_eq!(output.lines().collect::<Vec<_>>(), lines);
        output.see(&Sight::Gap { stream: OUT, offset: 17, bytes: 9 });
        output.see(&text(OUT, "of another line"));
        let lines = [(ERR, "a warning"), (OUT, "three"), (OUT, "of another line")];
        assert_eq!(output.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_room_than_others() {
        let mut output = Output::default();
        (0..9).for_each(|_| output.see(&text(OUT, &"\u{20ac}".repeat(400))));
        let lines: Vec<_> = output.lines().map(|(_, text)| text.chars().count()).collect();
        assert_eq!(lines, [LINE_CHARS]);
    }
}
