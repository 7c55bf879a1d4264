use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use super::frame::Frame;

/// Draws the block at the bottom of a terminal, over the one before, and what is told above it. It needs no answer from
/// the terminal, and knows where the block is only from what it wrote itself.
///
/// A block is not a `Viewport::Inline`: that has one height for its whole life, and asks the terminal where the cursor is,
/// by way of the same input that is typed to.
#[derive(Debug)]
pub(super) struct Painter {
    has_styles: bool,
    painted: Frame,
    /// How wide the terminal was.
    columns: u16,
}

/// Begin and end of what a terminal is to show at once. A terminal that does not know them ignores them.
const AT_ONCE: (&str, &str) = ("\u{1b}[?2026h", "\u{1b}[?2026l");
const TO_LINE_END: &str = "\u{1b}[K";
const TO_SCREEN_END: &str = "\u{1b}[J";

impl Painter {
    pub(super) fn new(has_styles: bool) -> Self {
        Self { has_styles, painted: Frame::default(), columns: 0 }
    }

    /// The bytes that draw `frame`, and above it the lines of `told`, on a terminal of so many columns. Empty where
    /// nothing would change.
    pub(super) fn draw(&mut self, told: &str, frame: Frame, columns: u16) -> String {
        if told.is_empty() && frame == self.painted && columns == self.columns {
            return String::new();
        }
        let mut out = String::from(AT_ONCE.0);
        self.to_top(&mut out, columns);
        if columns != self.columns {
            // Rows that were broken would otherwise still count as one line when it becomes wider again.
            out.push_str(TO_SCREEN_END);
            self.columns = columns;
        }
        for line in told.lines() {
            let _ = write!(out, "{line}{TO_LINE_END}\r\n");
        }
        for (at, line) in frame.lines.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "\r\n" });
            self.line(&mut out, line);
            out.push_str(TO_LINE_END);
        }
        out.push_str(TO_SCREEN_END);
        out.push_str(AT_ONCE.1);
        self.painted = frame;
        out
    }

    /// The bytes that take the block away, leaving the cursor where it began.
    pub(super) fn erase(&mut self, columns: u16) -> String {
        let mut out = String::new();
        if !self.painted.lines.is_empty() {
            self.to_top(&mut out, columns);
            out.push_str(TO_SCREEN_END);
            self.painted = Frame::default();
        }
        out
    }

    /// Back to where the block begins. A terminal that became narrower has broken the lines that no longer fit.
    fn to_top(&self, out: &mut String, columns: u16) {
        let columns = usize::from(columns).max(1);
        let rows: usize = self.painted.lines.iter().map(|line| line.width().div_ceil(columns).max(1)).sum();
        out.push('\r');
        if rows > 1 {
            let _ = write!(out, "\u{1b}[{}A", rows - 1);
        }
    }

    fn line(&self, out: &mut String, line: &Line<'_>) {
        for span in &line.spans {
            match codes(span.style).filter(|_| self.has_styles) {
                Some(codes) => {
                    let _ = write!(out, "\u{1b}[{codes}m{}\u{1b}[0m", span.content);
                }
                None => out.push_str(&span.content),
            }
        }
    }
}

/// How a terminal is told of a style; `None` of one that is as any other text.
fn codes(style: Style) -> Option<String> {
    let mut codes: Vec<&str> = Vec::new();
    if style.add_modifier.contains(Modifier::BOLD) {
        codes.push("1");
    }
    if style.add_modifier.contains(Modifier::DIM) {
        codes.push("2");
    }
    match style.fg {
        Some(Color::Green) => codes.push("32"),
        Some(Color::Red) => codes.push("31"),
        Some(Color::Yellow) => codes.push("33"),
        _ => {}
    }
    (!codes.is_empty()).then(|| codes.join(";"))
}
