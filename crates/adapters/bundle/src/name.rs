//! The names that members may have: those that mean the same file on every system, and that a plain ustar header holds.

use std::collections::BTreeSet;
use std::fmt;

use ambit_ids::is_unprintable;
use unicode_normalization::UnicodeNormalization as _;

use crate::error::BundleError;
use crate::{header, limits};

/// The name of a member: relative, `/` between components, UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberName(String);

/// Why a name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// Its bytes are no text.
    #[error("it is not UTF-8")]
    NotText,
    /// It begins at a root.
    #[error("it is absolute")]
    Absolute,
    /// It climbs, or has a component that is empty or `.`.
    #[error("it has a component that is empty, `.` or `..`")]
    NotNormal,
    /// It is longer than a header holds, or deeper than is read.
    #[error("it is too long or too deep")]
    TooLong,
    /// It has a character that nobody sees, or that another system takes for a separator.
    #[error("it has a character that is invisible or separates elsewhere")]
    Character,
    /// Some file system takes it for a name that is there already.
    #[error("it is another member's, but for case or spelling")]
    Collides,
    /// It is a file's and a folder's at once.
    #[error("it is the name of a file and of a folder")]
    Conflicts,
}

impl MemberName {
    /// Validates a name.
    ///
    /// # Errors
    /// [`NameFault`] says which rule it breaks.
    pub fn of(bytes: &[u8]) -> Result<Self, NameFault> {
        let text = std::str::from_utf8(bytes).map_err(|_| NameFault::NotText)?;
        if text.starts_with('/') {
            return Err(NameFault::Absolute);
        }
        if text.len() > limits::NAME_BYTES || text.split('/').count() > limits::NAME_COMPONENTS {
            return Err(NameFault::TooLong);
        }
        if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(NameFault::NotNormal);
        }
        if text.chars().any(|c| is_unprintable(c) || matches!(c, '\\' | ':')) {
            return Err(NameFault::Character);
        }
        if header::split(text).is_none() {
            return Err(NameFault::TooLong);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name as a file system sees it that ignores case and forms of Unicode.
fn folded(name: &str) -> String {
    name.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// Names that lie beside one another on every file system.
#[derive(Debug, Default)]
pub struct Names {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Names {
    /// Takes one more name.
    ///
    /// # Errors
    /// [`NameFault`] where one that was taken before means the same somewhere; nothing is taken then.
    pub fn take(&mut self, name: &MemberName) -> Result<(), NameFault> {
        let folded = folded(name.as_str());
        if self.files.contains(&folded) {
            return Err(NameFault::Collides);
        }
        if self.folders.contains(&folded) {
            return Err(NameFault::Conflicts);
        }
        let above: Vec<&str> = folded.match_indices('/').map(|(at, _)| &folded[..at]).collect();
        if above.iter().any(|folder| self.files.contains(*folder)) {
            return Err(NameFault::Conflicts);
        }
        for folder in above {
            if !self.folders.contains(folder) {
                self.folders.insert(folder.to_owned());
            }
        }
        self.files.insert(folded);
        Ok(())
    }
}

/// A name that was read, or why it is refused.
pub(crate) fn read(bytes: &[u8]) -> Result<MemberName, BundleError> {
    MemberName::of(bytes).map_err(|fault| refused(bytes, fault))
}

pub(crate) fn refused(bytes: &[u8], fault: NameFault) -> BundleError {
    BundleError::Name { name: String::from_utf8_lossy(bytes).into_owned(), fault }
}
