use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{ByteCount, Digest, RepoPath, limits};

use super::locate::{SearchBudget, mismatch};
use super::refusal::{PatchRefusal, Reason};
use super::splice::{Block, splice};
use super::text::Text;
use super::{HunkMatch, MatchedBy};
use crate::Contents;
use crate::patch::{FileMode, FilePatch, Hunk, Operation, PatchSet};
use crate::tree::{FileKind, Place, Tree, TreeFile};

/// What comes of a patch, file by file. It is dropped where anything is refused.
pub(super) struct Draft<'a> {
    base: &'a Tree,
    patch: &'a PatchSet,
    contents: &'a Contents,
    budget: SearchBudget,
    whole_bytes: u64,
    /// The paths that a file leaves, and that another may take in the same step.
    left: BTreeSet<&'a RepoPath>,
    filled: BTreeMap<&'a RepoPath, TreeFile>,
    pub(super) blobs: Contents,
    pub(super) matches: Vec<HunkMatch>,
}

impl<'a> Draft<'a> {
    pub(super) fn of(
        base: &'a Tree,
        patch: &'a PatchSet,
        contents: &'a Contents,
    ) -> Result<Self, PatchRefusal> {
        let mut draft = Self {
            base,
            patch,
            contents,
            budget: SearchBudget::whole(),
            whole_bytes: 0,
            left: patch.files().iter().filter_map(FilePatch::leaves).collect(),
            filled: BTreeMap::new(),
            blobs: Contents::new(),
            matches: Vec::new(),
        };
        for file in patch.files() {
            draft.add(file)?;
        }
        Ok(draft)
    }

    /// What becomes of each path.
    pub(super) fn edits(&self) -> BTreeMap<RepoPath, Option<TreeFile>> {
        let left = self.left.iter().map(|path| ((*path).clone(), None));
        let filled = self.filled.iter().map(|(path, file)| ((*path).clone(), Some(*file)));
        left.chain(filled).collect()
    }

    /// Refuses a patch that leaves one of its files as it was.
    pub(super) fn check_effects(&self, tree: &Tree) -> Result<(), PatchRefusal> {
        let same = |path: &RepoPath| self.base.get(path) == tree.get(path);
        let idle = |file: &&FilePatch| same(file.path()) && file.leaves().is_none_or(same);
        match self.patch.files().iter().find(idle) {
            Some(file) => Err(at(file.path(), Reason::NoEffect)),
            None => Ok(()),
        }
    }

    fn add(&mut self, patch: &'a FilePatch) -> Result<(), PatchRefusal> {
        let path = patch.path();
        let refused = |reason| at(path, reason);
        check_reading(self.base, patch).map_err(refused)?;
        for path in patch.reads().into_iter().chain([path]) {
            check_way(self.base, path).map_err(|reason| at(path, reason))?;
        }
        match patch.operation() {
            Operation::Create { mode } => {
                self.check_room(path, Reason::Exists).map_err(refused)?;
                let file = self.create(patch, *mode);
                self.filled.insert(path, file);
            }
            Operation::Delete { stated, whole } => {
                let file = self.source(patch, path, *stated)?;
                self.delete(patch, &file, *whole).map_err(refused)?;
            }
            Operation::Modify { stated, becomes } => {
                let file = self.source(patch, path, *stated)?;
                let file = self.modify(patch, file, *becomes).map_err(refused)?;
                self.filled.insert(path, file);
            }
            Operation::Rename { from, stated, becomes } => {
                let file = self.source(patch, from, *stated)?;
                self.check_room(path, Reason::RenameExists).map_err(refused)?;
                self.read_whole(&file).map_err(|reason| at(from, reason))?;
                let file = self.modify(patch, file, *becomes).map_err(refused)?;
                self.filled.insert(path, file);
            }
        }
        Ok(())
    }

    /// The file that a patch starts from.
    fn source(
        &self,
        patch: &FilePatch,
        path: &RepoPath,
        stated: Option<FileMode>,
    ) -> Result<TreeFile, PatchRefusal> {
        let file = match self.base.place(path) {
            Place::File(link) if link.kind == FileKind::Link => Err(on_link(patch, link)),
            Place::File(file) => check_mode(file, stated).map(|()| *file),
            Place::Directory => Err(Reason::Directory),
            Place::Absent | Place::Beyond(_) => Err(Reason::Missing),
        };
        file.map_err(|reason| at(path, reason))
    }

    /// Whether a file can be made or moved here. What a directory or a file above means is for the tree to tell, once
    /// all edits are known.
    fn check_room(&self, path: &RepoPath, taken: Reason) -> Result<(), Reason> {
        match self.base.place(path) {
            Place::File(file) if file.kind == FileKind::Link => Err(Reason::LinkReplace),
            Place::File(_) if !self.left.contains(path) => Err(taken),
            Place::File(_) | Place::Beyond(_) | Place::Absent | Place::Directory => Ok(()),
        }
    }

    fn create(&mut self, patch: &FilePatch, mode: FileMode) -> TreeFile {
        let bytes = patch.hunks().first().map_or_else(Vec::new, Hunk::after);
        for hunk in patch.hunks() {
            self.matched(patch, hunk.number(), 1, MatchedBy::StatedLine);
        }
        self.keep(mode.into(), bytes)
    }

    fn delete(&mut self, patch: &FilePatch, file: &TreeFile, whole: bool) -> Result<(), Reason> {
        if whole {
            return self.read_whole(file);
        }
        let bytes = content(file, self.contents)?;
        let removed = patch.hunks().first().map_or_else(Vec::new, Hunk::before);
        if removed == bytes {
            return Ok(());
        }
        Err(Reason::DeletePartial(Box::new(mismatch(&Text::new(bytes), &removed, Some(1), 1))))
    }

    fn modify(
        &mut self,
        patch: &FilePatch,
        file: TreeFile,
        becomes: Option<FileMode>,
    ) -> Result<TreeFile, Reason> {
        let kind = becomes.map_or(file.kind, FileKind::from);
        if patch.hunks().is_empty() {
            return Ok(TreeFile { kind, ..file });
        }
        let before = content(&file, self.contents)?;
        let blocks: Vec<Block> = patch.hunks().iter().map(Block::forward).collect();
        let spliced = splice(before, &blocks, &mut self.budget)?;
        if spliced.bytes.len() as u64 > limits::FILE_BYTES {
            return Err(Reason::TooLarge(spliced.bytes.len()));
        }
        for (block, found) in blocks.iter().zip(&spliced.found) {
            let how = if found.as_stated { MatchedBy::StatedLine } else { MatchedBy::OnlyPlace };
            self.matched(patch, block.hunk, found.line, how);
        }
        Ok(self.keep(kind, spliced.bytes))
    }

    /// Admits a file whose lines the canonical form repeats, though the patch does not.
    fn read_whole(&mut self, file: &TreeFile) -> Result<(), Reason> {
        self.whole_bytes = self.whole_bytes.saturating_add(file.size.get());
        if self.whole_bytes > limits::PATCH_WHOLE_BYTES {
            return Err(Reason::WholeTooLarge);
        }
        content(file, self.contents).map(|_| ())
    }

    fn keep(&mut self, kind: FileKind, bytes: Vec<u8>) -> TreeFile {
        let size = ByteCount::new(bytes.len() as u64);
        TreeFile { kind, size, content: self.blobs.insert(bytes) }
    }

    fn matched(&mut self, patch: &FilePatch, hunk: usize, line: usize, how: MatchedBy) {
        self.matches.push(HunkMatch { path: patch.path().clone(), hunk, line, how });
    }
}

fn at(path: &RepoPath, reason: Reason) -> PatchRefusal {
    PatchRefusal::At { path: path.clone(), reason }
}

/// Refuses a path that leads through a link.
fn check_way(base: &Tree, path: &RepoPath) -> Result<(), Reason> {
    match base.place(path) {
        Place::Beyond(above) if above.kind == FileKind::Link => Err(Reason::LinkThrough),
        Place::Beyond(_) | Place::Absent | Place::File(_) | Place::Directory => Ok(()),
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
