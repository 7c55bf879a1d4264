use std::collections::BTreeSet;

use ambit_ids::{RepoPath, limits};

use super::fault::{PatchError, PatchFault};
use super::name::Prefix;
use super::once::Once;
use super::set::{FilePatch, Hunk, Operation, OtherReading};

/// What one part of a patch asks for at one path.
pub(super) struct Section {
    /// The index of the line that names the path.
    pub(super) at: usize,
    pub(super) path: RepoPath,
    /// How its path carries a prefix; `None` in a form without prefixes.
    pub(super) prefix: Option<Prefix>,
    /// What its names could mean instead.
    pub(super) other: Option<OtherReading>,
    pub(super) operation: Operation,
    pub(super) hunks: Vec<Hunk>,
}

/// The sections of a patch, whatever forms they are written in.
#[derive(Default)]
pub(super) struct Sections {
    sections: Vec<Section>,
    /// Those that further blocks of their file can join.
    joinable: BTreeSet<usize>,
    hunk_count: usize,
    /// The file of the block above, where a block of the same form stands next.
    pub(super) last_block: Option<RepoPath>,
}

impl Sections {
    /// How many more hunks there may be.
    pub(super) fn room(&self) -> usize {
        limits::PATCH_HUNKS.saturating_sub(self.hunk_count)
    }

    /// Refuses one more hunk, at the line `at`, beyond the limit; `more` are read and not added yet.
    pub(super) fn check_room(&self, at: usize, more: usize) -> Result<(), PatchError> {
        if more < self.room() { Ok(()) } else { Err(PatchError::at(at, PatchFault::TooManyHunks)) }
    }

    pub(super) fn add(&mut self, section: Section) -> Result<(), PatchError> {
        if self.sections.len() == limits::PATCH_FILES {
            return Err(PatchError::at(section.at, PatchFault::TooManyFiles));
        }
        self.hunk_count += section.hunks.len();
        self.last_block = None;
        self.sections.push(section);
        Ok(())
    }

    /// Adds a section, or its hunks to those of the section of the same path that was added this way.
    pub(super) fn join(&mut self, section: Section) -> Result<(), PatchError> {
        let same = self.joinable.iter().find(|index| self.sections[**index].path == section.path);
        let Some(index) = same.copied() else {
            self.joinable.insert(self.sections.len());
            return self.add(section);
        };
        for mut hunk in section.hunks {
            let hunks = &mut self.sections[index].hunks;
            hunk.number = hunks.len() + 1;
            hunks.push(hunk);
            self.hunk_count += 1;
        }
        Ok(())
    }

    /// Settles the paths: all headers with prefixes or none, and no file twice.
    pub(super) fn settle(self) -> Result<Vec<FilePatch>, PatchError> {
        let any = |prefix| self.sections.iter().any(|section| section.prefix == Some(prefix));
        let (carried, bare) = (any(Prefix::Carried), any(Prefix::Bare));
        let is_surely_bare = self
            .sections
            .iter()
            .any(|section| section.prefix == Some(Prefix::Bare) && section.other.is_none());
        let mut once = Once::default();
        let mut files = Vec::with_capacity(self.sections.len());
        for Section { at, path, prefix, other, operation, hunks } in self.sections {
            if bare && prefix.is_some_and(|prefix| prefix != Prefix::Bare) {
                return Err(PatchError::at(at, PatchFault::PrefixAmbiguous));
            }
            let other_reading = other.filter(|_| !carried && !is_surely_bare);
            let file = FilePatch { path, other_reading, operation, hunks };
            once.admit(&file, prefix.is_none()).map_err(|fault| PatchError::at(at, fault))?;
            files.push(file);
        }
        if files.is_empty() { Err(PatchError::at(0, PatchFault::Empty)) } else { Ok(files) }
    }
}
