use crate::ObjectId;

/// One entry of a directory of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) mode: EntryMode,
    pub(crate) id: ObjectId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryMode {
    File,
    Executable,
    Link,
    Directory,
    Submodule,
}

/// Why bytes are no directory of git. The number is the entry, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TreeFault {
    /// An entry is not `MODE NAME`, a NUL byte and 20 bytes.
    #[error("entry {0} is cut off or malformed")]
    Form(usize),
    /// A mode that git does not write.
    #[error("entry {0} has a mode that git does not write")]
    Mode(usize),
    /// A name with a slash, or none.
    #[error("entry {0} has a name with a slash or none")]
    Name(usize),
    /// A name is not greater than the one before: out of order, or twice.
    #[error("entry {0} is out of order or stands twice")]
    Order(usize),
    /// More entries than may be met.
    #[error("there are too many entries")]
    TooMany,
}

impl EntryMode {
    /// 100664 was written by early releases of git, and is a plain file to all of them.
    fn of_digits(digits: &[u8]) -> Option<Self> {
        match digits {
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"120000" => Some(Self::Link),
            b"40000" => Some(Self::Directory),
            b"160000" => Some(Self::Submodule),
            _ => None,
        }
    }
}

/// Reads a directory of git: at most `limit` entries, in git's order, each name once.
pub(crate) fn parse(mut rest: &[u8], limit: usize) -> Result<Vec<TreeEntry>, TreeFault> {
    let mut entries: Vec<TreeEntry> = Vec::new();
    while !rest.is_empty() {
        let number = entries.len() + 1;
        if number > limit {
            return Err(TreeFault::TooMany);
        }
        let (entry, after) = parse_entry(rest, number)?;
        if entries.last().is_some_and(|last| !in_order(last, &entry)) {
            return Err(TreeFault::Order(number));
        }
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}

fn parse_entry(bytes: &[u8], number: usize) -> Result<(TreeEntry, &[u8]), TreeFault> {
    let form = TreeFault::Form(number);
    let space = bytes.iter().take(8).position(|byte| *byte == b' ').ok_or(form)?;
    let (digits, rest) = (&bytes[..space], &bytes[space + 1..]);
    let end = rest.iter().position(|byte| *byte == 0).ok_or(form)?;
    let (name, rest) = (&rest[..end], &rest[end + 1..]);
    let (id, rest) = rest.split_first_chunk::<{ ObjectId::BYTES }>().ok_or(form)?;
    if name.is_empty() || name.contains(&b'/') {
        return Err(TreeFault::Name(number));
    }
    let mode = EntryMode::of_digits(digits).ok_or(TreeFault::Mode(number))?;
    Ok((TreeEntry { name: name.to_vec(), mode, id: ObjectId::from_bytes(*id) }, rest))
}

/// Git sorts the name of a directory as if a slash followed it. A name that stands as a file and as a directory is out of
/// order here as well, where nothing lies between the two; where something does, the tree refuses it.
fn in_order(one: &TreeEntry, other: &TreeEntry) -> bool {
    let key = |entry: &TreeEntry| {
        let slash = (entry.mode == EntryMode::Directory).then_some(b'/');
        entry.name.iter().copied().chain(slash).collect::<Vec<u8>>()
    };
    one.name != other.name && key(one) < key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
        entries
            .iter()
            .flat_map(|(mode, name)| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", &[7; 20]].concat())
            .collect()
    }

    fn fault(entries: &[(&str, &str)]) -> Option<TreeFault> {
        parse(&tree(entries), 100).err()
    }

    #[test]
    fn a_directory_is_read_in_the_order_of_git() {
        let entries = [("100644", "a.b"), ("40000", "a"), ("100755", "a0"), ("120000", "b"), ("160000", "c")];
        let read = parse(&tree(&entries), 5).unwrap();
        assert_eq!(
            read.iter().map(|entry| entry.mode).collect::<Vec<_>>(),
            [
                EntryMode::File,
                EntryMode::Directory,
                EntryMode::Executable,
                EntryMode::Link,
                EntryMode::Submodule
            ]
        );
        assert_eq!(parse(&tree(&entries), 4), Err(TreeFault::TooMany));
        assert_eq!(parse(b"", 0), Ok(Vec::new()));
    }

    #[test]
    fn whatever_git_does_not_write_is_refused() {
        assert_eq!(fault(&[("100644", "a"), ("100644", "a")]), Some(TreeFault::Order(2)));
        assert_eq!(fault(&[("100644", "b"), ("100644", "a")]), Some(TreeFault::Order(2)));
        assert_eq!(fault(&[("100644", "a"), ("40000", "a")]), Some(TreeFault::Order(2)));
        assert_eq!(fault(&[("40000", "a"), ("100644", "a.b")]), Some(TreeFault::Order(2)));
        for mode in ["040000", "100600", "104755", "0", "", "60000", "20000", "10064x", "120777"] {
            assert_eq!(fault(&[(mode, "a")]), Some(TreeFault::Mode(1)), "{mode}");
        }
        assert_eq!(fault(&[("100644", "a/b")]), Some(TreeFault::Name(1)));
        assert_eq!(fault(&[("100644", "")]), Some(TreeFault::Name(1)));
        for cut in 1..tree(&[("100644", "a")]).len() {
            let whole = tree(&[("100644", "a")]);
            assert_eq!(parse(&whole[..cut], 9), Err(TreeFault::Form(1)), "{cut}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = parse(&bytes, 10);
        }
    }
}
