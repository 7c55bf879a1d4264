//! Images in a directory, and their capture from the tools of this machine.
//!
//! A sandbox has a root file system of its own. [`DirectoryImages::capture`] makes one from tools that are installed
//! here, every file at the path where it lies on this machine. It takes of
//!
//! - every program its loader, its shared libraries, and the interpreter that its first line names;
//! - Python the standard library with byte code, without its tests, installers and screens, and without packages;
//! - git the programs that it starts, without those for a network, and the templates of a repository;
//! - the system the C.UTF-8 locale, and the time zones where Python is captured.
//!
//! Nothing else comes along. A program that reads other files of its own, as compilers and Perl do, finds them missing.
//! [`DirectoryImages::capture_volume`] makes a volume: the packages that a build or a test takes from elsewhere, which
//! a sandbox mounts beside its root.
//!
//! There is one user without privileges, no set-user-id bit, no device, no certificate and nothing that can be written.
//! The outcome is named by its digest; [`manifest`] says how that is computed.

#![forbid(unsafe_code)]

mod ask;
mod bytecode;
mod capture;
mod closure;
mod directory;
mod elf;
mod error;
mod follow;
mod git;
mod left_out;
pub mod limits;
mod loader;
pub mod manifest;
mod needs;
mod plan;
mod python;
mod shim;
mod skeleton;
mod stage;
mod store;
mod tool;
mod volume;

pub use capture::{CaptureReport, CaptureRequest, CapturedTool};
pub use error::{CaptureError, MissingTool};
pub use left_out::LeftOut;
pub use store::DirectoryImages;
pub use tool::{PROGRAM_DIRECTORIES, Tool, ToolError};
pub use volume::{VolumeCaptureError, VolumeReport, VolumeRequest, VolumeSource};
