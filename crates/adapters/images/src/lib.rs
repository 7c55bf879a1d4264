//! Images in a directory, and their capture from the tools of this machine.
//!
//! A sandbox has a root file system of its own. [`DirectoryImages::capture`] makes one from tools that are installed
//! here: it takes each program with everything that it needs to start, every file at the path where it lies on this
//! machine, and nothing else. The outcome is immutable and is named by its digest; [`manifest`](self::manifest) says
//! how that is computed.

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
pub mod limits;
mod loader;
pub mod manifest;
mod plan;
mod python;
mod shim;
mod skeleton;
mod stage;
mod store;
mod tool;

pub use capture::{CaptureReport, CaptureRequest, CapturedTool, LeftOut};
pub use error::{CaptureError, MissingTool};
pub use store::DirectoryImages;
pub use tool::{Tool, ToolError};

/// The `PATH` of a sandbox: where the tools of an image can be called.
pub const PROGRAM_DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
