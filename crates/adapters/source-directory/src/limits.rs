//! The limits of this crate.

/// The most bytes that all files of an imported directory may have together.
pub const CONTENT_BYTES: u64 = 8 << 30;
/// The most bytes that the files at the paths that are looked at may have together: they are held in memory.
pub const LOOKED_BYTES: u64 = 1 << 30;
/// The largest `.gitignore` file.
pub const IGNORE_FILE_BYTES: usize = 256 << 10;
/// The most rules of `.gitignore` files that may be in force at one place.
pub const IGNORE_RULES: usize = 8_192;
/// How much of a file is read at a time. A file up to this size is held as a whole.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;
/// How many entries wait to be stored.
pub(crate) const QUEUED_ENTRIES: usize = 16;
/// How many chunks of one file wait to be stored.
pub(crate) const QUEUED_CHUNKS: usize = 2;
/// How many contents wait to be written.
pub(crate) const QUEUED_WRITES: usize = 1;
