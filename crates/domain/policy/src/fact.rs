use std::fmt;

use ambit_ids::{GateId, ProjectId, RepoPath, vocabulary};

vocabulary!(
    /// The kinds of [`Fact`], as policy rules name them.
    FactKind {
        /// See [`Fact::ProtectedPathTouched`].
        ProtectedPathTouched = "protected-path-touched",
        /// See [`Fact::AssertionCountFell`].
        AssertionCountFell = "assertion-count-fell",
        /// See [`Fact::SkipMarkerAdded`].
        SkipMarkerAdded = "skip-marker-added",
        /// See [`Fact::DependencyAdded`].
        DependencyAdded = "dependency-added",
        /// See [`Fact::ScopeLeft`].
        ScopeLeft = "scope-left",
        /// See [`Fact::ForeignProject`].
        ForeignProject = "foreign-project",
        /// See [`Fact::GateNotGranted`].
        GateNotGranted = "gate-not-granted",
        /// See [`Fact::Unclassified`].
        Unclassified = "unclassified",
    }
);

/// Something true about a proposed call, computed from both sides of it by trusted code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Fact {
    /// The patch creates, changes, renames or deletes a path that the blueprint protects.
    ProtectedPathTouched {
        /// The path, before or after the patch.
        path: RepoPath,
    },
    /// A test file has fewer assertions after the patch than before.
    AssertionCountFell {
        /// The file.
        path: RepoPath,
        /// Assertions before.
        before: u32,
        /// Assertions after.
        after: u32,
    },
    /// The patch adds a marker that keeps a test from running or silences a check.
    SkipMarkerAdded {
        /// The file.
        path: RepoPath,
        /// The line after the patch, counted from 1.
        line: u32,
        /// The marker as it is known to the guard, such as `unittest.skip`.
        marker: String,
    },
    /// A manifest names a dependency after the patch that it did not name before.
    DependencyAdded {
        /// The manifest.
        manifest: RepoPath,
        /// The dependency as the manifest names it.
        name: String,
    },
    /// The patch touches a path outside of the blueprint's scope.
    ScopeLeft {
        /// The path.
        path: RepoPath,
    },
    /// The call names another project than the run's.
    ForeignProject {
        /// The project that the call names.
        project: ProjectId,
    },
    /// The call names a gate that the blueprint does not hold.
    GateNotGranted {
        /// The gate that the call names.
        gate: GateId,
    },
    /// Trusted code could not tell what the call would do.
    Unclassified {
        /// What could not be told.
        why: String,
    },
}

impl Fact {
    /// The kind, as rules name it.
    #[must_use]
    pub const fn kind(&self) -> FactKind {
        match self {
            Self::ProtectedPathTouched { .. } => FactKind::ProtectedPathTouched,
            Self::AssertionCountFell { .. } => FactKind::AssertionCountFell,
            Self::SkipMarkerAdded { .. } => FactKind::SkipMarkerAdded,
            Self::DependencyAdded { .. } => FactKind::DependencyAdded,
            Self::ScopeLeft { .. } => FactKind::ScopeLeft,
            Self::ForeignProject { .. } => FactKind::ForeignProject,
            Self::GateNotGranted { .. } => FactKind::GateNotGranted,
            Self::Unclassified { .. } => FactKind::Unclassified,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProtectedPathTouched { path } => write!(f, "touches the protected path {path}"),
            Self::AssertionCountFell { path, before, after } => {
                write!(f, "{path} has {after} assertions where it had {before}")
            }
            Self::SkipMarkerAdded { path, line, marker } => write!(f, "{path}:{line} adds {marker}"),
            Self::DependencyAdded { manifest, name } => write!(f, "{manifest} adds the dependency {name}"),
            Self::ScopeLeft { path } => write!(f, "{path} lies outside of the blueprint's scope"),
            Self::ForeignProject { project } => write!(f, "names another project, {project}"),
            Self::GateNotGranted { gate } => {
                write!(f, "names the gate {gate}, which the blueprint does not hold")
            }
            Self::Unclassified { why } => write!(f, "cannot be classified: {why}"),
        }
    }
}
