use std::fmt;

use ambit_ids::{Digest, OrganizationId, ProjectId, RunId};

/// The name of a stream, as it stands in every record of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamName {
    /// The organisation.
    pub organization: OrganizationId,
    /// The project; `None` for the organisation's own stream.
    pub project: Option<ProjectId>,
    /// The run; `None` for the project's own stream.
    pub run: Option<RunId>,
}

impl StreamName {
    /// What the first record of the stream carries as its predecessor, where no other stream is its origin.
    #[must_use]
    pub fn genesis(&self) -> Digest {
        Digest::of(format!("ambit.stream/v1\n{self}\n").as_bytes())
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.organization)?;
        if let Some(project) = &self.project {
            write!(f, "/{project}")?;
        }
        if let Some(run) = &self.run {
            write!(f, "/{run}")?;
        }
        Ok(())
    }
}
