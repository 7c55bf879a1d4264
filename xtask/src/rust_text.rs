//! Rust source as text: what of it is code, which functions, modules and traits it holds. Enough of the lexical rules
//! for the checks here, and no parser.

use std::ops::Range;

/// A source in which comments, strings and characters are blanked: same offsets, same lines, only code left.
pub(crate) struct Code {
    bytes: Vec<u8>,
}

/// Something with a name and a body in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// Offset of the keyword.
    pub(crate) start: usize,
    /// From the opening brace to past the closing one; `None` for a declaration that ends in `;`.
    pub(crate) body: Option<Range<usize>>,
}

impl Code {
    pub(crate) fn of(source: &str) -> Self {
        let mut code = Self { bytes: source.as_bytes().to_vec() };
        let mut at = 0;
        while at < code.bytes.len() {
            let end = code.blank_region_at(at);
            if end > at {
                code.blank(at..end);
                at = end;
            } else if is_name(code.bytes[at]) {
                at = code.string_after_prefix(at);
            } else {
                at += 1;
            }
        }
        code
    }

    /// The blanked text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The line of an offset, counted from 1.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        1 + self.bytes[..offset.min(self.bytes.len())].iter().filter(|byte| **byte == b'\n').count()
    }

    /// Every `keyword NAME … { … }` or `keyword NAME … ;`, nested ones included, in order.
    pub(crate) fn items(&self, keyword: &str) -> Vec<Item> {
        self.words(keyword).filter_map(|start| self.item_at(start, keyword.len())).collect()
    }

    /// The offsets at which `word` stands as a whole word.
    pub(crate) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        whole_words(&self.bytes, word)
    }

    /// The bodies of the modules that are compiled for tests only.
    pub(crate) fn test_modules(&self) -> Vec<Range<usize>> {
        self.items("mod")
            .into_iter()
            .filter(|module| self.has_test_attribute(module.start))
            .filter_map(|module| module.body)
            .collect()
    }

    /// The names of the inline modules around an offset, outermost first.
    pub(crate) fn modules_around(&self, offset: usize) -> Vec<String> {
        self.items("mod")
            .into_iter()
            .filter(|module| module.body.as_ref().is_some_and(|body| body.contains(&offset)))
            .map(|module| module.name)
            .collect()
    }

    fn has_test_attribute(&self, module_start: usize) -> bool {
        let before = &self.bytes[..module_start];
        let from = before.iter().rposition(|byte| matches!(byte, b';' | b'}')).map_or(0, |at| at + 1);
        before[from..].windows(b"#[cfg(test)]".len()).any(|window| window == b"#[cfg(test)]")
    }

    fn item_at(&self, start: usize, keyword_length: usize) -> Option<Item> {
        let after = start + keyword_length;
        let name_start =
            after + self.bytes[after..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let length = self.bytes[name_start..].iter().take_while(|byte| is_name(**byte)).count();
        if length == 0 || name_start == after {
            return None;
        }
        let name = String::from_utf8_lossy(&self.bytes[name_start..name_start + length]).into_owned();
        let mut depth = 0_usize;
        for (at, byte) in self.bytes.iter().enumerate().skip(name_start + length) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => return Some(Item { name, start, body: None }),
                b'{' if depth == 0 => return Some(Item { name, start, body: Some(at..self.past_brace(at)) }),
                _ => {}
            }
        }
        None
    }

    fn past_brace(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, byte) in self.bytes.iter().enumerate().skip(open) {
            match byte {
                b'{' => depth += 1,
                b'}' if depth <= 1 => return at + 1,
                b'}' => depth -= 1,
                _ => {}
            }
        }
        self.bytes.len()
    }

    fn blank(&mut self, region: Range<usize>) {
        self.bytes[region].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }

    /// The end of the comment, string or character that starts here; `at` where none does.
    fn blank_region_at(&self, at: usize) -> usize {
        let rest = &self.bytes[at..];
        match rest {
            [b'/', b'/', ..] => at + rest.iter().take_while(|byte| **byte != b'\n').count(),
            [b'/', b'*', ..] => at + block_comment_length(rest),
            [b'"', ..] => at + escaped_length(rest, b'"'),
            [b'\'', ..] => at + character_length(rest),
            _ => at,
        }
    }

    /// Passes over a name; where the name is the prefix of a string, blanks that string too.
    fn string_after_prefix(&mut self, at: usize) -> usize {
        let length = self.bytes[at..].iter().take_while(|byte| is_name(**byte)).count();
        let end = at + length;
        let raw = matches!(&self.bytes[at..end], b"r" | b"br" | b"cr");
        if !raw {
            return end;
        }
        let hashes = self.bytes[end..].iter().take_while(|byte| **byte == b'#').count();
        if self.bytes.get(end + hashes) != Some(&b'"') {
            return end;
        }
        let mut closing = vec![b'"'];
        closing.resize(1 + hashes, b'#');
        let inside = end + hashes + 1;
        let past = self.bytes[inside..]
            .windows(closing.len())
            .position(|window| window == closing)
            .map_or(self.bytes.len(), |found| inside + found + closing.len());
        self.blank(end..past);
        past
    }
}

/// The offsets at which `word` stands in `text` with no further letter, digit or underscore at either side.
pub(crate) fn whole_words<'a>(text: &'a [u8], word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let length = word.len();
    text.windows(length.max(1)).enumerate().filter_map(move |(at, window)| {
        let free = |neighbour: Option<&u8>| neighbour.is_none_or(|byte| !is_name(*byte));
        let before = at.checked_sub(1).and_then(|previous| text.get(previous));
        (window == word.as_bytes() && free(before) && free(text.get(at + length))).then_some(at)
    })
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn block_comment_length(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

fn escaped_length(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// A quote opens a character where it closes after one; otherwise it is a lifetime, and nothing is blanked.
fn character_length(text: &[u8]) -> usize {
    match text {
        [_, b'\\', ..] => escaped_length(text, b'\''),
        [_, first, ..] => {
            let width = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            if text.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        String::from_utf8(Code::of(source).bytes).unwrap()
    }

    #[test]
    fn only_code_is_left_and_nothing_moves() {
        for (source, left) in [
            ("a // fn b\nc", "a        \nc"),
            ("a /* x /* y */ z */ b", "a                   b"),
            (r#"a "fn \" {" b"#, "a           b"),
            ("r#\"a\"b\"# c", "r        c"),
            ("br\"\\\" c", "br    c"),
            ("r#type b", "r#type b"),
            ("b'{' c", "b    c"),
            ("'\\'' c", "     c"),
            ("'é' c", "     c"),
            ("&'a str, 'b: 'c", "&'a str, 'b: 'c"),
            ("bar\"x\"", "bar   "),
        ] {
            assert_eq!(code(source), left, "{source}");
            assert_eq!(code(source).len(), source.len());
        }
    }

    #[test]
    fn what_never_closes_ends_with_the_text() {
        for source in ["\"abc", "/* abc", "r##\"abc\"#", "'\\", "fn a() {", "\"\\"] {
            assert_eq!(code(source).len(), source.len(), "{source}");
        }
    }

    #[test]
    fn functions_are_found_with_their_bodies() {
        let source =
            "fn a(x: [u8; 3]) -> u8 { if x { \"}\" } }\ntrait T { fn b(&self); fn c() {} }\nlet f: fn(u8);";
        let code = Code::of(source);
        let found: Vec<(String, Option<&str>)> = code
            .items("fn")
            .into_iter()
            .map(|item| (item.name, item.body.map(|body| &source[body])))
            .collect();
        assert_eq!(
            found,
            [
                ("a".to_owned(), Some("{ if x { \"}\" } }")),
                ("b".to_owned(), None),
                ("c".to_owned(), Some("{}"))
            ]
        );
    }

    #[test]
    fn modules_around_a_place_and_those_of_tests_are_told() {
        let source =
            "mod a { mod b { fn here() {} } }\n#[cfg(test)]\nmod tests { fn there() {} }\nmod plain {}";
        let code = Code::of(source);
        assert_eq!(code.modules_around(source.find("here").unwrap()), ["a", "b"]);
        assert_eq!(code.modules_around(source.find("there").unwrap()), ["tests"]);
        let tests = code.test_modules();
        assert_eq!(tests.len(), 1);
        assert!(source[tests[0].clone()].contains("there"));
    }

    #[test]
    fn a_word_is_whole() {
        let found: Vec<usize> = whole_words(b"unsafe unsafe_code (unsafe)", "unsafe").collect();
        assert_eq!(found, [0, 20]);
    }
}
