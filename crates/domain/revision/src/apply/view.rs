use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{ByteCount, Digest, RepoPath};

use super::collision::fold;
use super::{Applied, Effect, HunkMatch, PatchRefusal, apply};
use crate::Contents;
use crate::diff::Diff;
use crate::patch::{FilePatch, OtherReading, PatchSet, PatchWarning};
use crate::tree::{Change, EntryName, FileKind, Tree, TreeError, TreeFile};

/// What one patch can see of a source that was not read as a whole: the directories above the paths that it touches,
/// by the names in them, and what stands at those paths.
///
/// It has no digest, for it does not know the tree. What it can tell is whether the patch applies, and to what effect.
#[derive(Clone, Debug)]
pub struct View<'p> {
    patch: &'p PatchSet,
    /// The tree in which whatever the patch does not touch is a stand-in, or absent where it makes no difference.
    stand_ins: Tree,
}

/// The names in one directory.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The directory; `None` is the root.
    pub directory: Option<RepoPath>,
    /// Everything in it, each name once, in any order.
    pub entries: Vec<(EntryName, Sight)>,
}

/// What an entry of a directory is, as far as one patch needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A file, an executable or a link that was read.
    Read(TreeFile),
    /// One that was not.
    Unread,
    /// A directory. Where a path that the patch touches leads through it, it has a listing of its own, and otherwise
    /// there is something in it.
    Directory,
}

/// Why a patch cannot be told of from a view.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// A path that the patch touches, or a directory on the way to it, was not looked at.
    #[error("{0} was not looked at, and the patch touches it")]
    Unread(RepoPath),
    /// The entries make no tree.
    #[error("what the patch touches makes no tree")]
    Tree(#[from] TreeError),
}

impl ViewError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unread(_) => "PATCH_VIEW_INCOMPLETE",
            Self::Tree(error) => error.code(),
        }
    }
}

/// What a patch comes to in a source.
#[derive(Clone, Debug)]
pub enum Judged {
    /// It applies.
    Applied(Outcome),
    /// The source is what the patch leads to. What it did then is told where the patch says all that stood before; no
    /// contents are new.
    AlreadyApplied(Option<Outcome>),
}

/// What a patch makes of a source, whose other files nobody read.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The contents that are new.
    pub blobs: Contents,
    /// The files that are different, sorted by path.
    pub changes: Vec<Change>,
    /// The same change in canonical form.
    pub canonical: Diff,
    /// Where each hunk was found, in the order of the patch.
    pub matches: Vec<HunkMatch>,
    /// What the patch got wrong without leaving a doubt.
    pub warnings: Vec<PatchWarning>,
}

/// The paths that a patch touches, and those that it could mean. Whoever makes a [`View`] reads what stands there, and lists every directory on the
/// way to them and the root.
#[must_use]
pub fn touched(patch: &PatchSet) -> BTreeSet<RepoPath> {
    let others = patch.files().iter().filter_map(|file| match &file.other_reading {
        Some(OtherReading::Stripped(other)) => Some(other),
        Some(OtherReading::Whole(_)) | None => None,
    });
    patch.files().iter().flat_map(FilePatch::paths).chain(others).cloned().collect()
}

impl<'p> View<'p> {
    /// What `patch` sees of a source with these directories: the root, and every directory on the way to a path that
    /// the patch touches.
    ///
    /// # Errors
    /// [`ViewError`] where a directory or a file that the patch touches is not among them.
    pub fn new(patch: &'p PatchSet, listings: impl IntoIterator<Item = Listing>) -> Result<Self, ViewError> {
        let needs = Needs::of(patch);
        let mut listed = BTreeSet::from([None]);
        let mut expected = BTreeSet::from([None]);
        let mut files = Vec::new();
        for Listing { directory, entries } in listings {
            let telling = needs.telling.get(&directory);
            // One entry that the patch does not touch keeps the directory in being, and more of them add nothing.
            let mut is_held = false;
            for (name, sight) in entries {
                let is_telling = telling.is_some_and(|names| names.contains(&fold(name.as_bytes())));
                if !is_telling && is_held {
                    continue;
                }
                is_held |= !is_telling;
                let path = within(directory.as_ref(), &name)?;
                match needs.admit(&path, sight)? {
                    Place::File(file) => files.push((path, file)),
                    Place::Closed => files.push((within(Some(&path), &inner())?, STAND_IN)),
                    Place::Open => {
                        expected.insert(Some(path));
                    }
                }
            }
            listed.insert(directory);
        }
        if let Some(path) = expected.difference(&listed).flatten().next() {
            return Err(ViewError::Unread(path.clone()));
        }
        Ok(Self { patch, stand_ins: Tree::from_files(files)? })
    }

    /// Applies the patch, as [`apply`] does to a whole tree. `contents` holds the files that were read.
    ///
    /// Two refusals can come where a whole tree gives none: a directory with nothing in it but what no tree holds counts
    /// as one here, and so is in the way of a file or of a name that differs by case. None is missing but those of the
    /// size of the whole tree.
    ///
    /// # Errors
    /// [`PatchRefusal`], as [`apply`], but that a patch that was applied is none.
    pub fn apply(&self, contents: &Contents) -> Result<Judged, PatchRefusal> {
        // The digests of the stand-ins say nothing of the source, and none of them leaves this function.
        let digest = self.stand_ins.digest();
        match apply(&self.stand_ins, &digest, self.patch, contents) {
            Ok(Applied { blobs, changes, canonical, matches, warnings, .. }) => {
                Ok(Judged::Applied(Outcome { blobs, changes, canonical, matches, warnings }))
            }
            Err(PatchRefusal::AlreadyApplied(effect)) => Ok(Judged::AlreadyApplied(effect.map(|effect| {
                let Effect { changes, canonical, matches, warnings, .. } = *effect;
                Outcome { blobs: Contents::new(), changes, canonical, matches, warnings }
            }))),
            Err(refusal) => Err(refusal),
        }
    }
}

/// Stands for a file that nobody read. No content has this digest, and no path that the patch touches is one.
const STAND_IN: TreeFile =
    TreeFile { kind: FileKind::File, content: Digest::from_bytes([0; 32]), size: ByteCount::new(0) };

/// The stand-in for everything that is in a directory.
fn inner() -> EntryName {
    EntryName::of_component(b"_")
}

fn within(directory: Option<&RepoPath>, name: &EntryName) -> Result<RepoPath, TreeError> {
    let path = match directory {
        Some(directory) => directory.join(name.as_bytes()),
        None => RepoPath::from_bytes(name.as_bytes()),
    };
    path.map_err(|_| TreeError::Limit(crate::tree::TreeLimit::Path))
}

/// What an entry becomes among the stand-ins.
enum Place {
    File(TreeFile),
    /// A directory that no touched path leads through.
    Closed,
    /// One that has a listing.
    Open,
}

/// What a patch needs to know of a source.
struct Needs {
    touched: BTreeSet<RepoPath>,
    /// Directories on the way.
    above: BTreeSet<RepoPath>,
    /// Per directory the names, folded, that tell something: those that the patch touches, and prefixes of paths that
    /// could be directories. Of all others it matters only whether there is one.
    telling: BTreeMap<Option<RepoPath>, BTreeSet<Vec<u8>>>,
}

impl Needs {
    fn of(patch: &PatchSet) -> Self {
        let mut needs = Self { touched: touched(patch), above: BTreeSet::new(), telling: BTreeMap::new() };
        for path in &needs.touched {
            let mut path = path.clone();
            loop {
                let above = path.parent();
                needs.telling.entry(above.clone()).or_default().insert(fold(path.file_name()));
                let Some(above) = above else { break };
                needs.above.insert(above.clone());
                path = above;
            }
        }
        for file in patch.files() {
            if let Some(OtherReading::Whole(other)) = &file.other_reading {
                let prefix = other.components().next().map(fold);
                needs.telling.entry(None).or_default().extend(prefix);
            }
        }
        needs
    }

    fn admit(&self, path: &RepoPath, sight: Sight) -> Result<Place, ViewError> {
        let (is_touched, is_above) = (self.touched.contains(path), self.above.contains(path));
        match sight {
            Sight::Read(file) => Ok(Place::File(file)),
            Sight::Unread if is_touched || is_above => Err(ViewError::Unread(path.clone())),
            Sight::Unread => Ok(Place::File(STAND_IN)),
            Sight::Directory if is_above => Ok(Place::Open),
            Sight::Directory => Ok(Place::Closed),
        }
    }
}
