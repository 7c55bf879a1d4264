//! The verbs that need no home and no project: a directory and a patch are all that they know.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum PatchVerb {
    /// Say whether a patch applies to a directory, and to what effect. Nothing is written.
    Check {
        #[command(flatten)]
        ground: GroundArgs,
    },
    /// Apply a patch to a directory and write the outcome to a new one. The directory itself is only read.
    Apply {
        #[command(flatten)]
        ground: GroundArgs,
        /// The directory for the outcome, which must not exist. It appears whole or not at all.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write only the files that the patch makes or changes, and read only what it touches.
        #[arg(long)]
        changed_only: bool,
    },
}

/// What a patch is held against.
#[derive(Args, Debug)]
pub(crate) struct GroundArgs {
    /// The patch: a file, or `-` for standard input.
    #[arg(value_name = "PATCH")]
    pub(crate) patch: PathBuf,
    /// The directory that the patch is for.
    #[arg(long, value_name = "DIR")]
    pub(crate) base: PathBuf,
    /// Tell the digest of the tree that would come out, for which all of the directory is read.
    #[arg(long)]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) all: AllArg,
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct AllArg {
    /// Take what `.gitignore` files leave out, and what package managers and builds made, too.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TreeVerb {
    /// Say which tree an import of a directory would give. Nothing is kept.
    Digest {
        /// The directory.
        dir: PathBuf,
        #[command(flatten)]
        all: AllArg,
    },
}
