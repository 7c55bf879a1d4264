use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{ByteCount, RepoPath, limits};

use super::block::Block;
use super::headers::at;
use super::locate::{SearchBudget, mismatch};
use super::refusal::{PatchRefusal, Reason};
use super::splice::splice;
use super::text::Text;
use super::{HunkMatch, MatchedBy};
use crate::Contents;
use crate::patch::{FileMode, FilePatch, Hunk, Operation, PatchSet, PatchWarning};
use crate::tree::{FileKind, Tree, TreeFile};

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
    pub(super) warnings: Vec<PatchWarning>,
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
            warnings: patch.warnings().to_vec(),
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
    pub(super) fn check_effects(
        &self,
        edits: &BTreeMap<RepoPath, Option<TreeFile>>,
    ) -> Result<(), PatchRefusal> {
        let same = |path: &RepoPath| self.base.get(path) == edits.get(path).and_then(Option::as_ref);
        let idle = |file: &&FilePatch| same(file.path()) && file.leaves().is_none_or(same);
        match self.patch.files().iter().find(idle) {
            Some(file) => Err(at(file.path(), Reason::NoEffect)),
            None => Ok(()),
        }
    }

    fn add(&mut self, patch: &'a FilePatch) -> Result<(), PatchRefusal> {
        let path = patch.path();
        let file = match patch.operation() {
            Operation::Create { mode } => self.create(patch, *mode),
            Operation::Delete { whole, .. } => {
                let file = self.source(path)?;
                return self.delete(patch, &file, *whole).map_err(|reason| at(path, reason));
            }
            Operation::Modify { becomes, .. } => {
                let file = self.source(path)?;
                self.modify(patch, file, *becomes).map_err(|reason| at(path, reason))?
            }
            Operation::Rename { from, becomes, .. } => {
                let file = self.source(from)?;
                self.read_whole(&file).map_err(|reason| at(from, reason))?;
                self.modify(patch, file, *becomes).map_err(|reason| at(path, reason))?
            }
        };
        self.filled.insert(path, file);
        Ok(())
    }

    /// The file that a patch starts from.
    fn source(&self, path: &RepoPath) -> Result<TreeFile, PatchRefusal> {
        self.base.get(path).copied().ok_or_else(|| at(path, Reason::Missing))
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
        let of_path = |hunks: &[usize], warning: fn(RepoPath, usize) -> PatchWarning| -> Vec<PatchWarning> {
            hunks.iter().map(|hunk| warning(patch.path().clone(), *hunk)).collect()
        };
        self.warnings
            .extend(of_path(&spliced.out_of_order, |path, hunk| PatchWarning::HunkOrder { path, hunk }));
        self.warnings.extend(of_path(&spliced.end_kept, |path, hunk| PatchWarning::EndOfFile { path, hunk }));
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

/// The content of a file that may be patched.
fn content<'a>(file: &TreeFile, contents: &'a Contents) -> Result<&'a [u8], Reason> {
    let bytes = contents.get(&file.content).ok_or(Reason::ContentMissing(file.content))?;
    if memchr::memchr(0, bytes).is_some() { Err(Reason::Binary) } else { Ok(bytes) }
}
