//! Applying a patch to a tree, in memory and as a whole.

mod block;
mod collision;
mod draft;
mod excerpt;
mod headers;
mod locate;
mod narrow;
mod refusal;
mod repeat;
mod splice;
mod text;
mod view;

use std::collections::BTreeMap;

use ambit_ids::{Digest, RepoPath};
use serde::{Deserialize, Serialize};

use crate::Contents;
use crate::diff::{Diff, DiffError, of_changes};
use crate::patch::{FilePatch, PatchSet, PatchWarning};
use crate::tree::{Change, FileKind, Tree, TreeFile};
use draft::Draft;
pub use excerpt::Excerpt;
pub use refusal::{Effect, Mismatch, PatchRefusal, Reason};
pub use view::{Judged, Listing, Outcome, Sight, View, ViewError, touched};

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

/// The files of `tree` whose contents [`apply`] needs: those at the paths of the patch, sorted by path.
#[must_use]
pub fn reads(tree: &Tree, patch: &PatchSet) -> Vec<TreeFile> {
    let files: BTreeMap<&RepoPath, TreeFile> = patch
        .files()
        .iter()
        .flat_map(FilePatch::paths)
        .filter_map(|path| Some((path, *tree.get(path)?)))
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
/// or none, refuse the patch. Nothing is ever searched for by likeness. Hunks may stand in any order and may not overlap.
/// A hunk that ends with context leaves the end of the file as it is, whatever it says of it. Lines are added without
/// context only to an empty file. A file that is made must be absent, one that is removed must be removed line
/// by line, and each file must come out different. A file that is renamed leaves its path and keeps its mode. All of a
/// patch is one step, so that two files may change places. No path leads through a link or differs from another by case
/// alone.
///
/// Where the patch does not apply because `base` is what it leads to already, the refusal tells what it did then.
///
/// # Errors
/// [`PatchRefusal`] with the first reason in the order of the patch, of its headers first and then of its content. Nothing
/// of the patch is applied then.
pub fn apply(
    base: &Tree,
    expected_base: &Digest,
    patch: &PatchSet,
    contents: &Contents,
) -> Result<Applied, PatchRefusal> {
    if base.digest() != *expected_base {
        return Err(PatchRefusal::BaseMoved { expected: *expected_base, actual: base.digest() });
    }
    forward(base, patch, contents).map_err(|refusal| {
        if matches!(&refusal, PatchRefusal::At { reason: Reason::NoEffect, .. }) {
            return refusal;
        }
        let original = repeat::original(base, patch, contents);
        original.map_or(refusal, |effect| PatchRefusal::AlreadyApplied(effect.map(Box::new)))
    })
}

fn forward(base: &Tree, patch: &PatchSet, contents: &Contents) -> Result<Applied, PatchRefusal> {
    headers::check(base, patch)?;
    let draft = Draft::of(base, patch, contents)?;
    let edits = draft.edits();
    let tree = base.with(&edits).map_err(PatchRefusal::Tree)?;
    draft.check_effects(&edits)?;
    let changes = changes(base, edits);
    let canonical = canonical(&changes, contents, &draft.blobs)?;
    Ok(Applied {
        tree,
        blobs: draft.blobs,
        changes,
        canonical,
        source: patch.source(),
        matches: draft.matches,
        warnings: draft.warnings,
    })
}

/// What differs from `base` to the tree with these edits. They are all that was done to it, so that no other path needs to
/// be looked at.
fn changes(base: &Tree, edits: BTreeMap<RepoPath, Option<TreeFile>>) -> Vec<Change> {
    let changes = edits.into_iter().map(|(path, after)| {
        let before = base.get(&path).copied();
        Change { path, before, after }
    });
    changes.filter(|change| change.before != change.after).collect()
}

fn canonical(changes: &[Change], old: &Contents, new: &Contents) -> Result<Diff, PatchRefusal> {
    of_changes(changes, &|digest| new.get(digest).or_else(|| old.get(digest))).map_err(
        |DiffError::ContentMissing { path, content }| PatchRefusal::At {
            path,
            reason: Reason::ContentMissing(content),
        },
    )
}
