use ambit_ids::{Digest, RepoPath};

use crate::tree::FileKind;

/// What a patch asks for, whatever form it was written in: per file an operation and hunks of whole lines.
///
/// A form that states no line numbers, or names its files in another way, becomes this same value. Nothing in it
/// depends on a tree yet; [`apply`](crate::apply) finds the places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchSet {
    pub(crate) files: Vec<FilePatch>,
    pub(crate) warnings: Vec<PatchWarning>,
    pub(crate) source: Digest,
}

/// What a patch asks for at one path. No path is changed, removed or left twice in a patch, and none is filled twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    pub(crate) path: RepoPath,
    pub(crate) other_reading: Option<OtherReading>,
    pub(crate) operation: Operation,
    pub(crate) hunks: Vec<Hunk>,
}

/// What the names of a header could mean instead, where nothing in the patch tells whether they carry a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OtherReading {
    /// The path with its prefix, which could be a directory.
    Whole(RepoPath),
    /// The path without its first directory, which could be a prefix.
    Stripped(RepoPath),
}

/// The modes that a patch can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileMode {
    /// A file (100644).
    Regular,
    /// A file that can be executed (100755).
    Executable,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is made, and must not exist. It has one hunk of added lines, or none where it is empty.
    Create {
        /// Its mode.
        mode: FileMode,
    },
    /// It is removed. Its one hunk removes every line; an empty file has none.
    Delete {
        /// The mode that the patch says it has.
        stated: Option<FileMode>,
        /// Whether the patch removes it whatever it holds, without repeating its lines. What it holds is known by the
        /// digest of the tree that the patch is made for.
        whole: bool,
    },
    /// It is changed in place.
    Modify {
        /// The mode that the patch says it has.
        stated: Option<FileMode>,
        /// The mode that it gets; `None` leaves the mode as it is.
        becomes: Option<FileMode>,
    },
    /// It comes from another path, which is then free, and may be changed on the way.
    Rename {
        /// Where it comes from.
        from: RepoPath,
        /// The mode that the patch says it has.
        stated: Option<FileMode>,
        /// The mode that it gets; `None` leaves the mode as it is.
        becomes: Option<FileMode>,
    },
}

/// Lines that stand together, with what becomes of each. It adds or removes at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub(crate) number: usize,
    pub(crate) stated: Option<StatedLines>,
    pub(crate) anchors: Vec<Vec<u8>>,
    pub(crate) ends_file: bool,
    pub(crate) text: Vec<u8>,
    pub(crate) lines: Vec<LineMark>,
}

/// Where a hunk says that it stands, in lines counted from 1. Models get these wrong; they are tried first and are
/// never trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedLines {
    /// Its first line before the patch.
    pub old: usize,
    /// Its first line after the patch.
    pub new: usize,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// It is there before and after.
    Context,
    /// It is there before.
    Removed,
    /// It is there after.
    Added,
}

/// One line of a hunk's text, by where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineMark {
    pub(crate) kind: LineKind,
    pub(crate) end: usize,
}

/// Something that a patch got wrong and that leaves no doubt about what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchWarning {
    /// The line counts of a hunk's header are not those of its body. The body counts.
    #[error("line {line}: the hunk's header counts {} and {} lines, its body has {} and {}", stated.0, stated.1, found.0, found.1)]
    HunkCounts {
        /// The line of the header in the patch.
        line: usize,
        /// The counts of the header, before and after.
        stated: (usize, usize),
        /// The counts of the body, before and after.
        found: (usize, usize),
    },
    /// The last line of the patch has no line feed. It counts as if it had one.
    #[error("the last line of the patch has no line feed")]
    FinalLineFeed,
    /// The patch stands in a fence of Markdown, which is no part of it.
    #[error("line {line}: the Markdown fence is no part of the patch")]
    Fence {
        /// The line of the patch where it opens.
        line: usize,
    },
    /// Prose stands around the files, which is no part of the patch.
    #[error("line {line}: the text around the files is no part of the patch")]
    Prose {
        /// Its first line in the patch.
        line: usize,
    },
    /// A hunk stands in the file above one that comes before it. Both are where they belong.
    #[error("{path}: hunk {hunk} stands above one that comes before it")]
    HunkOrder {
        /// The file.
        path: RepoPath,
        /// The hunk, counted from 1.
        hunk: usize,
    },
    /// A hunk is wrong about the line feed at the end of the file, and does not change the line. It stays as it is.
    #[error("{path}: hunk {hunk} is wrong about the line feed at the end of the file, which stays as it is")]
    EndOfFile {
        /// The file.
        path: RepoPath,
        /// The hunk, counted from 1.
        hunk: usize,
    },
}

impl From<FileMode> for FileKind {
    fn from(mode: FileMode) -> Self {
        match mode {
            FileMode::Regular => Self::File,
            FileMode::Executable => Self::Executable,
        }
    }
}

impl PatchSet {
    /// What it asks for, in the order of the patch.
    #[must_use]
    pub fn files(&self) -> &[FilePatch] {
        &self.files
    }

    /// What it got wrong without leaving a doubt.
    #[must_use]
    pub fn warnings(&self) -> &[PatchWarning] {
        &self.warnings
    }

    /// The digest of the patch as it was proposed.
    #[must_use]
    pub fn source(&self) -> Digest {
        self.source
    }
}

impl FilePatch {
    /// The path; of a file that is renamed, the new one.
    #[must_use]
    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    /// The path of the file that must be there before; `None` where one is made.
    #[must_use]
    pub fn reads(&self) -> Option<&RepoPath> {
        match &self.operation {
            Operation::Create { .. } => None,
            Operation::Delete { .. } | Operation::Modify { .. } => Some(&self.path),
            Operation::Rename { from, .. } => Some(from),
        }
    }

    /// Every path that it names: where the file is afterwards, and where it comes from.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        let from = self.reads().filter(|path| **path != self.path);
        std::iter::once(&self.path).chain(from)
    }

    /// The path that is free afterwards, unless another file takes it.
    #[must_use]
    pub fn leaves(&self) -> Option<&RepoPath> {
        match &self.operation {
            Operation::Delete { .. } => Some(&self.path),
            Operation::Rename { from, .. } => Some(from),
            Operation::Create { .. } | Operation::Modify { .. } => None,
        }
    }

    /// The mode that the file must have before; `None` where the patch does not say.
    pub(crate) fn stated_mode(&self) -> Option<FileMode> {
        match &self.operation {
            Operation::Create { .. } => None,
            Operation::Delete { stated, .. }
            | Operation::Modify { stated, .. }
            | Operation::Rename { stated, .. } => *stated,
        }
    }

    /// What becomes of it.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Its hunks, in the order of the patch.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }
}

impl Hunk {
    /// Its place among the hunks of its file, counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Where it says that it stands; `None` in a form that does not say.
    #[must_use]
    pub fn stated(&self) -> Option<StatedLines> {
        self.stated
    }

    /// Lines of the file, without the blanks around them, that stand above it, in this order. It stands below the first
    /// places of these, and there at the only place.
    #[must_use]
    pub fn anchors(&self) -> &[Vec<u8>] {
        &self.anchors
    }

    /// Whether the file ends with it.
    #[must_use]
    pub fn ends_file(&self) -> bool {
        self.ends_file
    }

    /// Its lines, each with its own line ending. Only the last line of a file can have none.
    pub fn lines(&self) -> impl Iterator<Item = (LineKind, &[u8])> {
        let starts = std::iter::once(0).chain(self.lines.iter().map(|mark| mark.end));
        starts.zip(&self.lines).map(|(start, mark)| (mark.kind, &self.text[start..mark.end]))
    }

    /// The bytes that must stand at its place before the patch.
    #[must_use]
    pub fn before(&self) -> Vec<u8> {
        self.side(LineKind::Removed)
    }

    /// The bytes that stand there after it.
    #[must_use]
    pub fn after(&self) -> Vec<u8> {
        self.side(LineKind::Added)
    }

    fn side(&self, changed: LineKind) -> Vec<u8> {
        let ours = |kind| kind == LineKind::Context || kind == changed;
        let mut bytes = Vec::with_capacity(self.text.len());
        for (_, line) in self.lines().filter(|(kind, _)| ours(*kind)) {
            bytes.extend_from_slice(line);
        }
        bytes
    }

    /// How many of its lines are of `kind`.
    #[must_use]
    pub fn count(&self, kind: LineKind) -> usize {
        self.lines.iter().filter(|mark| mark.kind == kind).count()
    }
}
