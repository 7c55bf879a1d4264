use std::error::Error;
use std::fmt;

use ambit_bundle::BundleError;

/// Why a bundle could not be verified at all.
#[derive(Debug)]
pub struct Refusal {
    /// The stable code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub help: &'static str,
}

impl Refusal {
    pub(crate) fn of(code: &str, error: &(dyn Error + 'static), help: &'static str) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(below) = cause {
            message = format!("{message}: {below}");
            cause = below.source();
        }
        Self { code: code.to_owned(), message, help }
    }

    pub(crate) fn of_bundle(error: &BundleError) -> Self {
        let help = match error {
            BundleError::Unreachable { .. } | BundleError::NoBundle(_) => {
                "name the directory that `ambit run export --out` wrote, or the file of its `--tar`"
            }
            _ => "nothing of it was used; ask whoever handed it over for the bundle as it was exported",
        };
        Self::of(error.code(), error, help)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}\n  help: {}", self.code, self.message, self.help)
    }
}
