//! Content-addressed blobs in a directory.
//!
//! A blob is one file, `<root>/<organization>/<project>/<2 digits>/<62 digits>`, whose name is the SHA-256 of its
//! plaintext in lower-case hexadecimal: `sha256sum` of the file is its name. Directories have mode 0700 and files 0600,
//! and no link is followed on the way to a blob.
//!
//! A blob is written under `<root>/.incoming-v1/` and takes its name, in one step, once its bytes are on the disk. So a
//! crash leaves it whole or absent. No organisation can be named like that directory, since names start with a letter
//! or a digit; its presence also says that the directory is ours and of which format.
//!
//! The blobs of a batch wait in directories of their own under `<root>/.incoming-v1/`. In waves of a few thousand, their
//! bytes go to the disk together, then all of them take their names; at the end the names go to the disk, once for all.
//! It is the same order. A batch of a few blobs syncs each of them; one of more syncs the file system, twice and once more
//! for each further wave. A file system in another program (FUSE) need not do anything then, so there each is synced.
//!
//! A file without an extension holds the plaintext itself. A later format, such as bytes encrypted under the key of
//! the project, takes an extension after the same digest and another name for the incoming directory, which this
//! version refuses. What lies there by then need not be rewritten.

#![forbid(unsafe_code)]

mod batch;
mod directory;
mod disk;
mod fresh;
mod incoming;
mod layout;
mod read;
mod room;
mod root;
mod staging;
mod stale;
mod wave;
mod writer;

pub use directory::DirectoryBlobs;
pub use root::OpenBlobsError;
