//! How much of a source an import is ready to look at.

use crate::limits;

/// The bounds of one import, over all of its archives together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Entries of archives, and directories that no entry tells of.
    pub(crate) entries: u64,
    /// Bytes of all paths and link targets.
    pub(crate) name_bytes: u64,
    /// Parts of one path.
    pub(crate) depth: usize,
    /// Bytes of all files, those that a later layer replaces among them.
    pub(crate) content_bytes: u64,
    /// Bytes of one archive once it is decompressed.
    pub(crate) inflated_bytes: u64,
    /// As much may come out of a compressed archive however little went in.
    pub(crate) inflated_freely_bytes: u64,
    /// Beyond that, so many bytes may come out for each one that went in.
    pub(crate) inflated_ratio: u64,
}

impl Bounds {
    pub(crate) const OF_AN_IMPORT: Self = Self {
        entries: 2 * limits::IMAGE_ENTRIES as u64,
        name_bytes: 64 << 20,
        depth: limits::IMPORTED_DEPTH,
        content_bytes: limits::IMAGE_BYTES,
        inflated_bytes: limits::IMAGE_BYTES + (1 << 30),
        inflated_freely_bytes: 256 << 20,
        inflated_ratio: 100,
    };
}

/// What is left of the [`Bounds`].
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(crate) bounds: Bounds,
    entries: u64,
    name_bytes: u64,
    content_bytes: u64,
}

/// A bound that was passed: what there may be, with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed(pub(crate) String);

impl Allowance {
    pub(crate) const fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            entries: bounds.entries,
            name_bytes: bounds.name_bytes,
            content_bytes: bounds.content_bytes,
        }
    }

    pub(crate) fn entry(&mut self) -> Result<(), Passed> {
        take(&mut self.entries, 1, self.bounds.entries, "entries")
    }

    pub(crate) fn names(&mut self, bytes: usize) -> Result<(), Passed> {
        take(&mut self.name_bytes, bytes as u64, self.bounds.name_bytes, "bytes of paths")
    }

    pub(crate) fn content(&mut self, bytes: u64) -> Result<(), Passed> {
        take(&mut self.content_bytes, bytes, self.bounds.content_bytes, "bytes of files")
    }
}

fn take(left: &mut u64, wanted: u64, bound: u64, unit: &str) -> Result<(), Passed> {
    *left = left.checked_sub(wanted).ok_or_else(|| Passed(format!("{bound} {unit}")))?;
    Ok(())
}
