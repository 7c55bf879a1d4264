use ambit_ids::{PathPattern, PathSet};
use serde::Serialize;

use crate::one_word_name::WorkArea;

/// What belongs to the work. What is not named does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlueprintScope {
    /// The paths that a patch may touch; never empty.
    pub paths: PathSet,
    /// The kinds of work that a plan step may declare; never empty.
    pub work: Vec<WorkArea>,
    /// Kinds of work that are named to be refused. Every kind that is not in `work` is refused too; these are the ones
    /// that somebody might expect.
    pub out_of_scope: Vec<WorkArea>,
}

impl BlueprintScope {
    /// Whether a plan step may declare this kind of work.
    #[must_use]
    pub fn admits(&self, work: &WorkArea) -> bool {
        self.work.contains(work)
    }
}

/// What decides whether the work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtectedOracles {
    /// The paths that no patch may touch.
    pub paths: PathSet,
    /// The paths that are tests: assertions are counted and skips are looked for in them.
    pub test_paths: PathSet,
}

/// What may be depended on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DependencyScope {
    /// The files in which dependencies are declared.
    pub manifests: PathSet,
    /// The dependencies that may be added without an approval of their own, as a manifest names them.
    pub approved: Vec<String>,
}

/// A protected path that a version of a blueprint opens, with the reason that was approved with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Authorization {
    /// The paths.
    pub path: PathPattern,
    /// Why they are open.
    pub why: String,
}
