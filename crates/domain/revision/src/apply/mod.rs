//! Applying a patch to a tree, in memory and as a whole.

mod collision;
mod locate;
mod refusal;
mod repeat;
mod splice;
mod text;
mod view;

use std::collections::BTreeMap;

use ambit_ids::{Digest, RepoPath, limits};
use serde::{Deserialize, Serialize};

use crate::Contents;
use crate::diff::{Diff, DiffError, diff};
use crate::patch::{FileMode, FilePatch, Hunk, Operation, PatchSet, PatchWarning};
use crate::tree::{Change, FileKind, Place, Tree, TreeFile};
use locate::SearchBudget;
pub use refusal::{Excerpt, Mismatch, PatchRefusal, Reason};
use splice::{Block, splice};
pub use view::{Effect, Listing, Sight, View, ViewError, touched};

/// A patch that was applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The tree that came out.
    pub tree: Tree,
    /// The contents that the tree before did not need to have, to be stored before the tree is.
    pub blobs: Contents,
    /// The files that are different, sorted by path.
    pub changes: Vec<Change>,
    /// The same change in canonical form, derived from the two trees and from nothing else. What is approved, guarded and
    /// counted is this.
    pub canonical: Diff,
    /// The digest of the patch as it was proposed.
    pub source: Digest,
    /// Where each hunk was found, in the order of the patch.
    pub matches: Vec<HunkMatch>,
    /// What the patch got wrong without leaving a doubt.
    pub warnings: Vec<PatchWarning>,
}

/// Where a hunk was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HunkMatch {
    /// The file.
    pub path: RepoPath,
    /// The hunk, counted from 1 within its file.
    pub hunk: usize,
    /// The line of the file before the patch where it begins, counted from 1.
    pub line: usize,
    /// How it was found.
    pub how: MatchedBy,
}

/// How a hunk was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchedBy {
    /// It is at the line that it states.
    StatedLine,
    /// It is at another line, and nowhere else in the file.
    OnlyPlace,
}

/// The files of `tree` whose contents [`apply`] needs: those that the patch changes or removes, sorted by path.
#[must_use]
pub fn reads(tree: &Tree, patch: &PatchSet) -> Vec<TreeFile> {
    let files: BTreeMap<&RepoPath, TreeFile> = patch
        .files()
        .iter()
        .filter_map(|file| Some((file.path(), *tree.get(file.path())?)))
        .filter(|(_, file)| file.kind != FileKind::Link)
        .collect();
    files.into_values().collect()
}

/// Applies `patch` to `base`, which must be the tree with the digest `expected_base`.
///
/// `contents` holds the files that [`reads`] names. `base` never changes.
///
/// The bytes that a hunk removes or has as context must stand in the file exactly, line endings and the end of the file
/// included. They must stand at the line that the hunk states, or else at one place in the whole file; several places,
/// or none, refuse the patch. Nothing is ever searched for by likeness. Hunks follow one another. Lines are added
/// without context only to an empty file. A file that is made must be absent, one that is removed must be removed line
/// by line, and each file must come out different. No path leads through a link or differs from another by case alone.
///
/// # Errors
/// [`PatchRefusal`] with the first reason in the order of the patch; then nothing of the patch is applied.
pub fn apply(
    base: &Tree,
    expected_base: &Digest,
    patch: &PatchSet,
    contents: &Contents,
) -> Result<Applied, PatchRefusal> {
    if base.digest() != *expected_base {
        return Err(PatchRefusal::BaseMoved { expected: *expected_base, actual: base.digest() });
    }
    let mut draft = Draft {
        budget: SearchBudget::whole(),
        edits: BTreeMap::new(),
        blobs: Contents::new(),
        matches: Vec::new(),
    };
    for file in patch.files() {
        if let Err(reason) = draft.add(base, file, contents) {
            if reason != Reason::NoEffect && repeat::is_applied(base, patch, contents) {
                return Err(PatchRefusal::AlreadyApplied);
            }
            return Err(PatchRefusal::At { path: file.path().clone(), reason });
        }
    }
    let tree = base.with(&draft.edits).map_err(PatchRefusal::Tree)?;
    let changes = base.diff(&tree);
    collision::check(base, &tree, &changes)?;
    let canonical = canonical(base, &tree, contents, &draft.blobs)?;
    Ok(Applied {
        tree,
        blobs: draft.blobs,
        changes,
        canonical,
        source: patch.source(),
        matches: draft.matches,
        warnings: patch.warnings().to_vec(),
    })
}

fn canonical(base: &Tree, tree: &Tree, old: &Contents, new: &Contents) -> Result<Diff, PatchRefusal> {
    diff(base, tree, &|digest| new.get(digest).or_else(|| old.get(digest))).map_err(
        |DiffError::ContentMissing { path, content }| PatchRefusal::At {
            path,
            reason: Reason::ContentMissing(content),
        },
    )
}

/// What has come together of a patch so far. It is dropped where anything is refused.
struct Draft {
    budget: SearchBudget,
    edits: BTreeMap<RepoPath, Option<TreeFile>>,
    blobs: Contents,
    matches: Vec<HunkMatch>,
}

impl Draft {
    fn add(&mut self, base: &Tree, patch: &FilePatch, contents: &Contents) -> Result<(), Reason> {
        check_reading(base, patch)?;
        let place = base.place(patch.path());
        if let Place::Beyond(TreeFile { kind: FileKind::Link, .. })
        | Place::File(TreeFile { kind: FileKind::Link, .. }) = place
        {
            return Err(Reason::Link);
        }
        let edit = match (place, patch.operation()) {
            (Place::File(_), Operation::Create { .. }) => return Err(Reason::Exists),
            // Whether a removal makes room is for the tree to tell, once all edits are known.
            (_, Operation::Create { mode }) => Some(self.create(patch, mode)?),
            (Place::File(file), Operation::Delete { stated }) => {
                check_mode(file, stated)?;
                check_whole(patch, content(file, contents)?)?;
                None
            }
            (Place::File(file), Operation::Modify { stated, becomes }) => {
                check_mode(file, stated)?;
                Some(self.modify(patch, *file, becomes, contents)?)
            }
            (Place::Directory, _) => return Err(Reason::Directory),
            (Place::Absent | Place::Beyond(_), _) => return Err(Reason::Missing),
        };
        self.edits.insert(patch.path().clone(), edit);
        Ok(())
    }

    fn create(&mut self, patch: &FilePatch, mode: FileMode) -> Result<TreeFile, Reason> {
        let bytes = patch.hunks().first().map_or_else(Vec::new, Hunk::after);
        for hunk in patch.hunks() {
            self.matched(patch, hunk.number(), 1, MatchedBy::StatedLine);
        }
        Ok(self.keep(mode.into(), bytes))
    }

    fn modify(
        &mut self,
        patch: &FilePatch,
        file: TreeFile,
        becomes: Option<FileMode>,
        contents: &Contents,
    ) -> Result<TreeFile, Reason> {
        let kind = becomes.map_or(file.kind, FileKind::from);
        if patch.hunks().is_empty() {
            return if kind == file.kind { Err(Reason::NoEffect) } else { Ok(TreeFile { kind, ..file }) };
        }
        let before = content(&file, contents)?;
        let blocks: Vec<Block> = patch.hunks().iter().map(Block::forward).collect();
        let spliced = splice(before, &blocks, &mut self.budget)?;
        if spliced.bytes == before {
            return Err(Reason::NoEffect);
        }
        if spliced.bytes.len() as u64 > limits::FILE_BYTES {
            return Err(Reason::TooLarge(spliced.bytes.len()));
        }
        for (block, found) in blocks.iter().zip(&spliced.found) {
            let how = if found.as_stated { MatchedBy::StatedLine } else { MatchedBy::OnlyPlace };
            self.matched(patch, block.hunk, found.line, how);
        }
        Ok(self.keep(kind, spliced.bytes))
    }

    fn keep(&mut self, kind: FileKind, bytes: Vec<u8>) -> TreeFile {
        let size = ambit_ids::ByteCount::new(bytes.len() as u64);
        TreeFile { kind, size, content: self.blobs.insert(bytes) }
    }

    fn matched(&mut self, patch: &FilePatch, hunk: usize, line: usize, how: MatchedBy) {
        self.matches.push(HunkMatch { path: patch.path().clone(), hunk, line, how });
    }
}

/// Refuses a path whose prefix could be a directory of the tree, where nothing else in the patch tells which it is.
fn check_reading(base: &Tree, patch: &FilePatch) -> Result<(), Reason> {
    let Some(other) = &patch.other_reading else { return Ok(()) };
    let prefix = other.components().next().and_then(|name| RepoPath::from_bytes(name).ok());
    let is_directory = prefix.is_some_and(|prefix| base.place(&prefix) == Place::Directory);
    if is_directory { Err(Reason::PrefixAmbiguous(other.clone())) } else { Ok(()) }
}

fn check_mode(file: &TreeFile, stated: Option<FileMode>) -> Result<(), Reason> {
    match stated.map(FileKind::from) {
        Some(stated) if stated != file.kind => {
            Err(Reason::ModeMismatch { stated: stated.git_mode(), actual: file.kind.git_mode() })
        }
        Some(_) | None => Ok(()),
    }
}

/// The content of a file that may be patched.
fn content<'a>(file: &TreeFile, contents: &'a Contents) -> Result<&'a [u8], Reason> {
    let bytes = contents.get(&file.content).ok_or(Reason::ContentMissing(file.content))?;
    if memchr::memchr(0, bytes).is_some() { Err(Reason::Binary) } else { Ok(bytes) }
}

fn check_whole(patch: &FilePatch, bytes: &[u8]) -> Result<(), Reason> {
    let removed = patch.hunks().first().map_or_else(Vec::new, Hunk::before);
    if removed == bytes {
        return Ok(());
    }
    let text = text::Text::new(bytes);
    Err(Reason::DeletePartial(Box::new(locate::mismatch(&text, &removed, Some(1), 1))))
}
