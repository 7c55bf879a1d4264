use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{Digest, RepoPath};

use super::collision;
use super::refusal::{PatchRefusal, Reason};
use crate::patch::{FileMode, FilePatch, Hunk, Operation, OtherReading, PatchSet};
use crate::tree::{FileKind, Place, Tree, TreeFile};

/// Judges the headers of a patch by what stands at their paths, before any content is looked at.
pub(super) fn check(base: &Tree, patch: &PatchSet) -> Result<(), PatchRefusal> {
    let left: BTreeSet<&RepoPath> = patch.files().iter().filter_map(FilePatch::leaves).collect();
    for file in patch.files() {
        check_reading(base, file).map_err(|reason| at(file.path(), reason))?;
        if let Some(path) = file.reads() {
            check_way(base, path)
                .and_then(|()| check_source(base, file, path))
                .map_err(|reason| at(path, reason))?;
        }
        if let Some(taken) = takes(file) {
            check_way(base, file.path())
                .and_then(|()| check_room(base, &left, file.path(), taken))
                .map_err(|reason| at(file.path(), reason))?;
        }
    }
    check_shape(base, patch, &left)
}

pub(super) fn at(path: &RepoPath, reason: Reason) -> PatchRefusal {
    PatchRefusal::At { path: path.clone(), reason }
}

/// How a file refuses another that stands where it comes to, if it comes to a path that it did not have.
fn takes(file: &FilePatch) -> Option<Reason> {
    match file.operation() {
        Operation::Create { .. } => Some(Reason::Exists),
        Operation::Rename { .. } => Some(Reason::RenameExists),
        Operation::Delete { .. } | Operation::Modify { .. } => None,
    }
}

/// Refuses a path whose names could mean another file of the tree, where nothing else in the patch tells which it is.
fn check_reading(base: &Tree, patch: &FilePatch) -> Result<(), Reason> {
    let is_directory = |path: &RepoPath| {
        let first = path.components().next().and_then(|name| RepoPath::from_bytes(name).ok());
        first.is_some_and(|first| base.place(&first) == Place::Directory)
    };
    match &patch.other_reading {
        Some(OtherReading::Whole(other)) if is_directory(other) => {
            Err(Reason::PrefixAmbiguous(other.clone()))
        }
        Some(OtherReading::Stripped(other)) => {
            let is_made = patch.reads().is_none();
            let is_meant = if is_made { !is_directory(patch.path()) } else { base.get(other).is_some() };
            if is_meant { Err(Reason::PrefixAmbiguous(other.clone())) } else { Ok(()) }
        }
        Some(OtherReading::Whole(_)) | None => Ok(()),
    }
}

/// Refuses a path that leads through a link.
fn check_way(base: &Tree, path: &RepoPath) -> Result<(), Reason> {
    match base.place(path) {
        Place::Beyond(above) if above.kind == FileKind::Link => Err(Reason::LinkThrough),
        Place::Beyond(_) | Place::Absent | Place::File(_) | Place::Directory => Ok(()),
    }
}

/// Whether there is the file that a patch starts from.
fn check_source(base: &Tree, patch: &FilePatch, path: &RepoPath) -> Result<(), Reason> {
    match base.place(path) {
        Place::File(link) if link.kind == FileKind::Link => Err(on_link(patch, link)),
        Place::File(file) => check_mode(file, patch.stated_mode()),
        Place::Directory => Err(Reason::Directory),
        Place::Absent | Place::Beyond(_) => Err(Reason::Missing),
    }
}

/// What a patch would do to a link. It would change the target where that is what its hunk has, and otherwise the file
/// that the link leads to.
fn on_link(patch: &FilePatch, link: &TreeFile) -> Reason {
    match patch.operation() {
        Operation::Delete { .. } => Reason::LinkDelete,
        Operation::Rename { .. } => Reason::LinkRename,
        Operation::Create { .. } | Operation::Modify { .. } => {
            let before = patch.hunks().first().map_or_else(Vec::new, Hunk::before);
            let target = before.strip_suffix(b"\n").unwrap_or(&before);
            if Digest::of(target) == link.content { Reason::LinkRetarget } else { Reason::LinkThrough }
        }
    }
}

fn check_mode(file: &TreeFile, stated: Option<FileMode>) -> Result<(), Reason> {
    match stated.map(FileKind::from) {
        Some(stated) if stated != file.kind => {
            Err(Reason::ModeMismatch { stated: stated.git_mode(), actual: file.kind.git_mode() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether a file can come to a path.
fn check_room(base: &Tree, left: &BTreeSet<&RepoPath>, path: &RepoPath, taken: Reason) -> Result<(), Reason> {
    match base.place(path) {
        Place::File(file) if file.kind == FileKind::Link => Err(Reason::LinkReplace),
        Place::File(_) if !left.contains(path) => Err(taken),
        Place::File(_) | Place::Beyond(_) | Place::Absent | Place::Directory => Ok(()),
    }
}

/// Refuses files that come to paths where the tree has no place for them once all others are gone, or that differ from
/// another by case alone.
fn check_shape(base: &Tree, patch: &PatchSet, left: &BTreeSet<&RepoPath>) -> Result<(), PatchRefusal> {
    let come = patch.files().iter().filter(|file| takes(file).is_some());
    let come: BTreeSet<&RepoPath> = come.map(FilePatch::path).collect();
    if come.is_empty() {
        return Ok(());
    }
    let some_file = TreeFile::of(FileKind::File, b"");
    let mut edits: BTreeMap<RepoPath, Option<TreeFile>> =
        left.iter().map(|path| ((*path).clone(), None)).collect();
    edits.extend(come.iter().map(|path| ((*path).clone(), Some(some_file))));
    let shape = base.with(&edits).map_err(PatchRefusal::Tree)?;
    let fresh = come.into_iter().filter(|path| base.get(path).is_none());
    collision::check(&shape, fresh)
}
