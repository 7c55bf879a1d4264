//! The verbs of documents.

use std::path::PathBuf;

use ambit_ids::{BlueprintId, Digest, GateId, ImageName, VolumeName};
use clap::Subcommand;

use super::CredentialArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum BlueprintVerb {
    /// Write a small blueprint with remarks, to start from.
    New {
        /// The name of the blueprint.
        #[arg(long, default_value = "my-blueprint")]
        name: BlueprintId,
        /// Write it to this new file instead of showing it.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Check a blueprint.
    Validate {
        /// The document.
        file: PathBuf,
    },
    /// Approve exactly this content of a blueprint.
    Approve {
        /// The document.
        file: PathBuf,
        #[command(flatten)]
        credential: CredentialArgs,
    },
    /// Take an approval back: no further run starts from this content of a blueprint.
    Withdraw {
        /// The name of the blueprint.
        blueprint: BlueprintId,
        /// The digest that was approved.
        #[arg(long)]
        digest: Digest,
        #[command(flatten)]
        credential: CredentialArgs,
    },
    /// Show a blueprint: a file, or one that is registered.
    Show {
        /// A file, or the name of a registered blueprint.
        blueprint: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileVerb {
    /// List the profiles that a run can be started under.
    List,
    /// Show a profile: a file, or one that comes with the program.
    Show {
        /// A file, or the name of a profile.
        profile: String,
    },
    /// Check a profile.
    Validate {
        /// The document.
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogVerb {
    /// List the commands of the newest registered catalog, or of a file.
    List {
        /// Read this file instead.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Show one command.
    Show {
        /// The command.
        command: GateId,
        /// Read this file instead.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Register a catalog with the project.
    Register {
        /// The document.
        file: PathBuf,
    },
    /// Write a catalog with `${image}` replaced by the digest of a captured image, and `${volume.NAME}` by that of a
    /// volume.
    Pin {
        /// The document with `${image}` in place of digests.
        file: PathBuf,
        /// The image.
        #[arg(long)]
        image: ImageName,
        /// A volume; may be given several times.
        #[arg(long = "volume", value_name = "NAME")]
        volumes: Vec<VolumeName>,
        /// Write it to this new file instead of showing it.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}
