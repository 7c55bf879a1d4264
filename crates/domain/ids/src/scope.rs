use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{OrganizationId, ProjectId};

/// The owner of a thing. It stands in every key and every record, so that nothing can be moved to another owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The tenant.
    pub organization: OrganizationId,
    /// The project within the tenant.
    pub project: ProjectId,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.organization, self.project)
    }
}
