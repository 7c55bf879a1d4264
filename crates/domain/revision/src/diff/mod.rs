//! The canonical diff of two trees.

mod heading;
mod hunks;
mod lines;
mod section;

use ambit_ids::{Digest, RepoPath};

pub use hunks::hunks;
pub use section::{FileSection, HunkSection, LineSpan};

use crate::compare::{Comparison, FileComparison, LineCounts};
use crate::patch::quote;
use crate::tree::{Change, FileKind, Tree, TreeFile};

/// The difference of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The canonical diff; empty where the trees are the same.
    pub text: Vec<u8>,
    /// The digest of the text.
    pub digest: Digest,
    /// The same in numbers.
    pub comparison: Comparison,
    /// Where each of the files of the comparison stands in the text, in the same order.
    pub sections: Vec<FileSection>,
}

/// Why a difference cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The content of a file that differs was not handed over.
    #[error("the content {content} of {path} was not at hand, so the difference cannot be told")]
    ContentMissing {
        /// The file.
        path: RepoPath,
        /// The digest of the content.
        content: Digest,
    },
}

impl DiffError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ContentMissing { .. } => "DIFF_CONTENT_MISSING",
        }
    }
}

/// Tells the difference from `before` to `after`. `content` answers the bytes with a digest; it is asked for both
/// sides of every file whose content differs.
///
/// The text is a unified diff as git writes it, with three lines of context, in the order of the paths, and a function
/// of the two trees alone:
///
/// - names carry the prefixes `a/` and `b/`, and are quoted as C does where they hold anything but plain ASCII;
/// - `new file mode`, `deleted file mode`, `old mode` and `new mode` stand as git has them; `index` lines do not, because
///   their object names are git's;
/// - a file that becomes a link, or a link a file, is a deletion and a creation, and the content of a link is its target;
/// - a file that holds a NUL byte on either side is binary. Instead of its content stand `index BEFORE..AFTER`, with the
///   SHA-256 digests of both contents in hexadecimal (64 zeros for none), and `Binary files ... differ`, which no engine
///   applies.
///
/// Applied to `before` it gives `after`, where that changes no link and no binary file. Which of several equally right
/// sets of lines it shows can change from one version of this crate to the next: a recorded diff is verified by applying
/// it, not by making it again.
///
/// # Errors
/// [`DiffError`] where a content is missing.
pub fn diff<'c>(
    before: &Tree,
    after: &Tree,
    content: &dyn Fn(&Digest) -> Option<&'c [u8]>,
) -> Result<Diff, DiffError> {
    of_changes(&before.diff(after), content)
}

/// Tells the difference of two trees of which everything that differs is `changes`, sorted by path.
pub(crate) fn of_changes<'c>(
    changes: &[Change],
    content: &dyn Fn(&Digest) -> Option<&'c [u8]>,
) -> Result<Diff, DiffError> {
    let mut text = Vec::new();
    let (mut files, mut sections) = (Vec::new(), Vec::new());
    for change in changes {
        let start = text.len();
        let hunks = write_change(change, content, &mut text)?;
        let lines = hunks
            .as_ref()
            .map(|hunks| hunks.iter().fold(LineCounts::default(), |all, hunk| all.plus(hunk.lines)));
        let (path, text) = (change.path.clone(), start..text.len());
        sections.push(FileSection { path, text, hunks: hunks.unwrap_or_default() });
        files.push(FileComparison {
            path: change.path.clone(),
            before: change.before,
            after: change.after,
            lines,
        });
    }
    Ok(Diff { digest: Digest::of(&text), text, comparison: Comparison::of(files), sections })
}

/// Appends what one file needs, and answers its hunks; `None` where either side is binary.
fn write_change<'c>(
    change: &Change,
    content: &dyn Fn(&Digest) -> Option<&'c [u8]>,
    text: &mut Vec<u8>,
) -> Result<Option<Vec<HunkSection>>, DiffError> {
    let is_link = |file: &Option<TreeFile>| file.map(|file| file.kind == FileKind::Link);
    if let (Some(before), Some(after)) = (is_link(&change.before), is_link(&change.after))
        && before != after
    {
        let gone = Change { after: None, ..change.clone() };
        let made = Change { before: None, ..change.clone() };
        let (gone, made) = (write_change(&gone, content, text)?, write_change(&made, content, text)?);
        return Ok(gone.zip(made).map(|(gone, made)| [gone, made].concat()));
    }
    let read = |side: &Option<TreeFile>| match side {
        None => Ok(&b""[..]),
        Some(file) => content(&file.content)
            .ok_or_else(|| DiffError::ContentMissing { path: change.path.clone(), content: file.content }),
    };
    let header = Header::of(change);
    text.extend_from_slice(&header.first_lines);
    if change.before.map(|file| file.content) == change.after.map(|file| file.content) {
        return Ok(Some(Vec::new()));
    }
    let (before, after) = (read(&change.before)?, read(&change.after)?);
    if [before, after].iter().any(|bytes| memchr::memchr(0, bytes).is_some()) {
        text.extend_from_slice(&header.binary_lines(change));
        return Ok(None);
    }
    if before == after {
        return Ok(Some(Vec::new()));
    }
    text.extend_from_slice(&header.name_lines());
    Ok(Some(lines::write_hunks(before, after, text)))
}

/// The lines above the hunks of one file.
struct Header {
    first_lines: Vec<u8>,
    old_name: Vec<u8>,
    new_name: Vec<u8>,
}

impl Header {
    fn of(change: &Change) -> Self {
        let path = change.path.as_bytes();
        let (old, new) = (quote(&[b"a/", path].concat()), quote(&[b"b/", path].concat()));
        let mut first_lines = [b"diff --git ", old.as_slice(), b" ", &new, b"\n"].concat();
        let mode = |file: TreeFile| file.kind.git_mode();
        let modes = match (change.before.map(mode), change.after.map(mode)) {
            (None, Some(mode)) => format!("new file mode {mode}\n"),
            (Some(mode), None) => format!("deleted file mode {mode}\n"),
            (Some(old), Some(new)) if old != new => format!("old mode {old}\nnew mode {new}\n"),
            _ => String::new(),
        };
        first_lines.extend_from_slice(modes.as_bytes());
        let side =
            |file: Option<TreeFile>, name: Vec<u8>| file.map_or_else(|| b"/dev/null".to_vec(), |_| name);
        Self { first_lines, old_name: side(change.before, old), new_name: side(change.after, new) }
    }

    /// A name with a space ends with a tab, so that no tool takes what follows the space for a time.
    fn name_lines(&self) -> Vec<u8> {
        let end =
            |name: &[u8]| if name.contains(&b' ') && !name.starts_with(b"\"") { &b"\t\n"[..] } else { b"\n" };
        let (old, new) = (self.old_name.as_slice(), self.new_name.as_slice());
        [b"--- ", old, end(old), b"+++ ", new, end(new)].concat()
    }

    fn binary_lines(&self, change: &Change) -> Vec<u8> {
        let name = |file: Option<TreeFile>| file.map_or_else(|| "0".repeat(64), |file| file.content.to_hex());
        let index = format!("index {}..{}\n", name(change.before), name(change.after));
        [index.as_bytes(), b"Binary files ", &self.old_name, b" and ", &self.new_name, b" differ\n"].concat()
    }
}
