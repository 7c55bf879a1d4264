//! Streams of records: their names, the places in them, and the fences of those who write to them.

use std::fmt;

use ambit_ids::{OrganizationId, ProjectId, RunId, Scope};

/// A stream of records. Its owner stands in its identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    /// What concerns an organisation as a whole.
    Organization(OrganizationId),
    /// A project: documents, approvals of documents, imports, revision requests, refusals before a run exists.
    Project(Scope),
    /// One run.
    Run(Scope, RunId),
}

impl StreamId {
    /// The organisation that owns the stream.
    #[must_use]
    pub const fn organization(&self) -> &OrganizationId {
        match self {
            Self::Organization(organization) => organization,
            Self::Project(scope) | Self::Run(scope, _) => &scope.organization,
        }
    }

    /// The project that owns the stream, where one does.
    #[must_use]
    pub const fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Organization(_) => None,
            Self::Project(scope) | Self::Run(scope, _) => Some(&scope.project),
        }
    }

    /// The run of a run's stream.
    #[must_use]
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(_, run) => Some(run),
            Self::Organization(_) | Self::Project(_) => None,
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Organization(organization) => write!(f, "{organization}"),
            Self::Project(scope) => write!(f, "{scope}"),
            Self::Run(scope, run) => write!(f, "{scope}/{run}"),
        }
    }
}

/// A run by its owner and id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRef {
    /// Who owns it.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
}

impl RunRef {
    /// The run's stream.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        StreamId::Run(self.scope.clone(), self.run.clone())
    }
}

/// A position in a stream, gapless from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub u64);

/// A number that grows with every acquisition of a lease. A commit that carries an older one is refused, so an owner
/// that was presumed dead cannot write after its successor began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub u64);
