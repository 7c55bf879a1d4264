use std::collections::BTreeSet;

use ambit_ids::{PathSet, RepoPath};

/// One file that a patch touches, from both sides.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    /// The file. A renamed one is two changes: one that deletes and one that creates.
    pub path: &'a RepoPath,
    /// Its bytes before the patch; `None` where it did not exist.
    pub before: Option<&'a [u8]>,
    /// Its bytes after the patch; `None` where it no longer exists.
    pub after: Option<&'a [u8]>,
}

/// What a blueprint says about paths and dependencies.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// What decides whether the work is done. What is protected by default comes on top.
    pub protected: PathSet,
    /// Paths that the blueprint authorises explicitly, protected or not. They are in scope as well. It lifts nothing
    /// else: an assertion that is lost in an opened file is lost.
    pub opened: PathSet,
    /// Test files.
    pub tests: PathSet,
    /// Where the work may go.
    pub scope: PathSet,
    /// Files that name dependencies, beside those that are known by their names.
    pub manifests: PathSet,
    /// Dependencies that may be added, as their manifests name them. A name stands for the package of its ecosystem's
    /// registry and for no other source of it.
    pub approved_dependencies: BTreeSet<String>,
}

/// The largest file whose content is read; a larger one is unclassified where its content would matter.
const READ_BYTES: usize = 2 << 20;

/// Why the content of a file cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("is larger than {} bytes", READ_BYTES)]
    TooLarge,
    #[error("is not UTF-8")]
    Encoding,
    #[error("says an encoding that is not read")]
    Coding,
    #[error("ends within a string or a comment")]
    Unended,
    #[error("is in a language that cannot be read")]
    Language,
    #[error("is not what its name says")]
    Syntax,
    #[error("is nested deeper than people write")]
    Nested,
    #[error("takes longer to read than what people write")]
    Laborious,
    #[error("computes what it should list")]
    Computed,
    #[error("ends a line in a way that not every reader takes for an end")]
    LineEnd,
    #[error("is nested too deeply or says too much")]
    Nesting,
    #[error("says one thing twice")]
    Twice,
}

/// The text of one side; nothing where the file does not exist. A byte order mark is no part of it.
///
/// A carriage return by itself and the separators of Unicode end a comment for Python, pip or JavaScript and for no line of
/// a diff: what stands behind one would be seen by the one and not by the other.
pub(crate) fn text(side: Option<&[u8]>) -> Result<&str, Unreadable> {
    let bytes = side.unwrap_or_default();
    if bytes.len() > READ_BYTES {
        return Err(Unreadable::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::Encoding)?;
    if ends_a_line_unseen(text) {
        return Err(Unreadable::LineEnd);
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn ends_a_line_unseen(text: &str) -> bool {
    let lone_return = text.split('\r').skip(1).any(|after| !after.starts_with('\n'));
    // Both begin with a byte that most texts have nowhere, and that is sooner looked for.
    lone_return || (text.as_bytes().contains(&0xe2) && text.contains(['\u{2028}', '\u{2029}']))
}
