//! Source trees from commits of git repositories.
//!
//! [`import`] reads a commit into a [`Tree`](ambit_revision::Tree) whose contents lie in a blob store. A repository is
//! data of somebody else, and only ever read:
//!
//! - No program is started, and no configuration is read: not that of the repository, the user or the system. So no
//!   hook, filter, monitor or include of it can run, and whoever owns the repository does not matter. The format of a
//!   repository is told by what lies in it.
//! - Contents are those of the objects: no filter, no line ending, no keyword is applied. A pointer of Git LFS stays one
//!   and is told as a [`Finding`].
//! - Nothing is fetched. An object that is missing is named, with the reason where the repository tells one.
//! - No symbolic link within the repository is followed, and neither alternates nor replacement objects are honoured.
//! - Every object is held against its name before it counts, and collisions of SHA-1 are refused.
//! - Objects are read in pieces from open files, never through a mapping: a file that shrinks meanwhile is an error and
//!   not a signal, and memory does not grow with the pack.

#![forbid(unsafe_code)]

mod delta;
mod finding;
mod id;
mod import;
mod import_error;
mod inflate;
mod keep;
pub mod limits;
mod loose;
mod object;
mod objects;
mod options;
mod pack;
mod place;
mod reading;
mod refs;
mod repository;
mod rev;
mod tree_object;
mod walk;

pub use finding::Finding;
pub use id::{CommitId, ObjectId};
pub use import::{Imported, import};
pub use import_error::{Absence, ImportError};
pub use object::ObjectKind;
pub use options::{ImportOptions, Submodules};
pub use rev::Rev;
