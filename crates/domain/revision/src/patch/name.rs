use super::fault::PatchFault;

/// One side of a file's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// `/dev/null`: the file is not there on this side.
    Null,
    /// The name as it stands, without its quotes.
    Name(Vec<u8>),
}

/// How the paths of a header carry a prefix for each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    /// They do.
    Carried,
    /// They do not.
    Bare,
    /// One side alone is named, and starts with its prefix.
    Either,
}

/// The text of a header line, without its line feed.
pub(super) fn header_text(line: &[u8]) -> Result<&[u8], PatchFault> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    if text.ends_with(b"\r") { Err(PatchFault::LineEnding) } else { Ok(text) }
}

/// Reads what follows `--- ` or `+++ `: a name, and after a tab whatever a tool adds to it.
pub(super) fn read_side(text: &[u8]) -> Result<Side, PatchFault> {
    let name = match text.strip_prefix(b"\"") {
        Some(quoted) => {
            let (name, rest) = unquote(quoted).ok_or(PatchFault::Header("a quoted name is malformed"))?;
            if !(rest.is_empty() || rest.starts_with(b"\t")) {
                return Err(PatchFault::Header("something follows a quoted name"));
            }
            name
        }
        None => text.split(|b| *b == b'\t').next().unwrap_or_default().to_vec(),
    };
    match name.as_slice() {
        b"" => Err(PatchFault::Header("a file has no name")),
        b"/dev/null" => Ok(Side::Null),
        _ => Ok(Side::Name(name)),
    }
}

/// The prefixes that git gives the two sides: its usual ones, and those that tell where a side comes from (the index, the
/// work tree, a commit, an object, or a file beside a repository).
const PREFIXES: [(&[u8], &[u8]); 6] =
    [(b"a/", b"b/"), (b"i/", b"w/"), (b"c/", b"i/"), (b"c/", b"w/"), (b"o/", b"w/"), (b"1/", b"2/")];

/// Reads a name that fills the rest of its line.
pub(super) fn read_name(text: &[u8]) -> Result<Vec<u8>, PatchFault> {
    let name = match text.strip_prefix(b"\"") {
        None => Some(text.to_vec()),
        Some(quoted) => unquote(quoted).filter(|(_, rest)| rest.is_empty()).map(|(name, _)| name),
    };
    match name {
        None => Err(PatchFault::Header("a quoted name is malformed")),
        Some(name) if name.is_empty() => Err(PatchFault::Header("a file has no name")),
        Some(name) => Ok(name),
    }
}

/// How the names of a header carry prefixes, where they are known to be of the path `from` before and `to` after: those of
/// its `diff --git` line and, where they stand, those of its sides. `None` where they are of others.
pub(super) fn prefix_of_rename(
    git_names: &[u8],
    sides: Option<(&[u8], &[u8])>,
    from: &[u8],
    to: &[u8],
) -> Option<Prefix> {
    let fits = |(own, other): &(&[u8], &[u8])| {
        let (old, new) = ([own, from].concat(), [other, to].concat());
        let rest = after_name(git_names, &old).and_then(|rest| rest.strip_prefix(b" "));
        let on_line = rest.and_then(|rest| after_name(rest, &new)).is_some_and(<[u8]>::is_empty);
        on_line && sides.is_none_or(|sides| sides == (&old, &new))
    };
    if fits(&(b"", b"")) {
        return Some(Prefix::Bare);
    }
    PREFIXES.iter().any(fits).then_some(Prefix::Carried)
}

/// What follows a name, quoted or as it is.
fn after_name<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    match text.strip_prefix(b"\"") {
        None => text.strip_prefix(name),
        Some(quoted) => unquote(quoted).filter(|(found, _)| found == name).map(|(_, rest)| rest),
    }
}

/// Reads both names of a `diff --git` line. Unquoted names hold spaces as they are, so only names of one length, which
/// the two of a file have, can be told apart.
pub(super) fn read_git_names(text: &[u8]) -> Result<(Vec<u8>, Vec<u8>), PatchFault> {
    let malformed = PatchFault::Header("the `diff --git` line does not name two files");
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let (old, rest) = unquote(quoted).ok_or(malformed.clone())?;
        let new = rest.strip_prefix(b" ").ok_or(malformed)?;
        return Ok((old, read_name(new)?));
    }
    let half = text.len() / 2;
    match (text.get(..half), text.get(half..)) {
        (Some(old), Some([b' ', new @ ..])) if old.len() == new.len() => Ok((old.to_vec(), new.to_vec())),
        _ => Err(PatchFault::PathsDiffer),
    }
}

/// The path that both names of a header mean.
pub(super) fn pair(old: &[u8], new: &[u8]) -> Result<(Vec<u8>, Prefix), PatchFault> {
    if old == new {
        return Ok((old.to_vec(), Prefix::Bare));
    }
    let stripped = |(own, other): (&[u8], &[u8])| Some((old.strip_prefix(own)?, new.strip_prefix(other)?));
    match PREFIXES.into_iter().filter_map(stripped).find(|(old, new)| old == new) {
        Some((path, _)) => Ok((path.to_vec(), Prefix::Carried)),
        None => Err(PatchFault::PathsDiffer),
    }
}

/// The path that the only name of a header means, where `own` is the prefix of its side.
pub(super) fn single(name: &[u8], own: &[u8]) -> Result<(Vec<u8>, Prefix), PatchFault> {
    match name.strip_prefix(own) {
        Some(stripped) => Ok((stripped.to_vec(), Prefix::Either)),
        None if name.starts_with(b"a/") || name.starts_with(b"b/") => Err(PatchFault::PrefixAmbiguous),
        None => Ok((name.to_vec(), Prefix::Bare)),
    }
}

/// Reads a name as C quotes it, from behind its opening quote. Answers also what follows the closing one.
fn unquote(mut bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut name = Vec::new();
    loop {
        let (byte, after) = match bytes {
            [b'"', rest @ ..] => return Some((name, rest)),
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', after @ ..] => {
                ((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'), after)
            }
            [b'\\', letter, after @ ..] => (escaped(*letter)?, after),
            [plain, after @ ..] if *plain != b'\\' => (*plain, after),
            _ => return None,
        };
        name.push(byte);
        bytes = after;
    }
}

const ESCAPES: [(u8, u8); 9] = [
    (b'a', 0x07),
    (b'b', 0x08),
    (b't', b'\t'),
    (b'n', b'\n'),
    (b'v', 0x0b),
    (b'f', 0x0c),
    (b'r', b'\r'),
    (b'"', b'"'),
    (b'\\', b'\\'),
];

fn escaped(letter: u8) -> Option<u8> {
    ESCAPES.iter().find(|(other, _)| *other == letter).map(|(_, byte)| *byte)
}

/// Writes a name as it stands in a header: quoted as git quotes it, where it holds anything but plain ASCII.
#[must_use]
pub fn quote(name: &[u8]) -> Vec<u8> {
    let plain = |b: &u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\');
    if name.iter().all(plain) {
        return name.to_vec();
    }
    let mut quoted = vec![b'"'];
    for byte in name {
        match ESCAPES.iter().find(|(_, other)| other == byte) {
            Some((letter, _)) => quoted.extend_from_slice(&[b'\\', *letter]),
            None if plain(byte) => quoted.push(*byte),
            None => quoted.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Result<Side, PatchFault> {
        read_side(text.as_bytes())
    }

    #[test]
    fn a_name_ends_at_a_tab_or_at_its_quote() {
        for text in ["a b", "a b\t", "a b\t2024-01-01 00:00:00 +0000", "\"a\\040b\"", "\"a b\"\tx"] {
            assert_eq!(name(text), Ok(Side::Name(b"a b".to_vec())), "{text}");
        }
        assert_eq!(name("/dev/null\t1970-01-01"), Ok(Side::Null));
        for bad in ["", "\t", "\"a", "\"a\"b", "\"a\\x\"", "\"a\\8\"", "\"a\\400\"", "\"\"", "\"a\\"] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_names_of_a_git_line_are_told_apart_by_their_length() {
        let names = |text: &str| read_git_names(text.as_bytes()).and_then(|(old, new)| pair(&old, &new));
        assert_eq!(names("a/x b/x"), Ok((b"x".to_vec(), Prefix::Carried)));
        assert_eq!(names("a/foo b/bar b/foo b/bar"), Ok((b"foo b/bar".to_vec(), Prefix::Carried)));
        assert_eq!(names("x x"), Ok((b"x".to_vec(), Prefix::Bare)));
        assert_eq!(names("a/x a/x"), Ok((b"a/x".to_vec(), Prefix::Bare)));
        assert_eq!(names("\"a/\\303\\251\" \"b/\\303\\251\""), Ok(("é".into(), Prefix::Carried)));
        assert_eq!(names("\"a/x\" b/x"), Ok((b"x".to_vec(), Prefix::Carried)));
        for carried in ["i/x w/x", "c/x i/x", "c/x w/x", "o/x w/x", "1/x 2/x"] {
            assert_eq!(names(carried), Ok((b"x".to_vec(), Prefix::Carried)), "{carried}");
        }
        for other in ["a/x b/y", "a/x b/x c/x", "w/x i/x", "i/x b/x", "src/x dst/x", "a/x", "", "b/x a/x"] {
            assert!(names(other).is_err(), "{other}");
        }
    }

    #[test]
    fn the_names_of_a_rename_are_known_before_they_are_read() {
        let prefix = |text: &str, from: &str, to: &str| {
            prefix_of_rename(text.as_bytes(), None, from.as_bytes(), to.as_bytes())
        };
        for (text, from, to, expected) in [
            ("a/x b/longer", "x", "longer", Some(Prefix::Carried)),
            ("x longer", "x", "longer", Some(Prefix::Bare)),
            ("a/x b/y", "a/x", "b/y", Some(Prefix::Bare)),
            ("a/x y b/x z", "x y", "x z", Some(Prefix::Carried)),
            ("\"a/\\303\\251\" b/e", "\u{e9}", "e", Some(Prefix::Carried)),
            ("a/e \"b/\\303\\251\"", "e", "\u{e9}", Some(Prefix::Carried)),
            ("i/x w/y", "x", "y", Some(Prefix::Carried)),
            ("a/x b/y", "x", "z", None),
            ("a/x b/y", "x", "y b/y", None),
            ("a/x b/y ", "x", "y", None),
            ("a/x y", "x", "y", None),
            ("src/x dst/y", "x", "y", None),
        ] {
            assert_eq!(prefix(text, from, to), expected, "{text}");
        }
        let sides = |old: &'static str, new: &'static str| {
            prefix_of_rename(b"a/x b/y", Some((old.as_bytes(), new.as_bytes())), b"x", b"y")
        };
        assert_eq!(sides("a/x", "b/y"), Some(Prefix::Carried));
        assert_eq!([sides("a/x", "b/x"), sides("x", "y"), sides("i/x", "w/y")], [None; 3]);
    }

    proptest::proptest! {
        #[test]
        fn a_quoted_name_reads_back(bytes in proptest::collection::vec(proptest::num::u8::ANY, 1..30)) {
            let quoted = quote(&bytes);
            if quoted.starts_with(b"\"") {
                proptest::prop_assert_eq!(read_side(&quoted), Ok(Side::Name(bytes)));
            } else {
                proptest::prop_assert_eq!(&quoted, &bytes);
            }
        }
    }
}
