//! The verb that hands a revision out.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use ambit_git_export::{Author, BranchName, ObjectName};
use ambit_ids::RevisionId;
use clap::{Args, ValueEnum};

/// Exports as they are written, each with how it is taken.
const EXAMPLES: &str = "\
Examples, in a repository of yours:
  ambit revision export rev-1 --as mail --out - | git am
  ambit revision export rev-1 --as bundle --out fix.bundle \\
      --onto \"$(git rev-parse HEAD)\"
  git fetch fix.bundle ambit/rev-1
  ambit revision export rev-1 --as directory --out fix";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The revision.
    pub(crate) revision: RevisionId,
    /// As what.
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: FormArg,
    /// The file or directory, which must not exist. A mail goes to standard output with `-`.
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: OutArg,
    /// The revision that a mail changes, or whose tree the commit of `--onto` has [default: the one that this was made
    /// from; of an import none, so that a mail makes every file].
    #[arg(long, value_name = "REVISION")]
    pub(crate) base: Option<RevisionId>,
    /// The commit in your repository that the branch of a bundle goes on from, by all 40 digits; its tree is that of the
    /// base [default: the commit that the base was imported from; else none, and the branch begins a history of its own].
    #[arg(long, value_name = "COMMIT")]
    pub(crate) onto: Option<ObjectName>,
    /// Who the commit is from, as in `Ada Lovelace <ada@example.com>` [default: this program].
    #[arg(long, value_name = "AUTHOR")]
    pub(crate) author: Option<Author>,
    /// What the commit says, or the file that says it, with a `/` in its name [default: the goal of the run].
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) message: Option<MessageArg>,
    /// The branch of a bundle [default: ambit/REVISION].
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<BranchName>,
}

/// What a revision becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    /// One mail for `git am`.
    Mail,
    /// A branch in a bundle for `git fetch`.
    Bundle,
    /// A directory with its files.
    Directory,
}

/// Where something is written.
#[derive(Clone, Debug)]
pub(crate) enum OutArg {
    /// To standard output.
    Standard,
    /// To a new file or directory.
    Path(PathBuf),
}

/// What a commit says.
#[derive(Clone, Debug)]
pub(crate) enum MessageArg {
    /// These words.
    Text(String),
    /// What the file holds.
    File(PathBuf),
}

impl FromStr for OutArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { Self::Standard } else { Self::Path(text.into()) })
    }
}

impl FromStr for MessageArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_path = text.contains('/') && !text.contains(char::is_whitespace);
        Ok(if is_path { Self::File(text.into()) } else { Self::Text(text.to_owned()) })
    }
}
