//! The verbs of images.

use std::path::PathBuf;

use ambit_ids::ImageName;
use ambit_images::Platform;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ImageVerb {
    /// Take tools of this machine, with everything they need, into an image.
    Capture {
        /// The name of the image.
        #[arg(long)]
        name: ImageName,
        /// Tools, by name or absolute path.
        #[arg(required = true)]
        tools: Vec<String>,
    },
    /// Take somebody else's image: an OCI image layout, or a tar of a root file system.
    Import(ImportArgs),
    /// List the images of this machine.
    List,
    /// Show what is in an image, and where it came from.
    Show {
        /// The image, by name or digest.
        image: String,
    },
    /// Read every byte of an image, and hold it against its digest.
    Verify {
        /// The image, by name or digest [default: all of them].
        image: Option<String>,
        /// Verify all of them.
        #[arg(long, conflicts_with = "image")]
        all: bool,
    },
    /// Remove images that have no name and that no catalog and no open run of any project needs.
    Prune {
        /// Also those that have a name.
        #[arg(long)]
        unused: bool,
        /// Only tell what would be removed.
        #[arg(long)]
        dry_run: bool,
        /// Remove without asking.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The name of the image.
    #[arg(long)]
    pub(crate) name: ImageName,
    /// The platform, of an image for several [default: this machine's].
    #[arg(long, value_name = "OS/ARCH")]
    pub(crate) platform: Option<Platform>,
    /// What the layout calls the image, where it has several.
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// The directory of a layout, or the tar of one or of a root file system, which may be compressed with gzip.
    pub(crate) source: PathBuf,
}
