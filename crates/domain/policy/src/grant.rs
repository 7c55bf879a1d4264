use std::fmt::Display;

use ambit_ids::vocabulary;

use crate::Plane;

vocabulary!(
    /// What a grant lets its holder do. A kind lies in exactly one plane, and none follows from another one: whoever may do
    /// one thing may do nothing else by that.
    GrantKind {
        /// Decide about blueprints and proposals of a project.
        ApproverDecide = "approver.decide",
        /// Start runs of exactly one content of a blueprint.
        BlueprintStart = "blueprint.start",
        /// Have exactly one call performed once.
        ReceiptUse = "receipt.use",
        /// Execute commands in exactly one sandbox.
        SandboxExecute = "sandbox.execute",
        /// Open a generated application. Nothing here gives it: neither a run, nor its sandbox, nor membership of a project.
        ApplicationOpen = "application.open",
        /// Reach a connector or a source system. Nothing here gives it either.
        ConnectorReach = "connector.reach",
    }
);

impl GrantKind {
    /// The plane that owns it.
    #[must_use]
    pub const fn plane(self) -> Plane {
        match self {
            Self::ApproverDecide | Self::BlueprintStart | Self::ReceiptUse => Plane::ControlPlane,
            Self::SandboxExecute => Plane::HostedRuntime,
            Self::ApplicationOpen => Plane::GeneratedApplication,
            Self::ConnectorReach => Plane::ConnectorSource,
        }
    }
}

/// Something that somebody may do, until it ends or is revoked. It is revoked by itself, and takes no other along.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    plane: Plane,
    kind: GrantKind,
    holder: String,
    object: String,
    granted_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<String>,
    revoked_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
}

impl Grant {
    /// A grant of this kind, whose plane follows from the kind alone.
    #[must_use]
    pub fn new(
        kind: GrantKind,
        holder: &dyn Display,
        object: &dyn Display,
        granted_by: &dyn Display,
    ) -> Self {
        Self {
            plane: kind.plane(),
            kind,
            holder: holder.to_string(),
            object: object.to_string(),
            granted_by: granted_by.to_string(),
            ends: None,
            revoked_by: String::new(),
            credential: None,
        }
    }

    /// Says when it ends by itself.
    #[must_use]
    pub fn until(mut self, ends: &dyn Display) -> Self {
        self.ends = Some(ends.to_string());
        self
    }

    /// Says what revokes it.
    #[must_use]
    pub fn revoked_by(mut self, command: impl Into<String>) -> Self {
        self.revoked_by = command.into();
        self
    }

    /// Says how the credential is kept that it takes to use it.
    #[must_use]
    pub fn kept(mut self, form: Option<&dyn Display>) -> Self {
        self.credential = form.map(ToString::to_string);
        self
    }

    /// How the credential is kept that it takes to use it, where there is one and it was told.
    #[must_use]
    pub fn credential(&self) -> Option<&str> {
        self.credential.as_deref()
    }

    /// The plane that owns it.
    #[must_use]
    pub const fn plane(&self) -> Plane {
        self.plane
    }

    /// What it lets its holder do.
    #[must_use]
    pub const fn kind(&self) -> GrantKind {
        self.kind
    }

    /// Who holds it.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Of what exactly.
    #[must_use]
    pub fn object(&self) -> &str {
        &self.object
    }

    /// When it ends by itself, if it does.
    #[must_use]
    pub fn ends(&self) -> Option<&str> {
        self.ends.as_deref()
    }

    /// The command that revokes it.
    #[must_use]
    pub fn revocation(&self) -> &str {
        &self.revoked_by
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves E-N01
    // break crates/domain/policy/src/grant.rs: `Self::ApplicationOpen => Plane::GeneratedApplication,` -> `Self::ApplicationOpen => Plane::HostedRuntime,`
    #[test]
    fn every_kind_of_grant_lies_in_one_plane_and_every_plane_has_one() {
        let planes: Vec<Plane> = GrantKind::ALL.iter().map(|kind| kind.plane()).collect();
        assert!(Plane::ALL.iter().all(|plane| planes.contains(plane)), "{planes:?}");
        assert_eq!(GrantKind::ApplicationOpen.plane(), Plane::GeneratedApplication);
        let grant = Grant::new(GrantKind::SandboxExecute, &"run_000001", &"inc_000001", &"orchestrator");
        assert_eq!((grant.plane(), grant.kind()), (Plane::HostedRuntime, GrantKind::SandboxExecute));
    }
}
