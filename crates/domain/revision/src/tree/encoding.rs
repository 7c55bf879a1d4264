use ambit_ids::{ByteCount, Digest, PathError, limits};

use super::entry::{EntryName, FileKind};

/// The first line of every directory object: what it is and the version of its encoding.
pub const DIRECTORY_HEADER: &[u8] = b"ambit tree 1\n";

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A file that can be executed.
    Executable,
    /// A symbolic link.
    Link,
    /// A directory.
    Directory,
}

/// One entry of a directory object. Whatever it is, it names bytes by their digest and size: the content of a file,
/// the target of a link, the object of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: EntryName,
    /// What it is.
    pub kind: EntryKind,
    /// The digest of the bytes that it names.
    pub digest: Digest,
    /// The number of those bytes.
    pub size: ByteCount,
}

/// Why bytes are not a directory object. The number is the entry, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// The first line is another.
    #[error("the bytes do not start as a directory object of version 1")]
    Header,
    /// An entry is not `KIND DIGEST SIZE LENGTH NAME` and a line feed, in the one spelling.
    #[error("entry {0} of the directory object is malformed")]
    Form(usize),
    /// A name is not the name of an entry.
    #[error("entry {0} of the directory object has an inadmissible name")]
    Name(usize, #[source] PathError),
    /// A name is not greater than the one before: out of order, or twice.
    #[error("entry {0} of the directory object is out of order or stands twice")]
    Order(usize),
    /// Past [`limits::TREE_ENTRIES`].
    #[error("the directory object has more than {} entries", limits::TREE_ENTRIES)]
    TooMany,
}

impl From<FileKind> for EntryKind {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::File => Self::File,
            FileKind::Executable => Self::Executable,
            FileKind::Link => Self::Link,
        }
    }
}

impl EntryKind {
    /// What the entry is as a file; `None` for a directory.
    #[must_use]
    pub const fn as_file(self) -> Option<FileKind> {
        match self {
            Self::File => Some(FileKind::File),
            Self::Executable => Some(FileKind::Executable),
            Self::Link => Some(FileKind::Link),
            Self::Directory => None,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Executable => "exec",
            Self::Link => "link",
            Self::Directory => "dir",
        }
    }

    fn of_word(word: &[u8]) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link, Self::Directory]
            .into_iter()
            .find(|kind| kind.word().as_bytes() == word)
    }
}

/// About as long as an entry is; only so much room is made for each.
const ENTRY_BYTES: usize = 112;

/// What the line of an entry says.
pub(super) struct EntryLine<'a> {
    pub(super) name: &'a EntryName,
    pub(super) kind: EntryKind,
    pub(super) digest: Digest,
    pub(super) size: ByteCount,
}

/// The object of a directory with these entries, which are sorted by name, each name once.
pub(super) fn encode<'a>(entries: impl ExactSizeIterator<Item = EntryLine<'a>>) -> Vec<u8> {
    let mut object = Vec::with_capacity(DIRECTORY_HEADER.len() + entries.len() * ENTRY_BYTES);
    object.extend_from_slice(DIRECTORY_HEADER);
    for EntryLine { name, kind, digest, size } in entries {
        let name = name.as_bytes();
        object.extend_from_slice(kind.word().as_bytes());
        object.push(b' ');
        object.extend_from_slice(&digest.hex_digits());
        object.push(b' ');
        push_decimal(&mut object, size.get());
        object.push(b' ');
        push_decimal(&mut object, name.len() as u64);
        object.push(b' ');
        object.extend_from_slice(name);
        object.push(b'\n');
    }
    object
}

fn push_decimal(object: &mut Vec<u8>, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] += (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    object.extend_from_slice(&digits[start..]);
}

/// Reads a directory object. Whatever is accepted encodes to the same bytes again.
///
/// # Errors
/// [`DirectoryError`] names the first entry that is not in the one admissible form, and why.
pub fn decode_directory(object: &[u8]) -> Result<Vec<DirectoryEntry>, DirectoryError> {
    let mut rest = object.strip_prefix(DIRECTORY_HEADER).ok_or(DirectoryError::Header)?;
    let mut entries: Vec<DirectoryEntry> = Vec::new();
    while !rest.is_empty() {
        let number = entries.len() + 1;
        if number > limits::TREE_ENTRIES {
            return Err(DirectoryError::TooMany);
        }
        let (entry, after) = decode_entry(rest, number)?;
        if entries.last().is_some_and(|last| last.name >= entry.name) {
            return Err(DirectoryError::Order(number));
        }
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}

fn decode_entry(bytes: &[u8], number: usize) -> Result<(DirectoryEntry, &[u8]), DirectoryError> {
    let malformed = DirectoryError::Form(number);
    let (kind, rest) = word(bytes).ok_or(malformed)?;
    let (digest, rest) = word(rest).ok_or(malformed)?;
    let (size, rest) = word(rest).ok_or(malformed)?;
    let (length, rest) = word(rest).ok_or(malformed)?;
    let length = usize::try_from(decimal(length).ok_or(malformed)?).map_err(|_| malformed)?;
    let (name, rest) = rest.split_at_checked(length).ok_or(malformed)?;
    let rest = rest.strip_prefix(b"\n").ok_or(malformed)?;
    let entry = DirectoryEntry {
        kind: EntryKind::of_word(kind).ok_or(malformed)?,
        digest: hexadecimal(digest).ok_or(malformed)?,
        size: ByteCount::new(decimal(size).ok_or(malformed)?),
        name: EntryName::new(name).map_err(|why| DirectoryError::Name(number, why))?,
    };
    Ok((entry, rest))
}

/// The bytes up to the next space, and those after it. No field before the name is longer than a digest.
fn word(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().take(65).position(|b| *b == b' ')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// A number in plain digits without leading zeros.
fn decimal(digits: &[u8]) -> Option<u64> {
    let plain = digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || !digits.starts_with(b"0"));
    if !plain {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn hexadecimal(digits: &[u8]) -> Option<Digest> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let mut bytes = [0; 32];
    if pairs.len() != bytes.len() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(Digest::from_bytes(bytes))
}

/// The value of a digit in its one spelling.
const fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: EntryKind, name: &[u8]) -> DirectoryEntry {
        DirectoryEntry {
            name: EntryName::new(name).unwrap(),
            kind,
            digest: Digest::of(name),
            size: ByteCount::new(name.len() as u64),
        }
    }

    fn sample() -> Vec<u8> {
        let entries = [
            entry(EntryKind::Executable, b"A b\nc"),
            entry(EntryKind::Directory, b"a"),
            entry(EntryKind::File, b"a.txt"),
            entry(EntryKind::Link, b"caf\xe9"),
        ];
        encoded(&entries)
    }

    fn encoded(entries: &[DirectoryEntry]) -> Vec<u8> {
        encode(entries.iter().map(|DirectoryEntry { name, kind, digest, size }| EntryLine {
            name,
            kind: *kind,
            digest: *digest,
            size: *size,
        }))
    }

    #[test]
    fn an_object_reads_back_to_its_entries_and_its_bytes() {
        let entries = decode_directory(&sample()).unwrap();
        assert_eq!(entries.len(), 4);
        assert_eq!(entries[0].name.as_bytes(), b"A b\nc");
        assert_eq!(encoded(&entries), sample());
        assert_eq!(decode_directory(DIRECTORY_HEADER).unwrap(), Vec::new());
    }

    #[test]
    fn a_second_spelling_is_refused() {
        let line = |name: &str| format!("file {} 1 {} {name}\n", Digest::of(b"x").to_hex(), name.len());
        let of = |body: String| decode_directory(&[DIRECTORY_HEADER, body.as_bytes()].concat());
        assert!(of(line("a") + &line("b")).is_ok());
        assert_eq!(of(line("b") + &line("a")), Err(DirectoryError::Order(2)));
        assert_eq!(of(line("a") + &line("a")), Err(DirectoryError::Order(2)));
        for name in ["..", ".git", "a/b", ".GIT", "a\0"] {
            assert!(matches!(of(line(name)), Err(DirectoryError::Name(1, _))), "{name}");
        }
        for broken in [
            line("a").replace("file", "File"),
            line("a").replace(" 1 1 ", " 01 1 "),
            line("a").replace(" 1 1 ", " +1 1 "),
            line("a").replace(" 1 1 ", " 1 2 "),
            line("a").replace(" 1 1 ", " 18446744073709551616 1 "),
            line("a").replace(" 1 1 ", " 1  "),
            line("a").trim_end().to_owned(),
            line("a").to_uppercase(),
            line("a") + "x",
        ] {
            assert!(matches!(of(broken.clone()), Err(DirectoryError::Form(_))), "{broken}");
        }
        assert_eq!(decode_directory(b""), Err(DirectoryError::Header));
        assert_eq!(decode_directory(b"ambit tree 2\n"), Err(DirectoryError::Header));
    }

    proptest::proptest! {
        #[test]
        fn whatever_decodes_encodes_to_the_same_bytes(
            at in 0_usize..400, byte in proptest::num::u8::ANY, cut in 0_usize..400,
        ) {
            let mut object = sample();
            let length = object.len();
            object[at % length] = byte;
            object.truncate(length - cut % 3);
            if let Ok(entries) = decode_directory(&object) {
                proptest::prop_assert_eq!(encoded(&entries), object);
            }
        }
    }
}
