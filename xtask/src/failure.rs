//! Why a task could not be carried out at all, as opposed to a rule that does not hold.

use std::error::Error;
use std::fmt;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), cause: None }
    }

    pub(crate) fn caused(what: impl Into<String>, cause: impl Error + Send + Sync + 'static) -> Self {
        Self { what: what.into(), cause: Some(Box::new(cause)) }
    }

    /// For `map_err` on what touches a file.
    pub(crate) fn at(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let what = format!("could not {verb} {}", path.display());
        move |cause| Self::caused(what, cause)
    }

    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.what.clone();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}
