//! Content-addressed source trees.
//!
//! # The digest of a tree
//!
//! A tree is a Merkle tree of directories. A directory is known by the SHA-256 digest of its *object*, and a tree by the
//! digest of its root directory. An object is these bytes, without any other spelling:
//!
//! ```text
//! ambit tree 1⏎
//! KIND DIGEST SIZE LENGTH NAME⏎        once for each entry
//! ```
//!
//! - `⏎` is one line feed (0x0a), and the fields are parted by one space (0x20) each.
//! - `KIND` is `file`, `exec` (a file with its executable bit), `link` (a symbolic link) or `dir`.
//! - `DIGEST` is the SHA-256 digest, in 64 lower-case hexadecimal digits, of the file's bytes, of the link's target, or
//!   of the object of the directory.
//! - `SIZE` is the number of those bytes, in decimal without leading zeros.
//! - `NAME` is the name of the entry in its own bytes, and `LENGTH` their number in decimal. A name may hold any byte
//!   but `/` and NUL, so the length and not the line feed ends it.
//! - The entries are sorted by the bytes of their names, and no name stands twice.
//! - A directory without entries does not exist, except for the root of the empty tree, whose object is the first line.
//!
//! Modes other than the executable bit, owners and times are no part of a tree.

mod directory;
mod edit;
mod encoding;
mod entry;
mod load;
mod source_tree;
mod walk;

pub use directory::TreeLimit;
pub use edit::{LINK_TARGET_BYTES, TreeError};
pub use encoding::{DIRECTORY_HEADER, DirectoryEntry, DirectoryError, EntryKind, decode_directory};
pub use entry::{EntryName, FileKind, TreeFile};
pub use load::{LoadError, TreeLoader};
pub use source_tree::{DirectoryObject, Place, Tree};
pub use walk::{Change, Files};
