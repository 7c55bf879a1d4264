//! The limits of this crate.

use std::time::Duration;

/// The most files, links and directories of an image.
pub const IMAGE_ENTRIES: usize = 200_000;
/// The most bytes of an image.
pub const IMAGE_BYTES: u64 = 8 << 30;
/// The most files, links and directories of a volume.
pub const VOLUME_ENTRIES: usize = 500_000;
/// The most bytes of a volume.
pub const VOLUME_BYTES: u64 = 8 << 30;
/// The longest path in a volume.
pub const VOLUME_PATH_BYTES: usize = 2048;
/// The most directories in each other in a volume.
pub const VOLUME_DEPTH: usize = 100;
/// The largest `Cargo.lock`.
pub const LOCK_BYTES: u64 = 8 << 20;
/// The most packages of a `Cargo.lock`.
pub const LOCKED_CRATES: usize = 20_000;
/// The largest archive of a crate.
pub const CRATE_BYTES: u64 = 64 << 20;
/// The most that an archive of a crate may unpack to, as Cargo has it.
pub const UNPACKED_CRATE_BYTES: u64 = 512 << 20;
/// The most tools that one capture may name.
pub const CAPTURED_TOOLS: usize = 64;
/// The longest path in an image, as Linux has it.
pub const PATH_BYTES: usize = 4096;
/// The most symbolic links on the way to one file, as Linux has it.
pub(crate) const LINKS_ON_THE_WAY: u32 = 40;
/// The most files that one program may pull in: libraries, interpreters, modules.
pub(crate) const LINKED_FILES: usize = 4096;
/// The largest record beside an image.
pub(crate) const RECORD_BYTES: u64 = 64 << 10;
/// The most bytes that a tool may answer when it is asked for its parts.
pub(crate) const ANSWER_BYTES: u64 = 64 << 20;
/// How long a tool may take for that answer. Compiling the whole standard library of Python takes seconds where nothing
/// else runs.
pub(crate) const ANSWER_WAIT: Duration = Duration::from_secs(300);
