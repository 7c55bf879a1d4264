use super::Source;

/// How far the end of a call is looked for.
const ENCLOSED_BYTES: usize = 400;

/// Code without white space, save where it keeps two words apart, so that no spacing hides a form that is looked for.
#[derive(Debug)]
pub(crate) struct Tight {
    /// The code. Strings are empty.
    pub(crate) text: String,
    offsets: Vec<usize>,
}

/// A word of tight code: an identifier, a keyword or a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    /// The word.
    pub(crate) text: &'a str,
    /// What stands before it.
    pub(crate) before: &'a str,
    /// What stands after it.
    pub(crate) after: &'a str,
}

impl Tight {
    pub(crate) fn of(source: &Source<'_>) -> Self {
        let mut text = String::with_capacity(source.code.len());
        let mut offsets = Vec::with_capacity(source.code.len());
        let mut gap = false;
        for (offset, c) in source.code.char_indices() {
            if c.is_whitespace() {
                gap = true;
                continue;
            }
            if gap && is_word(c) && text.ends_with(is_word) {
                text.push(' ');
                offsets.push(offset);
            }
            gap = false;
            text.push(c);
            offsets.resize(text.len(), offset);
        }
        Self { text, offsets }
    }

    /// Where a position of the tight code lies in the source.
    pub(crate) fn offset(&self, position: usize) -> usize {
        self.offsets.get(position).or(self.offsets.last()).copied().unwrap_or(0)
    }

    /// The words, in order.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word<'_>> {
        let text = self.text.as_str();
        let mut rest = 0;
        std::iter::from_fn(move || {
            let start = rest + text[rest..].find(is_word)?;
            let end = text[start..].find(|c| !is_word(c)).map_or(text.len(), |length| start + length);
            rest = end;
            Some(Word { text: &text[start..end], before: &text[..start], after: &text[end..] })
        })
    }
}

impl<'a> Word<'a> {
    /// The position of the word in its tight code.
    pub(crate) fn position(&self) -> usize {
        self.before.len()
    }

    /// Whether the word is called.
    pub(crate) fn is_called(&self) -> bool {
        self.after.starts_with('(')
    }

    /// The word of which this one is a member: `unittest` of `skip` in `unittest.skip`.
    pub(crate) fn owner(&self) -> Option<&'a str> {
        let before = self.before.strip_suffix('.')?;
        let start = before.rfind(|c| !is_word(c)).map_or(0, |at| at + next_boundary(before, at));
        Some(&before[start..])
    }

    /// What the call of this word is given, up to the bracket that closes it.
    pub(crate) fn arguments(&self) -> &'a str {
        let open = self.after.find(['(', '[', '{']).unwrap_or(self.after.len());
        enclosed(&self.after[open..])
    }
}

/// What lies between the bracket at the start of `text` and the one that closes it. Where none does within
/// [`ENCLOSED_BYTES`], that many bytes.
fn enclosed(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(ENCLOSED_BYTES) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(1..at).unwrap_or("");
                }
            }
            _ => {}
        }
    }
    let end = text.floor_char_boundary(ENCLOSED_BYTES);
    text.get(1..end).unwrap_or("")
}

fn next_boundary(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}
