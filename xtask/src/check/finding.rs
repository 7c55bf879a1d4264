use std::fmt;

/// A place where a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The file, with its line where there is one.
    pub(super) place: String,
    /// What is there, and what to do.
    pub(super) says: String,
}

impl Finding {
    pub(super) fn new(place: impl Into<String>, says: impl Into<String>) -> Self {
        Self { place: place.into(), says: says.into() }
    }

    pub(super) fn at_line(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self::new(format!("{path}:{line}"), says)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.says)
    }
}

/// What a rule answered.
pub(super) enum Answer {
    Found(Vec<Finding>),
    /// It could not be asked here, and why.
    Skipped(String),
}
