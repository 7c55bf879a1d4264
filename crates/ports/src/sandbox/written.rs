use ambit_ids::RepoPath;
use serde::{Deserialize, Serialize};

/// What was written in a workspace, as far as its paths are watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Written {
    /// How far it can be told.
    pub watch: Watch,
    /// Every watched path at which something was written that is no directory, or removed, sorted.
    pub files: Vec<RepoPath>,
    /// Every directory, watched or not, in which something was written that has no name: nothing of it is left, no path can
    /// spell it, or nobody may look. Sorted.
    pub emptied: Vec<RepoPath>,
}

/// How far a backend can tell what a command wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// Everything that it wrote at any moment, also where the bytes are the old ones again.
    Course,
    /// What is there at the end, whether it was written or brought; what was put back is not told from what was never
    /// touched.
    End,
}
