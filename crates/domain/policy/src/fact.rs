use std::fmt;

use ambit_ids::{GateId, ProjectId, RepoPath, vocabulary};

use crate::weakening::Weakening;

vocabulary!(
    /// The kinds of [`Fact`], as policy rules name them.
    FactKind {
        /// See [`Fact::ProtectedPathTouched`].
        ProtectedPathTouched = "protected-path-touched",
        /// See [`Fact::AssertionCountFell`].
        AssertionCountFell = "assertion-count-fell",
        /// See [`Fact::SkipMarkerAdded`].
        SkipMarkerAdded = "skip-marker-added",
        /// See [`Fact::AssertionRemoved`].
        AssertionRemoved = "assertion-removed",
        /// See [`Fact::AssertionLoosened`].
        AssertionLoosened = "assertion-loosened",
        /// See [`Fact::AssertionUnreachable`].
        AssertionUnreachable = "assertion-unreachable",
        /// See [`Fact::AssertionTautological`].
        AssertionTautological = "assertion-tautological",
        /// See [`Fact::AssertionSwallowed`].
        AssertionSwallowed = "assertion-swallowed",
        /// See [`Fact::TestRemoved`].
        TestRemoved = "test-removed",
        /// See [`Fact::TestUncollected`].
        TestUncollected = "test-uncollected",
        /// See [`Fact::TestShadowed`].
        TestShadowed = "test-shadowed",
        /// See [`Fact::ParameterDropped`].
        ParameterDropped = "parameter-dropped",
        /// See [`Fact::TestNotAwaited`].
        TestNotAwaited = "test-not-awaited",
        /// See [`Fact::ExpectationChanged`].
        ExpectationChanged = "expectation-changed",
        /// See [`Fact::SnapshotChanged`].
        SnapshotChanged = "snapshot-changed",
        /// See [`Fact::RunnerChanged`].
        RunnerChanged = "runner-changed",
        /// See [`Fact::ModuleShadowed`].
        ModuleShadowed = "module-shadowed",
        /// See [`Fact::TestDetected`].
        TestDetected = "test-detected",
        /// See [`Fact::CheckSilenced`].
        CheckSilenced = "check-silenced",
        /// See [`Fact::DirectiveAdded`].
        DirectiveAdded = "directive-added",
        /// See [`Fact::BlanketDirectiveAdded`].
        BlanketDirectiveAdded = "blanket-directive-added",
        /// See [`Fact::TenancyWidened`].
        TenancyWidened = "tenancy-widened",
        /// See [`Fact::DependencyMoved`].
        DependencyMoved = "dependency-moved",
        /// See [`Fact::DependencyUnpinned`].
        DependencyUnpinned = "dependency-unpinned",
        /// See [`Fact::MigrationDeleted`].
        MigrationDeleted = "migration-deleted",
        /// See [`Fact::AuthenticationChanged`].
        AuthenticationChanged = "authentication-changed",
        /// See [`Fact::GateJudgedByModel`].
        GateJudgedByModel = "gate-judged-by-model",
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
    /// The patch adds a marker that keeps a test from running, or silences a check where tests lie.
    SkipMarkerAdded {
        /// The file.
        path: RepoPath,
        /// The line after the patch, counted from 1.
        line: u32,
        /// The marker as it is known to the guard, such as `unittest.skip`.
        marker: String,
    },
    /// An assertion is gone, and none took its place.
    AssertionRemoved(Weakening),
    /// An assertion holds for more values than before.
    AssertionLoosened(Weakening),
    /// An assertion stands where no test reaches it.
    AssertionUnreachable(Weakening),
    /// An assertion holds whatever the code under test does.
    AssertionTautological(Weakening),
    /// The failure of an assertion is caught and lost.
    AssertionSwallowed(Weakening),
    /// A test is gone.
    TestRemoved(Weakening),
    /// A test is there, and the runner no longer finds it.
    TestUncollected(Weakening),
    /// A test is replaced by another one of the same name.
    TestShadowed(Weakening),
    /// A parametrised test runs for fewer values.
    ParameterDropped(Weakening),
    /// What a test begins is not waited for, so that its failure comes too late.
    TestNotAwaited(Weakening),
    /// A value that a test expects is another one.
    ExpectationChanged(Weakening),
    /// A kept result that tests compare with is another one.
    SnapshotChanged(Weakening),
    /// A runner, script or configuration says otherwise what is run or what counts as a failure.
    RunnerChanged(Weakening),
    /// A file is found in the place of a module of the runner, of the standard library or of a dependency.
    ModuleShadowed(Weakening),
    /// Source asks whether a test runs it.
    TestDetected(Weakening),
    /// Configuration silences a lint, type check or compiler warning.
    CheckSilenced(Weakening),
    /// A directive in source silences a check that it names, at one place.
    DirectiveAdded(Weakening),
    /// A directive in source silences checks without naming them, or for a whole file.
    BlanketDirectiveAdded(Weakening),
    /// A query or predicate no longer holds rows to one tenant.
    TenancyWidened(Weakening),
    /// A dependency comes from another source.
    DependencyMoved(Weakening),
    /// A dependency may be another version than the one that was pinned, or is no longer held to its digest.
    DependencyUnpinned(Weakening),
    /// A migration is gone or another one than was applied.
    MigrationDeleted(Weakening),
    /// Code that decides who somebody is or what they may do is another.
    AuthenticationChanged(Weakening),
    /// A check asks a model where it computed its answer before.
    GateJudgedByModel(Weakening),
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
            Self::AssertionRemoved(_) => FactKind::AssertionRemoved,
            Self::AssertionLoosened(_) => FactKind::AssertionLoosened,
            Self::AssertionUnreachable(_) => FactKind::AssertionUnreachable,
            Self::AssertionTautological(_) => FactKind::AssertionTautological,
            Self::AssertionSwallowed(_) => FactKind::AssertionSwallowed,
            Self::TestRemoved(_) => FactKind::TestRemoved,
            Self::TestUncollected(_) => FactKind::TestUncollected,
            Self::TestShadowed(_) => FactKind::TestShadowed,
            Self::ParameterDropped(_) => FactKind::ParameterDropped,
            Self::TestNotAwaited(_) => FactKind::TestNotAwaited,
            Self::ExpectationChanged(_) => FactKind::ExpectationChanged,
            Self::SnapshotChanged(_) => FactKind::SnapshotChanged,
            Self::RunnerChanged(_) => FactKind::RunnerChanged,
            Self::ModuleShadowed(_) => FactKind::ModuleShadowed,
            Self::TestDetected(_) => FactKind::TestDetected,
            Self::CheckSilenced(_) => FactKind::CheckSilenced,
            Self::DirectiveAdded(_) => FactKind::DirectiveAdded,
            Self::BlanketDirectiveAdded(_) => FactKind::BlanketDirectiveAdded,
            Self::TenancyWidened(_) => FactKind::TenancyWidened,
            Self::DependencyMoved(_) => FactKind::DependencyMoved,
            Self::DependencyUnpinned(_) => FactKind::DependencyUnpinned,
            Self::MigrationDeleted(_) => FactKind::MigrationDeleted,
            Self::AuthenticationChanged(_) => FactKind::AuthenticationChanged,
            Self::GateJudgedByModel(_) => FactKind::GateJudgedByModel,
            Self::DependencyAdded { .. } => FactKind::DependencyAdded,
            Self::ScopeLeft { .. } => FactKind::ScopeLeft,
            Self::ForeignProject { .. } => FactKind::ForeignProject,
            Self::GateNotGranted { .. } => FactKind::GateNotGranted,
            Self::Unclassified { .. } => FactKind::Unclassified,
        }
    }

    /// Where it is, for a fact that is a weakening at a place.
    #[must_use]
    pub const fn weakening(&self) -> Option<&Weakening> {
        match self {
            Self::AssertionRemoved(weakening)
            | Self::AssertionLoosened(weakening)
            | Self::AssertionUnreachable(weakening)
            | Self::AssertionTautological(weakening)
            | Self::AssertionSwallowed(weakening)
            | Self::TestRemoved(weakening)
            | Self::TestUncollected(weakening)
            | Self::TestShadowed(weakening)
            | Self::ParameterDropped(weakening)
            | Self::TestNotAwaited(weakening)
            | Self::ExpectationChanged(weakening)
            | Self::SnapshotChanged(weakening)
            | Self::RunnerChanged(weakening)
            | Self::ModuleShadowed(weakening)
            | Self::TestDetected(weakening)
            | Self::CheckSilenced(weakening)
            | Self::DirectiveAdded(weakening)
            | Self::BlanketDirectiveAdded(weakening)
            | Self::TenancyWidened(weakening)
            | Self::DependencyMoved(weakening)
            | Self::DependencyUnpinned(weakening)
            | Self::MigrationDeleted(weakening)
            | Self::AuthenticationChanged(weakening)
            | Self::GateJudgedByModel(weakening) => Some(weakening),
            Self::ProtectedPathTouched { .. }
            | Self::AssertionCountFell { .. }
            | Self::SkipMarkerAdded { .. }
            | Self::DependencyAdded { .. }
            | Self::ScopeLeft { .. }
            | Self::ForeignProject { .. }
            | Self::GateNotGranted { .. }
            | Self::Unclassified { .. } => None,
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
            placed => placed.weakening().map_or(Ok(()), |weakening| weakening.write(placed.kind(), f)),
        }
    }
}
