use std::fmt;
use std::io;
use std::path::PathBuf;

use ambit_ports::images::ImageError;

/// A tool that was asked for and is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTool {
    /// The name or path that was asked for.
    pub tool: String,
    /// What was looked for, and where.
    pub looked_for: String,
}

impl fmt::Display for MissingTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.tool, self.looked_for)
    }
}

/// Why nothing was captured. The store is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// Some tools are not on this machine.
    #[error(
        "not on this machine: {}; nothing was captured. Install them, or name each by its absolute path",
        join(.0)
    )]
    ToolsMissing(Vec<MissingTool>),
    /// No tool was named, or too many.
    #[error("a capture names 1 to {limit} tools, this one names {found}", limit = crate::limits::CAPTURED_TOOLS)]
    ToolCount {
        /// How many were named.
        found: usize,
    },
    /// Two of the tools, or a tool and a file that another one needs, would be called by one name.
    #[error("`{name}` would call {first} and not {second}; nothing was captured. Leave one of the two out")]
    Ambiguous {
        /// The name.
        name: String,
        /// What the name calls.
        first: PathBuf,
        /// What it was to call.
        second: PathBuf,
    },
    /// A file lies where every sandbox has a directory of its own.
    #[error(
        "{} would be hidden by the {mount} of the sandbox; nothing was captured. Install the tool elsewhere",
        path.display()
    )]
    Hidden {
        /// The file.
        path: PathBuf,
        /// The directory that is mounted over it.
        mount: &'static str,
    },
    /// A file that belongs to a tool cannot be read.
    #[error(
        "{} cannot be read; nothing was captured. Let this user read it, or leave out the tool that needs it",
        path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Neither an ELF file nor a script that names its interpreter, or one that is damaged.
    #[error("{} cannot be captured as a program: {why}; nothing was captured", path.display())]
    NotAProgram {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A script in Python needs packages beside the standard library.
    #[error(
        "{} needs the Python packages {}, and an image holds the standard library alone; nothing was captured. Capture \
         `python3`, give the sandbox the packages as a volume, and call the tool as `python3 -m`",
        script.display(),
        packages.join(", ")
    )]
    PackagesMissing {
        /// The script.
        script: PathBuf,
        /// The packages, sorted.
        packages: Vec<String>,
    },
    /// A shared library of a program is not on this machine.
    #[error(
        "{library} is not on this machine, and {} needs it; nothing was captured. Install the library, \
         or leave the tool out",
        needed_by.display()
    )]
    LibraryMissing {
        /// The library, as the program names it.
        library: String,
        /// The file that needs it.
        needed_by: PathBuf,
    },
    /// A tool did not tell where its parts lie.
    #[error("{} did not tell where its parts lie: {why}; nothing was captured", program.display())]
    Unanswered {
        /// The program that was asked.
        program: PathBuf,
        /// What it did instead.
        why: String,
    },
    /// The index of shared libraries could not be made.
    #[error(
        "the index of shared libraries could not be made: {why}; nothing was captured. Install `ldconfig`"
    )]
    NoLibraryIndex {
        /// What went wrong.
        why: String,
    },
    /// More than an image can hold.
    #[error("an image holds at most {limit}; nothing was captured. Name fewer tools")]
    TooLarge {
        /// The limit, with its unit.
        limit: String,
    },
    /// One path would be two different things: a file changed its kind while it was looked at, or lies in the way of
    /// what every image has.
    #[error("{} would be two things at once; nothing was captured. Try again", path.display())]
    Conflict {
        /// The path.
        path: PathBuf,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ImageError),
}

impl CaptureError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ToolsMissing(_) => "IMAGE_TOOL_MISSING",
            Self::ToolCount { .. } => "IMAGE_TOOL_COUNT",
            Self::Ambiguous { .. } => "IMAGE_TOOL_AMBIGUOUS",
            Self::Hidden { .. } => "IMAGE_PATH_HIDDEN",
            Self::Unreadable { .. } => "IMAGE_SOURCE_UNREADABLE",
            Self::NotAProgram { .. } => "IMAGE_TOOL_UNFIT",
            Self::PackagesMissing { .. } => "IMAGE_PACKAGES_MISSING",
            Self::LibraryMissing { .. } => "IMAGE_LIBRARY_MISSING",
            Self::Unanswered { .. } => "IMAGE_TOOL_UNANSWERED",
            Self::NoLibraryIndex { .. } => "IMAGE_LIBRARY_INDEX_FAILED",
            Self::TooLarge { .. } => "IMAGE_TOO_LARGE",
            Self::Conflict { .. } => "IMAGE_PATH_CONFLICT",
            Self::Store(error) => error.code(),
        }
    }
}

fn join(missing: &[MissingTool]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
