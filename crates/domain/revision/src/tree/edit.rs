use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_ids::{ByteCount, RepoPath, limits};

use super::directory::{Directory, Node, TreeLimit};
use super::entry::{EntryName, FileKind, TreeFile};

/// The longest target of a symbolic link that Linux takes (`PATH_MAX` without its NUL).
pub const LINK_TARGET_BYTES: u64 = 4095;

/// Why a tree cannot be made. Trees are values: the one it was to be made from is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// One path was given twice.
    #[error("{0} was given twice")]
    Twice(RepoPath),
    /// A file stands where the path needs a directory.
    #[error("{0} needs a directory where there is a file")]
    FileInTheWay(RepoPath),
    /// A directory stands where the file is to be.
    #[error("{0} is a directory")]
    DirectoryInTheWay(RepoPath),
    /// The path that is to be removed is no file of the tree.
    #[error("{0} is no file of the tree")]
    Absent(RepoPath),
    /// Past [`limits::FILE_BYTES`], or a link past [`LINK_TARGET_BYTES`].
    #[error("{path} has {size}, which is too large")]
    FileTooLarge {
        /// The path.
        path: RepoPath,
        /// Its size.
        size: ByteCount,
    },
    /// The tree as a whole passes a limit.
    #[error(transparent)]
    Limit(#[from] TreeLimit),
}

impl TreeError {
    /// The path that it is about, where it is about one.
    #[must_use]
    pub const fn path(&self) -> Option<&RepoPath> {
        match self {
            Self::Twice(path)
            | Self::FileInTheWay(path)
            | Self::DirectoryInTheWay(path)
            | Self::Absent(path)
            | Self::FileTooLarge { path, .. } => Some(path),
            Self::Limit(_) => None,
        }
    }

    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Twice(_) => "TREE_PATH_TWICE",
            Self::FileInTheWay(_) => "TREE_FILE_IN_THE_WAY",
            Self::DirectoryInTheWay(_) => "TREE_DIRECTORY_IN_THE_WAY",
            Self::Absent(_) => "TREE_PATH_ABSENT",
            Self::FileTooLarge { .. } => "TREE_FILE_TOO_LARGE",
            Self::Limit(_) => "TREE_LIMIT",
        }
    }
}

/// What becomes of one path: the file that stands there afterwards, or nothing.
#[derive(Clone, Copy)]
struct Edit<'a> {
    path: &'a RepoPath,
    rest: &'a [u8],
    file: Option<TreeFile>,
}

/// What becomes of one name of a directory.
#[derive(Default)]
struct NameEdits<'a> {
    here: Option<Edit<'a>>,
    below: Vec<Edit<'a>>,
}

/// `old` with `changes`, where a removal makes room for whatever comes in the same step. Directories that no change
/// reaches are shared with `old`.
pub(super) fn rebuild(
    old: &Directory,
    changes: &BTreeMap<RepoPath, Option<TreeFile>>,
) -> Result<Directory, TreeError> {
    for (path, file) in changes {
        if let Some(file) = file {
            check_size(path, file)?;
        }
    }
    let edits =
        changes.iter().map(|(path, file)| Edit { path, rest: path.as_bytes(), file: *file }).collect();
    rebuild_directory(Some(old), edits)
}

fn check_size(path: &RepoPath, file: &TreeFile) -> Result<(), TreeError> {
    let limit = match file.kind {
        FileKind::File | FileKind::Executable => limits::FILE_BYTES,
        FileKind::Link => LINK_TARGET_BYTES,
    };
    if file.size.get() > limit {
        return Err(TreeError::FileTooLarge { path: path.clone(), size: file.size });
    }
    Ok(())
}

fn rebuild_directory(old: Option<&Directory>, edits: Vec<Edit<'_>>) -> Result<Directory, TreeError> {
    let mut named: BTreeMap<&[u8], NameEdits<'_>> = BTreeMap::new();
    for edit in edits {
        match edit.rest.iter().position(|b| *b == b'/') {
            None => named.entry(edit.rest).or_default().here = Some(edit),
            Some(slash) => {
                let (name, rest) = (&edit.rest[..slash], &edit.rest[slash + 1..]);
                named.entry(name).or_default().below.push(Edit { rest, ..edit });
            }
        }
    }
    let mut left = old.map_or(&[][..], Directory::entries);
    let mut entries = Vec::with_capacity(left.len() + named.len());
    for (name, edits) in named {
        let above;
        (above, left) = left.split_at(left.partition_point(|(other, _)| other.as_bytes() < name));
        entries.extend_from_slice(above);
        let here = left.first().filter(|(other, _)| other.as_bytes() == name);
        left = &left[usize::from(here.is_some())..];
        let becomes = edit_name(here.map(|(_, node)| node), edits)?;
        let name = || here.map_or_else(|| EntryName::of_component(name), |(name, _)| name.clone());
        entries.extend(becomes.map(|node| (name(), node)));
    }
    entries.extend_from_slice(left);
    Ok(Directory::new(entries)?)
}

fn edit_name(old: Option<&Node>, edits: NameEdits<'_>) -> Result<Option<Node>, TreeError> {
    let removal = edits.here.as_ref().filter(|edit| edit.file.is_none());
    if let Some(removal) = removal
        && !matches!(old, Some(Node::File(_)))
    {
        return Err(TreeError::Absent(removal.path.clone()));
    }
    let old_directory = match old {
        Some(Node::Directory(directory)) => Some(directory.as_ref()),
        Some(Node::File(_)) | None => None,
    };
    if let (Some(Node::File(_)), None, Some(first)) = (old, &edits.here, edits.below.first()) {
        return Err(TreeError::FileInTheWay(first.path.clone()));
    }
    let below = if edits.below.is_empty() {
        old.filter(|_| old_directory.is_some()).cloned()
    } else {
        let directory = rebuild_directory(old_directory, edits.below)?;
        (!directory.entries().is_empty()).then(|| Node::Directory(Arc::new(directory)))
    };
    match edits.here {
        Some(Edit { path, file: Some(file), .. }) => match below {
            None => Ok(Some(Node::File(file))),
            Some(_) => Err(TreeError::DirectoryInTheWay(path.clone())),
        },
        Some(Edit { file: None, .. }) | None => Ok(below),
    }
}
