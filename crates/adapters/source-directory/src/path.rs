use std::fmt;

use ambit_ids::{GivenPath, RepoPath};

/// The place of an entry within a directory of this machine: bytes, `/` between components, and nothing at all for the
/// directory itself. Unlike a [`RepoPath`] it may be one that no tree can hold.
///
/// It is shown as a [`RepoPath`] is where it is one, as a [`GivenPath`] where it is not, and as `.` for the directory itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryPath(Vec<u8>);

impl EntryPath {
    /// The directory itself.
    pub(crate) const fn top() -> Self {
        Self(Vec::new())
    }

    /// The place of `name` in this directory.
    pub(crate) fn below(&self, name: &[u8]) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&RepoPath> for EntryPath {
    fn from(path: &RepoPath) -> Self {
        Self(path.as_bytes().to_vec())
    }
}

impl fmt::Display for EntryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        match RepoPath::from_bytes(&self.0) {
            Ok(path) => fmt::Display::fmt(&path, f),
            Err(_) => fmt::Display::fmt(&GivenPath::of(&self.0), f),
        }
    }
}

impl fmt::Debug for EntryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_shows_every_character() {
        let shown = |name: &[u8]| EntryPath::top().below(b"d").below(name).to_string();
        assert_eq!(EntryPath::top().to_string(), ".");
        assert_eq!(shown("é".as_bytes()), "d/é");
        assert_eq!(shown(b"a\x1b[2J\n"), "d/a\\x1b[2J\\x0a");
        assert_eq!(shown(b"caf\xe9"), "d/caf\\xe9");
        assert_eq!(shown(&[b'\x1b'; 300]), format!("d/{}…{}", "\\x1b".repeat(126), "\\x1b".repeat(128)));
    }
}
