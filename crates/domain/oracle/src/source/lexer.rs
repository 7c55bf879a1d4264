use super::Language;

/// Words after which a slash starts a regular expression and divides nothing.
const BEFORE_REGEX: [&str; 13] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield",
];

/// How much of a line tells it from others.
const LINE_BYTES: usize = 300;
/// The longest regular expression that is looked for. Where none ends within it, the slash divides.
const REGEX_BYTES: usize = 500;

/// A source file with its comments and strings told apart.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// The whole text.
    pub(crate) text: &'a str,
    /// The text with every byte of a comment and of the inside of a string replaced by a space. Lines and offsets are
    /// those of the text.
    pub(crate) code: String,
    /// The comments, in order.
    pub(crate) comments: Vec<Comment<'a>>,
    /// Whether every string and comment ended where the language lets it end.
    pub(crate) is_whole: bool,
    /// Where each line starts, in bytes.
    line_starts: Vec<usize>,
}

/// A comment without the marks around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment<'a> {
    /// Where it starts in the text, in bytes.
    pub(crate) offset: usize,
    /// What it says.
    pub(crate) text: &'a str,
}

impl<'a> Source<'a> {
    /// Tells comments and strings apart. Never fails, and looks at each byte a bounded number of times.
    pub(crate) fn read(language: Language, text: &'a str) -> Self {
        let mut lexer = Lexer {
            text,
            bytes: text.as_bytes(),
            at: 0,
            code: text.as_bytes().to_vec(),
            comments: Vec::new(),
            is_whole: true,
            templates: Vec::new(),
        };
        while lexer.at < lexer.bytes.len() {
            match language {
                Language::Python => lexer.python(),
                Language::JavaScript { jsx } => lexer.javascript(jsx),
                Language::Rust => lexer.rust(),
                Language::Go => lexer.go(),
                Language::Java => lexer.java(),
            }
        }
        let is_whole = lexer.is_whole && lexer.templates.is_empty();
        let code = String::from_utf8_lossy(&lexer.code).into_owned();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        Source { text, code, comments: lexer.comments, is_whole, line_starts }
    }

    /// The line of an offset, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.line_starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// The line of an offset, without the white space around it, as far as [`LINE_BYTES`] go.
    pub(crate) fn line_text(&self, offset: usize) -> &'a str {
        let next = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[next.saturating_sub(1)];
        let end = self.line_starts.get(next).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or("").trim();
        &line[..line.floor_char_boundary(LINE_BYTES)]
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    code: Vec<u8>,
    comments: Vec<Comment<'a>>,
    is_whole: bool,
    /// For every template literal around the position: how many braces are open in its expression.
    templates: Vec<usize>,
}

impl Lexer<'_> {
    fn python(&mut self) {
        match self.bytes[self.at] {
            b'#' => self.line_comment(1),
            quote @ (b'"' | b'\'') if self.starts(&[quote; 3]) => self.string(&[quote; 3], true, true),
            quote @ (b'"' | b'\'') => self.string(&[quote], true, false),
            b'\\' => self.join(),
            _ => self.at += 1,
        }
    }

    /// A line that goes on with the next one is one with it.
    fn join(&mut self) {
        let end = [b"\\\n".as_slice(), b"\\\r\n"].into_iter().find(|end| self.starts(end));
        let length = end.map_or(1, <[u8]>::len);
        if end.is_some() {
            self.code[self.at..self.at + length].fill(b' ');
        }
        self.at += length;
    }

    fn javascript(&mut self, jsx: bool) {
        match self.bytes[self.at] {
            b'/' if self.starts(b"//") => self.line_comment(2),
            b'/' if self.starts(b"/*") => self.block_comment(false),
            b'/' if self.regex_may_start() => self.regex(),
            quote @ (b'"' | b'\'') if jsx && !self.closes_in_line(quote) => self.at += 1,
            quote @ (b'"' | b'\'') => self.string(&[quote], true, false),
            b'`' => {
                self.at += 1;
                self.template();
            }
            b'{' => {
                self.templates.last_mut().into_iter().for_each(|open| *open += 1);
                self.at += 1;
            }
            b'}' => {
                self.at += 1;
                match self.templates.last_mut() {
                    Some(0) => {
                        self.templates.pop();
                        self.template();
                    }
                    Some(open) => *open -= 1,
                    None => {}
                }
            }
            _ => self.at += 1,
        }
    }

    fn rust(&mut self) {
        match self.bytes[self.at] {
            b'/' if self.starts(b"//") => self.line_comment(2),
            b'/' if self.starts(b"/*") => self.block_comment(true),
            b'"' => self.string(b"\"", true, true),
            b'\'' => self.rust_quote(),
            b'r' if !self.follows_word() || self.follows_byte_prefix() => self.rust_raw(),
            _ => self.at += 1,
        }
    }

    fn go(&mut self) {
        match self.bytes[self.at] {
            b'/' if self.starts(b"//") => self.line_comment(2),
            b'/' if self.starts(b"/*") => self.block_comment(false),
            b'`' => self.string(b"`", false, true),
            quote @ (b'"' | b'\'') => self.string(&[quote], true, false),
            _ => self.at += 1,
        }
    }

    fn java(&mut self) {
        match self.bytes[self.at] {
            b'/' if self.starts(b"//") => self.line_comment(2),
            b'/' if self.starts(b"/*") => self.block_comment(false),
            b'"' if self.starts(b"\"\"\"") => self.string(b"\"\"\"", true, true),
            quote @ (b'"' | b'\'') => self.string(&[quote], true, false),
            _ => self.at += 1,
        }
    }

    fn starts(&self, with: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(with)
    }

    fn blank(&mut self, from: usize, to: usize) {
        for byte in &mut self.code[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn comment(&mut self, from: usize, inside: usize, inside_end: usize, to: usize) {
        self.comments.push(Comment { offset: from, text: self.text.get(inside..inside_end).unwrap_or("") });
        self.blank(from, to);
        self.at = to;
    }

    fn line_comment(&mut self, mark_bytes: usize) {
        let from = self.at;
        let to = from
            + self.bytes[from..].iter().position(|byte| *byte == b'\n').unwrap_or(self.bytes.len() - from);
        self.comment(from, from + mark_bytes, to, to);
    }

    fn block_comment(&mut self, nests: bool) {
        let from = self.at;
        let mut depth = 1_usize;
        let mut at = from + 2;
        while at < self.bytes.len() && depth > 0 {
            if self.bytes[at..].starts_with(b"*/") {
                depth -= 1;
                at += 2;
            } else if nests && self.bytes[at..].starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else {
                at += 1;
            }
        }
        self.is_whole &= depth == 0;
        let inside_end = if depth == 0 { at - 2 } else { at };
        self.comment(from, from + 2, inside_end, at);
    }

    /// A string from its opening to its closing mark, which are the same.
    fn string(&mut self, mark: &[u8], escapes: bool, spans_lines: bool) {
        let inside = self.at + mark.len();
        let mut at = inside;
        loop {
            match self.bytes.get(at) {
                None => break self.is_whole = false,
                Some(b'\n') if !spans_lines => break self.is_whole = false,
                Some(b'\\') if escapes => at += 2,
                Some(_) if self.bytes[at..].starts_with(mark) => {
                    self.blank(inside, at);
                    self.at = at + mark.len();
                    return;
                }
                Some(_) => at += 1,
            }
        }
        let end = at.min(self.bytes.len());
        self.blank(inside, end);
        self.at = end;
    }

    fn closes_in_line(&self, quote: u8) -> bool {
        let line = self.bytes[self.at + 1..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        line.contains(&quote)
    }

    /// The rest of a template literal, up to its end or to its next expression.
    fn template(&mut self) {
        let from = self.at;
        let mut at = from;
        loop {
            match self.bytes.get(at) {
                None => {
                    self.is_whole = false;
                    self.blank(from, self.bytes.len());
                    self.at = self.bytes.len();
                    return;
                }
                Some(b'\\') => at += 2,
                Some(b'`') => {
                    self.blank(from, at);
                    self.at = at + 1;
                    return;
                }
                Some(b'$') if self.bytes.get(at + 1) == Some(&b'{') => {
                    self.blank(from, at);
                    self.templates.push(0);
                    self.at = at + 2;
                    return;
                }
                Some(_) => at += 1,
            }
        }
    }

    /// Whether a slash here starts a regular expression, told from what stands before it.
    fn regex_may_start(&self) -> bool {
        let before = self.code[..self.at].trim_ascii_end();
        match before.last() {
            None => true,
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii() => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
                let tail = &before[before.len().saturating_sub(12)..];
                let start = tail.iter().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
                BEFORE_REGEX.iter().any(|word| word.as_bytes() == &tail[start..])
            }
            Some(byte) => !matches!(byte, b')' | b']' | b'}' | b'"' | b'\'' | b'`' | b'<'),
        }
    }

    fn regex(&mut self) {
        let mut at = self.at + 1;
        let mut in_class = false;
        loop {
            match self.bytes.get(at).filter(|_| at - self.at < REGEX_BYTES) {
                None | Some(b'\n') => return self.at += 1,
                Some(b'\\') => at += 2,
                Some(b'[') => (in_class, at) = (true, at + 1),
                Some(b']') => (in_class, at) = (false, at + 1),
                Some(b'/') if !in_class => {
                    self.blank(self.at + 1, at);
                    return self.at = at + 1;
                }
                Some(_) => at += 1,
            }
        }
    }

    fn follows_word(&self) -> bool {
        self.at > 0 && (self.bytes[self.at - 1].is_ascii_alphanumeric() || self.bytes[self.at - 1] == b'_')
    }

    /// Whether only the `b` or `c` of `br"..."` stands before.
    fn follows_byte_prefix(&self) -> bool {
        let before = &self.bytes[..self.at];
        let alone = before.len() < 2
            || !(before[before.len() - 2].is_ascii_alphanumeric() || before[before.len() - 2] == b'_');
        matches!(before.last(), Some(b'b' | b'c')) && alone
    }

    fn rust_raw(&mut self) {
        let hashes = self.bytes[self.at + 1..].iter().take_while(|byte| **byte == b'#').count();
        let open = self.at + 1 + hashes;
        if self.bytes.get(open) != Some(&b'"') {
            return self.at += 1;
        }
        let mut close = vec![b'"'];
        close.resize(1 + hashes.min(255), b'#');
        let inside = open + 1;
        let length = self.bytes[inside..].windows(close.len()).position(|window| window == close);
        self.is_whole &= length.is_some();
        let end = length.map_or(self.bytes.len(), |length| inside + length);
        self.blank(inside, end);
        self.at = (end + close.len()).min(self.bytes.len());
    }

    /// A character, or the start of a lifetime.
    fn rust_quote(&mut self) {
        let rest = self.text.get(self.at + 1..).unwrap_or("");
        let length = match rest.strip_prefix('\\') {
            Some(escape) => escape.char_indices().skip(1).find(|(_, c)| *c == '\'').map(|(at, _)| at + 1),
            None => {
                rest.chars().next().map(char::len_utf8).filter(|length| rest[*length..].starts_with('\''))
            }
        };
        match length.filter(|length| *length <= 12) {
            Some(length) => {
                self.blank(self.at + 1, self.at + 1 + length);
                self.at += length + 2;
            }
            None => self.at += 1,
        }
    }
}
