//! The limits of this crate.

/// The most bytes that all files of an imported commit may have together.
pub const CONTENT_BYTES: u64 = 8 << 30;
/// The most bytes that are unpacked for one import: contents, and whatever deltas need and copy on the way to them. Each
/// object of a pack counts for 1 KiB more.
pub const UNPACKED_BYTES: u64 = 64 << 30;
/// The longest chain of deltas: as long as git itself makes one at most.
pub const DELTA_DEPTH: usize = 4_095;
/// The most packs of a repository. Git gathers them into one when there are 50.
pub const PACKS: usize = 256;
/// The largest commit or tag.
pub const COMMIT_BYTES: u64 = 4 << 20;
/// How many tags may lie on the way to a commit, and how many names on the way to an object.
pub const INDIRECTIONS: usize = 8;
/// The most bytes of the file of packed references.
pub const PACKED_REFS_BYTES: u64 = 64 << 20;
/// The fewest digits of an abbreviated name.
pub const ABBREVIATION_DIGITS: usize = 4;
/// The most findings that are told one by one.
pub const FINDINGS: usize = 1_000;
/// How much of a content is read at a time. One up to this size is held as a whole.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;
/// With so many files, or so many bytes of them, a group of small files is handed over.
pub(crate) const GROUP_FILES: usize = 128;
pub(crate) const GROUP_BYTES: usize = 1 << 20;
/// How many groups, or large files, wait to be stored.
pub(crate) const QUEUED: usize = 3;
/// How many chunks of one file wait to be stored.
pub(crate) const QUEUED_CHUNKS: usize = 2;
/// The most bytes of unpacked bases that are kept for the next delta on them.
pub(crate) const KEPT_BASES_BYTES: usize = 8 << 20;
/// The largest base that is kept.
pub(crate) const KEPT_BASE_BYTES: usize = 1 << 20;
