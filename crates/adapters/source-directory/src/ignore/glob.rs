/// A pattern with wildcards, as git matches paths with it: `?` and `*` stay within a component, `**` between slashes
/// reaches across them, `[...]` is one byte of a set, and a backslash takes the next byte for itself.
///
/// Matching reads the text once and keeps every way in which the pattern can have matched so far, so that its time is
/// the product of both lengths for any pattern.
#[derive(Clone, Debug)]
pub(super) struct Glob(Vec<Token>);

#[derive(Clone, Debug)]
enum Token {
    /// This byte.
    Byte(u8),
    /// One byte within a component.
    Any,
    /// One byte of a set.
    Set(Box<ByteSet>),
    /// Any bytes within a component.
    Star,
    /// Any bytes up to a slash, or none.
    Directories,
    /// Any bytes.
    Everything,
}

type ByteSet = [bool; 256];

impl Glob {
    /// Reads a pattern; `None` where it is malformed and matches nothing.
    pub(super) fn new(pattern: &[u8]) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut rest = pattern;
        while let Some((first, after)) = rest.split_first() {
            let (token, after) = match first {
                b'\\' => after.split_first().map(|(byte, after)| (Token::Byte(*byte), after))?,
                b'?' => (Token::Any, after),
                b'[' => read_set(after).map(|(set, after)| (Token::Set(Box::new(set)), after))?,
                b'*' => {
                    let before = &pattern[..pattern.len() - rest.len()];
                    read_stars(before, after)
                }
                byte => (Token::Byte(*byte), after),
            };
            tokens.push(token);
            rest = after;
        }
        Some(Self(tokens))
    }

    /// Whether the pattern matches the whole text.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        // reached[n] is whether the first n tokens can have matched what was read, and the next one be under way.
        let mut reached = vec![false; self.0.len() + 1];
        let mut next = reached.clone();
        self.reach(0, &mut reached);
        for byte in text {
            next.fill(false);
            for (at, token) in self.0.iter().enumerate().filter(|(at, _)| reached[*at]) {
                match token {
                    Token::Byte(wanted) if wanted == byte => self.reach(at + 1, &mut next),
                    Token::Any if *byte != b'/' => self.reach(at + 1, &mut next),
                    Token::Set(set) if set[usize::from(*byte)] => self.reach(at + 1, &mut next),
                    Token::Star if *byte != b'/' => self.reach(at, &mut next),
                    Token::Everything => self.reach(at, &mut next),
                    Token::Directories => {
                        // Within a component it cannot end, so nothing behind it is reached.
                        next[at] = true;
                        if *byte == b'/' {
                            self.reach(at + 1, &mut next);
                        }
                    }
                    Token::Byte(_) | Token::Any | Token::Set(_) | Token::Star => {}
                }
            }
            std::mem::swap(&mut reached, &mut next);
        }
        reached[self.0.len()]
    }

    /// Marks a token as reached, and those behind it where it can match nothing at all.
    fn reach(&self, mut at: usize, reached: &mut [bool]) {
        reached[at] = true;
        while let Some(Token::Star | Token::Directories | Token::Everything) = self.0.get(at) {
            at += 1;
            reached[at] = true;
        }
    }
}

/// What stars mean after `before`, the first of them read already, and what comes after them.
fn read_stars<'a>(before: &[u8], after: &'a [u8]) -> (Token, &'a [u8]) {
    let more = after.iter().take_while(|byte| **byte == b'*').count();
    let after = &after[more..];
    let starts_component = before.last().is_none_or(|byte| *byte == b'/');
    if more == 0 || !starts_component {
        return (Token::Star, after);
    }
    match after {
        [] | [b'\\', b'/', ..] => (Token::Everything, after),
        [b'/', below @ ..] => (Token::Directories, below),
        _ => (Token::Star, after),
    }
}

/// Reads a set up to its closing bracket; `None` where there is none, or a class that nobody knows.
fn read_set(pattern: &[u8]) -> Option<(ByteSet, &[u8])> {
    let (negated, mut rest) = match pattern {
        [b'!' | b'^', after @ ..] => (true, after),
        _ => (false, pattern),
    };
    let mut set = [false; 256];
    let mut range_start = None;
    let mut is_first = true;
    loop {
        let (first, after) = rest.split_first()?;
        rest = match (first, after) {
            (b']', after) if !is_first => {
                // No set matches a slash.
                let set = std::array::from_fn(|byte| byte != usize::from(b'/') && set[byte] != negated);
                return Some((set, after));
            }
            (b'-', [end, ..]) if *end != b']' && range_start.is_some() => {
                let (end, after) = read_member(after)?;
                let start = range_start.take().unwrap_or(end);
                (start..=end).for_each(|byte| set[usize::from(byte)] = true);
                after
            }
            (b'[', [b':', named @ ..]) => {
                let end = named.iter().position(|byte| *byte == b']')?;
                match named[..end].strip_suffix(b":") {
                    Some(name) => {
                        let class = class(name)?;
                        (0..=u8::MAX).filter(class).for_each(|byte| set[usize::from(byte)] = true);
                        range_start = None;
                        &named[end + 1..]
                    }
                    None => {
                        set[usize::from(b'[')] = true;
                        range_start = Some(b'[');
                        after
                    }
                }
            }
            _ => {
                let (member, after) = read_member(rest)?;
                set[usize::from(member)] = true;
                range_start = Some(member);
                after
            }
        };
        is_first = false;
    }
}

/// One byte of a set, which a backslash may precede.
fn read_member(pattern: &[u8]) -> Option<(u8, &[u8])> {
    match pattern {
        [b'\\', byte, after @ ..] => Some((*byte, after)),
        [b'\\'] | [] => None,
        [byte, after @ ..] => Some((*byte, after)),
    }
}

/// The classes of POSIX as git has them, in ASCII alone.
fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern.as_bytes()).is_some_and(|glob| glob.matches(text.as_bytes()))
    }

    #[test]
    fn stars_reach_as_far_as_git_lets_them() {
        for (pattern, yes, no) in [
            ("a*c", &["ac", "abc", "abbc"][..], &["a/c", "abcd", ""][..]),
            ("**/b", &["b", "a/b", "a/a/b"], &["ab", "a/ab", "b/a"]),
            ("a/**", &["a/b", "a/b/c"], &["a", "ab", "b/a"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "a/x/yb"]),
            ("a/**b", &["a/b", "a/xb"], &["a/x/b"]),
            ("x**/b", &["x/b", "xy/b"], &["x/y/b"]),
            ("**\\/b", &["a/b", "a/c/b"], &["b"]),
            ("**", &["a", "a/b", ""], &[]),
            ("?/*", &["a/b", "a/"], &["ab", "a/b/c", "//"]),
        ] {
            for text in yes {
                assert!(matches(pattern, text), "{pattern} {text}");
            }
            for text in no {
                assert!(!matches(pattern, text), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn sets_are_those_of_git() {
        for (pattern, members) in [
            ("[abc]", "abc"),
            ("[]-]", "]-"),
            ("[!a-y]", "z{"),
            ("[^\\]a-z]", "{"),
            ("[a-c-e]", "abc-e"),
            ("[[:digit:]x]", "0129x"),
            ("[[:x]", "[:x"),
            ("[a\\-c]", "a-c"),
            ("[*?]", "*?"),
            ("[+--]", "+,-"),
        ] {
            for byte in members.chars() {
                assert!(matches(pattern, &byte.to_string()), "{pattern} {byte}");
            }
            assert!(!matches(pattern, "y") && !matches(pattern, "/"), "{pattern}");
        }
        for malformed in ["[", "[a", "[]", "[!]", "[[:nope:]]", "[a\\", "a\\"] {
            assert!(Glob::new(malformed.as_bytes()).is_none(), "{malformed}");
        }
    }

    #[test]
    fn no_pattern_takes_longer_than_the_product_of_the_lengths() {
        // Trying one star after the other would take more steps than there are atoms.
        let glob = Glob::new("*a".repeat(500).as_bytes()).unwrap();
        assert!(!glob.matches("a".repeat(499).as_bytes()));
        assert!(glob.matches("a".repeat(500).as_bytes()));
        let deep = Glob::new(("**/*a".repeat(150) + "b").as_bytes()).unwrap();
        assert!(!deep.matches("a/".repeat(500).as_bytes()));
    }
}
