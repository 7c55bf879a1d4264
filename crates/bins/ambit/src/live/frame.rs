//! Lines that fit: what every part of the live block is made from.

use ambit_ids::DurationMs;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::terminal::printable;

/// How much room there is, and what can be shown in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Screen {
    /// Columns of the terminal. The last one stays empty, where terminals differ about what follows.
    pub(super) width: u16,
    /// Rows of the terminal. The uppermost one stays to what scrolls.
    pub(super) height: u16,
    /// Whether marks beyond ASCII can be shown.
    pub(super) unicode: bool,
}

/// The live block as it is to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) lines: Vec<Line<'static>>,
}

/// The column in which the text of a row begins.
pub(super) const TEXT: usize = 11;

impl Screen {
    /// Columns that can be filled.
    pub(super) fn columns(self) -> usize {
        usize::from(self.width).saturating_sub(1).max(1)
    }

    /// Rows that can be filled.
    pub(super) fn rows(self) -> usize {
        usize::from(self.height).saturating_sub(1).clamp(1, 20)
    }

    /// Columns for the text of a row.
    pub(super) fn text_columns(self) -> usize {
        self.columns().saturating_sub(TEXT).max(1)
    }

    pub(super) const fn ellipsis(self) -> &'static str {
        if self.unicode { "\u{2026}" } else { "..." }
    }

    pub(super) const fn dot(self) -> &'static str {
        if self.unicode { " \u{b7} " } else { ", " }
    }

    /// The text on one line of so many columns. Where it is longer, what is left out is marked.
    pub(super) fn cut(self, text: &str, columns: usize) -> String {
        let text = one_line(text);
        if width(&text) <= columns {
            return text;
        }
        let room = columns.saturating_sub(width(self.ellipsis()));
        let mut cut = String::new();
        for c in text.chars() {
            cut.push(c);
            if width(&cut) > room {
                cut.pop();
                break;
            }
        }
        cut + self.ellipsis()
    }

    /// The parts one after the other on as many lines as they need, at most so many; each part stays whole if it can.
    pub(super) fn flow(self, parts: &[String], between: &str, most: usize) -> Vec<String> {
        let columns = self.text_columns();
        let mut lines: Vec<String> = Vec::new();
        for part in parts {
            match lines.last_mut() {
                Some(line) if width(line) + width(between) + width(part) <= columns => {
                    line.push_str(between);
                    line.push_str(part);
                }
                _ => lines.push(self.cut(part, columns)),
            }
        }
        lines.truncate(most);
        lines
    }

    /// The words of a text on as many lines as they need, at most so many.
    pub(super) fn wrapped(self, text: &str, most: usize) -> Vec<String> {
        let text = one_line(text);
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let mut lines = self.flow(&words, " ", usize::MAX);
        if lines.len() > most {
            let rest = lines.split_off(most.saturating_sub(1)).join(" ");
            lines.push(self.cut(&rest, self.text_columns()));
        }
        lines
    }

    /// A command that can be copied: on as many lines as it needs, each but the last of them going on in the next. `None`
    /// where a word of it fits no line.
    pub(super) fn command(self, words: &str) -> Option<Vec<String>> {
        let room = self.columns().saturating_sub(2);
        let mut lines: Vec<String> = Vec::new();
        for word in words.split(' ') {
            let indent = if lines.is_empty() { "  " } else { "    " };
            match lines.last_mut() {
                Some(line) if width(line) + 1 + width(word) <= room => {
                    line.push(' ');
                    line.push_str(word);
                }
                // The last line needs no mark that it goes on.
                _ if width(indent) + width(word) <= self.columns() => lines.push(format!("{indent}{word}")),
                _ => return None,
            }
        }
        let last = lines.len().saturating_sub(1);
        lines.iter_mut().take(last).for_each(|line| line.push_str(" \\"));
        lines.iter().all(|line| width(line) <= self.columns()).then_some(lines)
    }

    /// A bar of so many cells, as much of it filled as `part` is of `whole`.
    pub(super) fn bar(self, part: u64, whole: u64, cells: u64) -> String {
        let filled = part.min(whole).saturating_mul(cells).checked_div(whole).unwrap_or(0);
        let (full, empty) = if self.unicode { ("\u{2588}", "\u{2591}") } else { ("#", "-") };
        let repeated = |mark: &str, times: u64| mark.repeat(usize::try_from(times).unwrap_or(0));
        format!("{}{}", repeated(full, filled), repeated(empty, cells - filled))
    }
}

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Text that is not ours on one line, without anything that a terminal would obey.
pub(super) fn one_line(text: &str) -> String {
    printable(text).split(['\n', '\t']).collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// A row: what it is about, and its text.
pub(super) fn row(label: &str, text: impl Into<String>, style: Style) -> Line<'static> {
    Line::from(vec![Span::styled(format!("{label:<TEXT$}"), quiet()), Span::styled(text.into(), style)])
}

/// How labels look, and whatever matters less.
pub(super) fn quiet() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// How what matters most looks.
pub(super) fn strong() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// How what went well looks.
pub(super) fn good() -> Style {
    Style::new().fg(Color::Green)
}

/// How what was refused or failed looks.
pub(super) fn bad() -> Style {
    Style::new().fg(Color::Red)
}

/// How what a person should notice looks.
pub(super) fn notable() -> Style {
    Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)
}

/// How everything else looks.
pub(super) fn plain() -> Style {
    Style::new()
}

/// Minutes and seconds.
pub(super) fn clock(span: DurationMs) -> String {
    let seconds = span.get() / 1_000;
    match seconds / 3_600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

/// Lines under one label.
pub(super) fn labelled(label: &str, lines: Vec<String>) -> Vec<Line<'static>> {
    let label = |at: usize| if at == 0 { label } else { "" };
    lines.into_iter().enumerate().map(|(at, line)| row(label(at), line, plain())).collect()
}
