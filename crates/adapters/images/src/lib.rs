//! Images in a directory, and their capture from the tools of this machine.
//!
//! A sandbox has a root file system of its own. [`DirectoryImages::capture`] makes one from tools that are installed
//! here, every file at the path where it lies on this machine. It takes of
//!
//! - every program its loader, its shared libraries, and the interpreter that its first line names;
//! - Python the standard library with byte code, without its tests, installers and screens, and without packages;
//! - git the programs that it starts, without those for a network, and the templates of a repository;
//! - Node the modules and data that a distribution keeps outside of it; of a program in JavaScript (npm, pnpm, yarn) its
//!   package with all that it names, and for npm settings that need no network;
//! - Rust the standard library of this machine's target and the linker that comes with it, without documentation, sources and
//!   sanitizers; cargo brings rustc and rustdoc, and each lies where its toolchain does, without a version manager;
//! - Go its standard library and its own tools, as far as building and testing goes, and settings without a network;
//! - a compiler of C (`cc`, `gcc`, `clang`) the programs that it starts (preprocessor and compiler, assembler, linker,
//!   archiver), what every program is linked with, and the headers of C, POSIX and Linux; C++ where its driver is named
//!   (`c++`, `g++`, `clang`). No sanitizer, no link-time optimisation, no static C library, no other library's headers;
//! - the tools that run a project's commands (make, just, npm) the shell;
//! - the system the C.UTF-8 locale, and the time zones where Python is captured.
//!
//! Nothing else comes along: a program that reads other files of its own, as Perl does, finds them missing. A script in Python
//! whose packages are not of the standard library (pytest, tox) is refused, and so is a link of Corepack's.
//!
//! [`DirectoryImages::capture_volume`] makes a volume: the packages that a build or a test takes from elsewhere, which
//! a sandbox mounts beside its root.
//!
//! There is one user without privileges, no set-user-id bit, no device, no certificate and nothing that can be written.
//! [`DirectoryImages::import`] makes one from somebody else's image: an OCI image layout or a tar of a root file system.
//!
//! The outcome is named by its digest; [`manifest`] says how that is computed.

#![forbid(unsafe_code)]

mod ask;
mod bytecode;
mod capture;
mod closure;
mod compiler;
mod contents;
mod directory;
mod driver;
mod elf;
mod error;
mod follow;
mod git;
mod go;
mod headers;
mod import;
mod left_out;
pub mod limits;
mod link_inputs;
mod loader;
pub mod manifest;
mod needs;
mod node;
mod origin;
mod packages;
mod plan;
mod python;
mod regular;
mod rust;
mod shim;
mod skeleton;
mod stage;
mod store;
mod tool;
mod volume;

pub use capture::{CaptureReport, CaptureRequest, CapturedTool};
pub use directory::{NamedImages, PruneReport, PruneRequest, Pruned};
pub use error::{CaptureError, MissingTool};
pub use import::{EntryFault, ImportError, ImportReport, ImportRequest, Platform, PlatformError};
pub use left_out::LeftOut;
pub use origin::{CapturedOrigin, ImportedOrigin, Omission, Omissions, Origin, SourceFormat, ToolOrigin};
pub use store::DirectoryImages;
pub use tool::{PROGRAM_DIRECTORIES, Tool, ToolError};
pub use volume::{VolumeCaptureError, VolumeReport, VolumeRequest, VolumeSource};
