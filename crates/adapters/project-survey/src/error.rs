use std::path::PathBuf;

/// Why a directory could not be looked at. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// It is not there, is no directory, or is a link.
    #[error("{path} is not a directory; nothing was looked at")]
    NotADirectory {
        /// What was named.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It cannot be read.
    #[error("{path} cannot be read; nothing was proposed")]
    Unreadable {
        /// What was named.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl SurveyError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotADirectory { .. } => "SURVEY_NOT_A_DIRECTORY",
            Self::Unreadable { .. } => "SURVEY_UNREADABLE",
        }
    }
}

/// No command was found that could check anything, and a run needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing was found that a gate could run: no Python, Rust, JavaScript or Go, and no test target of make or just"
)]
pub struct NothingToCheck;

impl NothingToCheck {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        "SURVEY_NOTHING_TO_CHECK"
    }
}
