//! The verbs that need no home and no project: a directory and a patch are all that they know.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What the verbs of patches answer, and how they are written.
const ANSWER: &str = "\
The answer is a page at a terminal, and one JSON object elsewhere or with --json: `verdict` says applies (of a check), \
applied, already-applied or refused, `code` and `message` why. The exit code is 0 where the patch applies or stands there \
already, 4 where it is refused, and 2 where the command is wrong.

Examples:
  ambit patch check --base . answer.txt    a diff, or the answer of a model
  git diff main | ambit patch check --base ../shop -
  ambit patch apply --base . --out ../changed answer.txt";

#[derive(Debug, Subcommand)]
pub(crate) enum PatchVerb {
    /// Say whether a patch applies to a directory, and to what effect. Nothing is written.
    #[command(after_help = ANSWER)]
    Check {
        #[command(flatten)]
        ground: GroundArgs,
        /// Tell the digest of the tree that would come out, for which all of the directory is read.
        #[arg(long)]
        tree: bool,
    },
    /// Apply a patch to a directory and write the outcome to a new one. The directory itself is only read.
    #[command(after_help = ANSWER)]
    Apply {
        #[command(flatten)]
        ground: GroundArgs,
        /// Tell the digest of the tree that would come out, for which all of the directory is read.
        #[arg(long)]
        tree: bool,
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
    /// The patch: a file, or `-` for standard input. Unified diffs, `*** Begin Patch` and search/replace blocks are
    /// understood, in Markdown fences and with prose around them, too.
    #[arg(value_name = "PATCH")]
    pub(crate) patch: PathBuf,
    /// The directory that the patch is for.
    #[arg(long, value_name = "DIR")]
    pub(crate) base: PathBuf,
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
    #[command(after_help = "\
Example:
  ambit tree digest .    the digest, the files, the bytes, what was left out")]
    Digest {
        /// The directory.
        dir: PathBuf,
        #[command(flatten)]
        all: AllArg,
    },
}
