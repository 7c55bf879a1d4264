use crate::patch::fault::{PatchError, PatchFault};
use crate::patch::lines::is_blank;

/// A line of Markdown that opens a fence or closes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::patch) struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
    /// Whether something follows the marks, so that it can only open.
    has_info: bool,
}

impl Fence {
    /// Reads a line as CommonMark has it: up to three spaces, at least three marks of one kind, and what they fence.
    pub(in crate::patch) fn read(text: &[u8]) -> Option<Self> {
        let indent = text.iter().take_while(|b| **b == b' ').count();
        let marks = text.get(indent..).filter(|_| indent <= 3)?;
        let mark = *marks.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = marks.iter().take_while(|b| **b == mark).count();
        let info = marks[length..].trim_ascii();
        let is_code_span = mark == b'`' && info.contains(&b'`');
        (length >= 3 && !is_code_span).then_some(Self { mark, length, indent, has_info: !info.is_empty() })
    }

    /// Whether a line closes this fence. It is indented as the fence is: CommonMark would also take another indent, and
    /// so a line of context that holds a fence.
    pub(in crate::patch) fn is_closed_by(&self, line: &[u8]) -> bool {
        Self::read(line.trim_ascii_end()).is_some_and(|other| {
            !other.has_info
                && other.mark == self.mark
                && other.length >= self.length
                && other.indent == self.indent
        })
    }

    /// Takes the indent of the fence that opens at `at` from the lines within it, all of which must have it, and from the
    /// one that closes it. Answers the fence without indent.
    pub(in crate::patch) fn unindent(self, lines: &mut [&[u8]], at: usize) -> Result<Self, PatchError> {
        if self.indent == 0 {
            return Ok(self);
        }
        let within = lines.iter().skip(at + 1).position(|line| self.is_closed_by(line));
        let length = within.ok_or(PatchError::at(at, PatchFault::Fence("is not closed")))?;
        for (index, line) in lines.iter_mut().enumerate().skip(at + 1).take(length + 1) {
            let (indent, rest) = line.split_at(self.indent.min(line.len()));
            if indent.iter().all(|b| *b == b' ') && !rest.is_empty() {
                *line = rest;
            } else if !is_blank(line) {
                let fault = PatchFault::Fence("is indented, and a line within it is not");
                return Err(PatchError::at(index, fault));
            }
        }
        Ok(Self { indent: 0, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_what_markdown_takes_for_one() {
        for (text, expected) in [
            ("```", Some((3, 0, false))),
            ("````diff", Some((4, 0, true))),
            ("~~~ diff `x`", Some((3, 0, true))),
            ("   ```  ", Some((3, 3, false))),
            ("    ```", None),
            ("``", None),
            ("```a`b", None),
            ("+```", None),
        ] {
            let read = Fence::read(text.as_bytes()).map(|fence| (fence.length, fence.indent, fence.has_info));
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_its_like() {
        let fence = Fence::read(b"````diff").unwrap();
        for (line, closes) in [
            ("````\n", true),
            ("````` \n", true),
            ("```\n", false),
            ("~~~~\n", false),
            (" ````\n", false),
            ("````x\n", false),
        ] {
            assert_eq!(fence.is_closed_by(line.as_bytes()), closes, "{line}");
        }
    }
}
