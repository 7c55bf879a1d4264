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
/// The most parts of a path of an archive that is imported.
pub const IMPORTED_DEPTH: usize = 128;
/// The longest path of an archive that is imported: what lies above it needs room too.
pub(crate) const IMPORTED_PATH_BYTES: usize = PATH_BYTES / 2;
/// The longest part of a path, as Linux has it.
pub(crate) const NAME_BYTES: usize = 255;
/// The largest document of an OCI image layout.
pub(crate) const LAYOUT_DOCUMENT_BYTES: u64 = 4 << 20;
/// The most documents of an OCI image layout that one import reads.
pub(crate) const LAYOUT_DOCUMENTS: usize = 256;
/// The most layers of an image that is imported.
pub(crate) const IMPORTED_LAYERS: usize = 512;
/// The most tools that the record of an imported image names.
pub const IMPORTED_TOOLS: usize = 512;
/// The most names of a directory of programs that are followed to what they lead to.
pub(crate) const LOOKED_AT_TOOLS: usize = 4096;
/// The most things that the record of an image names as left out.
pub(crate) const RECORDED_OMISSIONS: usize = 100;
/// The largest record of where an image came from.
pub(crate) const ORIGIN_BYTES: u64 = 1 << 20;
/// How long what a tool wrote beside its answer may take to arrive after its end.
pub(crate) const COMPLAINT_WAIT: Duration = Duration::from_secs(5);
/// The largest manifest of a package, and the largest text that stands for a library.
pub(crate) const DESCRIPTION_BYTES: u64 = 1 << 20;
