//! The verbs of volumes.

use std::path::PathBuf;

use ambit_ids::VolumeName;
use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum VolumeVerb {
    /// Take packages that are installed on this machine into a volume. Nothing of them is run.
    Capture {
        /// The name of the volume.
        #[arg(long)]
        name: VolumeName,
        /// What is captured.
        kind: KindArg,
        /// A `Cargo.lock` for `cargo`, else a directory.
        source: PathBuf,
        /// Where Cargo keeps what it fetched [default: $CARGO_HOME, or .cargo in the user's home].
        #[arg(long, value_name = "DIR")]
        cargo_home: Option<PathBuf>,
    },
    /// List the volumes of this machine.
    List,
    /// Show a volume.
    Show {
        /// The volume, by name or digest.
        volume: String,
    },
    /// Hold every byte of a volume against its digest.
    Verify {
        /// The volume, by name or digest.
        volume: String,
    },
}

/// What a volume is captured from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindArg {
    /// The crates of a `Cargo.lock`, as `CARGO_HOME=/volumes/cargo`.
    Cargo,
    /// An installed `node_modules`, found from everywhere where it is mounted as `node_modules`.
    NodeModules,
    /// A virtual environment or its packages, as `PYTHONPATH=/volumes/python`.
    Python,
    /// A directory as it is.
    Directory,
}
