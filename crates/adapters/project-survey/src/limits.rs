//! The limits of this crate.

/// The most entries of a repository that are looked at. What lies beyond is not seen, and the survey says so.
pub const ENTRIES: usize = 20_000;
/// How deep directories are looked into.
pub const DEPTH: usize = 12;
/// The largest file that says how a project is built. A larger one counts as one that cannot be read.
pub const MANIFEST_BYTES: usize = 1 << 20;
/// The largest list of pinned dependencies.
pub const LOCK_BYTES: usize = 4 << 20;
/// The largest source file of which it is read whether it holds tests.
pub const SOURCE_BYTES: usize = 256 << 10;
/// The most bytes of all source files that are read.
pub const SOURCES_BYTES: usize = 16 << 20;
/// The most files that say how a project is built.
pub const MANIFESTS: usize = 64;
/// The largest `ambit.toml`.
pub const REQUESTS_BYTES: usize = 64 << 10;
/// The most patterns that are proposed for one list of a blueprint; wider ones take their place beyond.
pub(crate) const PATTERNS: usize = 100;
/// The longest pattern in a document.
pub(crate) const PATTERN_BYTES: usize = 256;
/// The longest script of a project that becomes an argument.
pub(crate) const SCRIPT_BYTES: usize = 2_000;
/// The most arguments after the first ones of a command.
pub(crate) const ARGUMENTS: usize = 40;
/// The most directories with a project of their own in one repository.
pub(crate) const PROJECTS: usize = 4;
