//! Volumes: directory trees that commands find below `/volumes`, captured from what is installed on this machine.

mod cargo;
mod copy;
mod error;
mod lock;
mod new_tree;
mod shelf;
mod source;
mod unpack;

use std::path::PathBuf;

use ambit_ids::VolumeName;
use ambit_ports::volumes::{Volume, VolumeKind};

use crate::left_out::LeftOut;

pub use error::VolumeCaptureError;
pub(crate) use shelf::Shelf;

/// What to capture into a volume.
#[derive(Clone, Debug)]
pub struct VolumeRequest {
    /// The name of the volume on this machine.
    pub name: VolumeName,
    /// From what.
    pub source: VolumeSource,
}

/// What a volume is captured from. Nothing of it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// The registry crates of a `Cargo.lock`, each held against its checksum there. The volume is a home of Cargo, and
    /// finds its crates where it is mounted as `cargo`: `CARGO_HOME=/volumes/cargo`.
    Cargo {
        /// The `Cargo.lock`.
        lockfile: PathBuf,
        /// The home of Cargo (`~/.cargo`) into which the crates were fetched.
        cargo_home: PathBuf,
    },
    /// An installed `node_modules`. Mounted as `node_modules` it is found from every directory.
    NodeModules(PathBuf),
    /// A virtual environment, whose `site-packages` is taken, or such a directory itself:
    /// `PYTHONPATH=/volumes/python`.
    Python(PathBuf),
    /// A directory as it is.
    Directory(PathBuf),
}

impl VolumeSource {
    /// The kind of the volume.
    #[must_use]
    pub const fn kind(&self) -> VolumeKind {
        match self {
            Self::Cargo { .. } => VolumeKind::Cargo,
            Self::NodeModules(_) => VolumeKind::NodeModules,
            Self::Python(_) => VolumeKind::Python,
            Self::Directory(_) => VolumeKind::Directory,
        }
    }
}

/// What was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeReport {
    /// The volume.
    pub volume: Volume,
    /// Whether it was here already, whole, and only got its name.
    pub reused: bool,
    /// What was left out although it belongs to the source, sorted.
    pub left_out: Vec<LeftOut>,
}
