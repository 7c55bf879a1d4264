//! Source trees from directories of this machine, and back.
//!
//! [`import`] reads a directory into a [`Tree`](ambit_revision::Tree) whose contents lie in a blob store. It takes every
//! file, every symbolic link as a link, and the executable bit of the owner, and leaves the directory as it is.
//!
//! - No symbolic link is followed, neither one that was there nor one that takes the place of something else meanwhile:
//!   every entry is opened by its name in the open directory that holds it.
//! - `.git`, in every spelling that [`RepoPath`](ambit_ids::RepoPath) refuses, is counted and never opened. No program
//!   is started and no configuration is read, so that nothing in a directory can have itself executed.
//! - What the `.gitignore` files in the directory leave out is left out, whether or not there is a `.git`. They are the
//!   only rules: those outside of the directory, in `.git/info/exclude` and in the configuration of git are not read.
//!   Without the index nobody can tell which files git tracks in spite of a rule; they are left out, too.
//! - So are `node_modules`, virtual environments of Python (they hold `pyvenv.cfg`) and caches that are tagged as such
//!   (`CACHEDIR.TAG`, as the target of cargo is), whether or not a rule names them.
//! - A directory without files does not exist in a tree.
//! - Whatever else a directory can hold (a socket, a pipe, a device, a file past a limit or one that cannot be read) is
//!   refused by its name. Nothing is dropped in silence.
//!
//! [`measure`] tells the tree that an import would give and keeps nothing, and [`look`] tells of some paths alone what
//! stands there, without reading anything else.
//!
//! [`export`] writes a tree to a directory that did not exist or was empty, and importing it again gives the same tree,
//! but for what its own `.gitignore` files leave out.

#![forbid(unsafe_code)]

mod export;
mod export_error;
mod found;
mod ignore;
mod import;
mod import_error;
mod keep;
pub mod limits;
mod look;
mod made;
mod measure;
mod open;
mod options;
mod path;
mod source_files;
mod staging;
mod walk;
mod write;
mod write_new;

pub use export::{Exported, export};
pub use export_error::ExportError;
pub use import::{Imported, files, import};
pub use import_error::{ImportError, SpecialFile};
pub use look::{Looked, look};
pub use measure::{Measured, measure};
pub use options::{IgnoreFiles, ImportOptions};
pub use path::EntryPath;
pub use source_files::SourceFiles;
pub use write_new::{ContentOf, write_new};
