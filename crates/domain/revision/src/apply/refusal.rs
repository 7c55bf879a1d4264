use std::fmt;

use ambit_ids::{Digest, RepoPath, limits};

use super::HunkMatch;
use super::excerpt::Excerpt;
use crate::diff::Diff;
use crate::patch::PatchWarning;
use crate::tree::{Change, TreeError};

/// Why a patch was not applied. Nothing of it was: the tree is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchRefusal {
    /// The tree is another than the one that the patch was made for.
    #[error(
        "the patch is made for the tree {expected}, and the tree now is {actual}. Nothing was changed; read the files again and propose anew"
    )]
    BaseMoved {
        /// The digest that the patch was made for.
        expected: Digest,
        /// The digest of the tree.
        actual: Digest,
    },
    /// The tree is what the patch leads to. Its original effect is told where the patch says all that stood before.
    #[error("the tree already holds everything that the patch asks for{}. Nothing was changed", Told(.0.as_deref()))]
    AlreadyApplied(Option<Box<Effect>>),
    /// Something about one path. The first in the order of the patch.
    #[error("{path}: {reason}. Nothing was changed")]
    At {
        /// The path.
        path: RepoPath,
        /// What it is.
        reason: Reason,
    },
    /// The tree that would come out passes a limit or has a file in the way of a directory.
    #[error("the patch does not lead to a tree. Nothing was changed")]
    Tree(#[source] TreeError),
}

/// What a patch did when it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The digest of the tree before.
    pub before: Digest,
    /// The digest of the tree that came out.
    pub tree: Digest,
    /// The files that were different, sorted by path.
    pub changes: Vec<Change>,
    /// The change in canonical form.
    pub canonical: Diff,
    /// Where each hunk was found, in the order of the patch.
    pub matches: Vec<HunkMatch>,
    /// What the patch got wrong without leaving a doubt.
    pub warnings: Vec<PatchWarning>,
}

struct Told<'a>(Option<&'a Effect>);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(effect) = self.0 else { return Ok(()) };
        let (files, canonical) = (effect.changes.len(), effect.canonical.digest);
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        write!(f, ": it led here from {}, changing {files} by the canonical patch {canonical}", effect.before)
    }
}

/// What keeps a patch from one path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The file that is to be made exists.
    #[error("it is to be made and exists already")]
    Exists,
    /// A file is renamed to the path of another, which stays.
    #[error("a file is to be renamed to it, and it exists and stays")]
    RenameExists,
    /// The file that is to be changed or removed does not exist.
    #[error("there is no such file")]
    Missing,
    /// A directory has that path.
    #[error("it is a directory")]
    Directory,
    /// The path leads through a symbolic link, or is one where a file is to be changed.
    #[error("it leads through a symbolic link, and no patch goes there; name the file itself")]
    LinkThrough,
    /// The target of a symbolic link is to be changed.
    #[error("it is a symbolic link, and no patch gives it another target")]
    LinkRetarget,
    /// A file is to take the place of a symbolic link.
    #[error("it is a symbolic link, and no patch puts a file in its place")]
    LinkReplace,
    /// A symbolic link is to be removed.
    #[error("it is a symbolic link, and no patch removes it")]
    LinkDelete,
    /// A symbolic link is to be renamed.
    #[error("it is a symbolic link, and no patch renames it")]
    LinkRename,
    /// A directory of the tree has the name of a prefix, so that the path could be meant with it or without.
    #[error("it could be meant as {0}; start the file with a line `diff --git a/PATH b/PATH`")]
    PrefixAmbiguous(RepoPath),
    /// Another path differs by nothing but case.
    #[error("it differs from {0} only by case, and some systems take them for one")]
    CaseCollision(RepoPath),
    /// The file has another mode than the patch says.
    #[error("its mode is {actual}, and the patch says {stated}")]
    ModeMismatch {
        /// What the patch says.
        stated: &'static str,
        /// What it is.
        actual: &'static str,
    },
    /// The file holds a NUL byte.
    #[error("it is a binary file, and those cannot be patched")]
    Binary,
    /// The content of the file was not handed over.
    #[error("its content, {0}, was not at hand")]
    ContentMissing(Digest),
    /// What would come out passes [`limits::FILE_BYTES`].
    #[error("it would have {0} bytes, more than the {limit} allowed", limit = limits::FILE_BYTES)]
    TooLarge(usize),
    /// The files that are renamed, or removed without repeating their lines, pass [`limits::PATCH_WHOLE_BYTES`].
    #[error(
        "the files that the patch renames, or removes without their lines, have more than the {} bytes allowed; propose it in parts",
        limits::PATCH_WHOLE_BYTES
    )]
    WholeTooLarge,
    /// The patch leaves it as it is.
    #[error("the patch would leave it as it is")]
    NoEffect,
    /// The file is to be removed and holds other lines than the patch removes.
    #[error("it is to be removed and holds other lines than those of {0}")]
    DeletePartial(Box<Mismatch>),
    /// The lines of a hunk stand nowhere in the file.
    #[error("it does not have the lines of {0}")]
    ContextMismatch(Box<Mismatch>),
    /// The lines of a hunk do not stand where it says, or it does not say, and they stand at several places.
    #[error(
        "hunk {hunk} does not state the line where it stands and fits at {}; give it more context, or state its line in a unified diff",
        Candidates(lines)
    )]
    AmbiguousPlace {
        /// The hunk, counted from 1.
        hunk: usize,
        /// The first lines where it would fit.
        lines: Vec<usize>,
    },
    /// A hunk adds lines and has none to tell its place by.
    #[error(
        "hunk {hunk} adds lines and has no context to tell its place by; give it at least one line of context"
    )]
    UnanchoredInsert {
        /// The hunk, counted from 1.
        hunk: usize,
    },
    /// A line that a hunk names as standing above it does not stand in the file, or not in that order.
    #[error("hunk {hunk} is to stand below the line \"{line}\", which the file does not have there")]
    AnchorMissing {
        /// The hunk, counted from 1.
        hunk: usize,
        /// The line, without the blanks around it.
        line: Excerpt,
    },
    /// The lines of a hunk stand in the file with other line ends.
    #[error(
        "hunk {hunk} fits at line {line} but for its line ends: the file has {file_has} there; give every line of the hunk the same"
    )]
    ContextLineEnding {
        /// The hunk, counted from 1.
        hunk: usize,
        /// Where its lines are.
        line: usize,
        /// The line ends of the file.
        file_has: &'static str,
    },
    /// Two hunks overlap.
    #[error("hunk {hunk} stands at line {line}, which another hunk has too; join the two")]
    HunkOverlap {
        /// The hunk, counted from 1.
        hunk: usize,
        /// Where its lines are.
        line: usize,
    },
    /// A hunk changes the last line of the file and is wrong about its line feed.
    #[error(
        "hunk {hunk} is wrong about the line feed at the end of the file; mark a last line that has none with `\\ No newline at end of file`"
    )]
    FinalNewline {
        /// The hunk, counted from 1.
        hunk: usize,
    },
    /// The hunks that are not where they say need more searching than a patch may cause.
    #[error("too many hunks are not at the lines that they state; correct their line numbers")]
    SearchLimit,
}

/// Where a hunk and a file part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The hunk, counted from 1.
    pub hunk: usize,
    /// The line of the file that differs, counted from 1: at the place where most lines of the hunk fit.
    pub line: usize,
    /// What the hunk has there; `None` where it has ended.
    pub expected: Option<Excerpt>,
    /// What the file has there; `None` where it has ended.
    pub found: Option<Excerpt>,
    /// The first lines of the file where the hunk could begin by its longest line.
    pub candidates: Vec<usize>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |side: &Option<Excerpt>| {
            side.as_ref().map_or_else(|| "the end".to_owned(), |line| format!("\"{line}\""))
        };
        let (expected, found) = (side(&self.expected), side(&self.found));
        write!(
            f,
            "hunk {}, which part from it at line {}: there the hunk has {expected}, the file has {found}",
            self.hunk, self.line
        )?;
        if !self.candidates.is_empty() {
            write!(f, "; it may be meant for {}", Candidates(&self.candidates))?;
        }
        Ok(())
    }
}

struct Candidates<'a>(&'a [usize]);

impl fmt::Display for Candidates<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "line" } else { "lines" })?;
        for (index, line) in self.0.iter().enumerate() {
            write!(f, "{} {line}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl PatchRefusal {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BaseMoved { .. } => "PATCH_BASE_MOVED",
            Self::AlreadyApplied(_) => "PATCH_ALREADY_APPLIED",
            Self::At { reason, .. } => reason.code(),
            Self::Tree(TreeError::FileInTheWay(_) | TreeError::DirectoryInTheWay(_)) => "PATCH_PATH_CONFLICT",
            Self::Tree(_) => "PATCH_TREE_LIMIT",
        }
    }
}

impl Reason {
    /// The stable code of this reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Exists => "PATCH_FILE_EXISTS",
            Self::RenameExists => "PATCH_RENAME_EXISTS",
            Self::Missing => "PATCH_FILE_MISSING",
            Self::Directory => "PATCH_PATH_CONFLICT",
            Self::LinkThrough => "PATCH_LINK_THROUGH",
            Self::LinkRetarget => "PATCH_LINK_RETARGET",
            Self::LinkReplace => "PATCH_LINK_REPLACE",
            Self::LinkDelete => "PATCH_LINK_DELETE",
            Self::LinkRename => "PATCH_LINK_RENAME",
            Self::PrefixAmbiguous(_) => "PATCH_PREFIX_AMBIGUOUS",
            Self::CaseCollision(_) => "PATCH_CASE_COLLISION",
            Self::ModeMismatch { .. } => "PATCH_MODE_MISMATCH",
            Self::Binary => "PATCH_BINARY",
            Self::ContentMissing(_) => "PATCH_CONTENT_MISSING",
            Self::TooLarge(_) => "PATCH_RESULT_TOO_LARGE",
            Self::WholeTooLarge => "PATCH_WHOLE_TOO_LARGE",
            Self::NoEffect => "PATCH_NO_EFFECT",
            Self::DeletePartial(_) => "PATCH_DELETE_PARTIAL",
            Self::ContextMismatch(_) => "PATCH_CONTEXT_MISMATCH",
            Self::AmbiguousPlace { .. } => "PATCH_AMBIGUOUS_PLACE",
            Self::UnanchoredInsert { .. } => "PATCH_UNANCHORED_INSERT",
            Self::AnchorMissing { .. } => "PATCH_ANCHOR_MISSING",
            Self::ContextLineEnding { .. } => "PATCH_CONTEXT_LINE_ENDING",
            Self::HunkOverlap { .. } => "PATCH_HUNK_OVERLAP",
            Self::FinalNewline { .. } => "PATCH_FINAL_NEWLINE",
            Self::SearchLimit => "PATCH_SEARCH_LIMIT",
        }
    }
}
