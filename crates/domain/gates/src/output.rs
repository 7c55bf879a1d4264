//! The lines of an output stream, bounded and free of terminal control.

/// How much of each end of one stream is read. Runners name what failed first at the start (compilers) or at the end
/// (test runners), so the middle of a longer stream is what can be spared.
const END_BYTES: usize = 256 << 10;
/// The longest line that is looked at; the rest of a longer one is dropped.
const LINE_BYTES: usize = 2048;

/// What a gate wrote, as far as the caller kept it. Untrusted.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateOutput<'a> {
    /// Standard output.
    pub stdout: &'a [u8],
    /// Standard error.
    pub stderr: &'a [u8],
}

impl GateOutput<'_> {
    /// The lines of both streams, each apart.
    pub(crate) fn streams(&self) -> [Vec<String>; 2] {
        [lines(self.stdout), lines(self.stderr)]
    }
}

fn lines(stream: &[u8]) -> Vec<String> {
    if stream.len() <= 2 * END_BYTES {
        return split(stream).collect();
    }
    let (head, tail) = (&stream[..END_BYTES], &stream[stream.len() - END_BYTES..]);
    split(head).chain(split(tail)).collect()
}

fn split(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .flat_map(|line| line.split(|byte| *byte == b'\r'))
        .map(|line| plain(&String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES)])))
}

/// The text without escape sequences (ECMA-48) and other control characters. A replacement character may stand where
/// an earlier reader took the escape away.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' | '\u{fffd}' if chars.peek() == Some(&'[') => {
                chars.next();
                while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
                chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
            }
            '\u{1b}' if chars.peek() == Some(&']') => {
                while chars.next().is_some_and(|c| !matches!(c, '\u{7}' | '\\')) {}
            }
            '\u{1b}' => {
                chars.next();
            }
            '\t' => text.push('\t'),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_carriage_returns_and_bad_bytes_leave_plain_lines() {
        let stream = b"\x1b[31mred\x1b[0m\r\n10%\r100%\r\n\x1b]8;;x\x07link \xff\nlast";
        assert_eq!(lines(stream), ["red", "10%", "100%", "link \u{fffd}", "last"]);
        assert_eq!(lines("\u{fffd}[91merror\u{fffd}[0m: x".as_bytes()), ["error: x"]);
    }

    #[test]
    fn a_long_stream_keeps_both_ends_and_a_long_line_its_start() {
        let mut stream = b"first\n".to_vec();
        stream.extend(std::iter::repeat_n(b"x\n", 400_000).flatten());
        stream.extend_from_slice(b"last");
        let kept = lines(&stream);
        assert_eq!((kept[0].as_str(), kept[kept.len() - 1].as_str()), ("first", "last"));
        assert!(kept.len() <= END_BYTES + 2);
        assert_eq!(lines(&[b'y'; 10_000])[0].len(), LINE_BYTES);
    }
}
