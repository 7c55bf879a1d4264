use ambit_ids::vocabulary;

vocabulary!(
    /// Where a kind of authority and data belongs. A grant lies in exactly one plane and implies nothing in another.
    Plane {
        /// The provider and this control plane: runs, blueprints, approvals.
        ControlPlane = "control-plane",
        /// Where generated source is executed: sandboxes, previews.
        HostedRuntime = "hosted-runtime",
        /// The generated application's own users and data.
        GeneratedApplication = "generated-application",
        /// Connectors and the systems behind them.
        ConnectorSource = "connector-source",
    }
);

vocabulary!(
    /// The customer's way from creating an application to deleting it. One stage is actionable here.
    LifecycleStage {
        /// Describe and approve what to build.
        Create = "create",
        /// Generate and revise source.
        Generate = "generate",
        /// Preview and interact.
        Preview = "preview",
        /// Managed data.
        ManagedData = "managed-data",
        /// Enterprise connectors and private connectivity.
        Connectors = "connectors",
        /// Human identity.
        Identity = "identity",
        /// Share and revoke.
        Share = "share",
        /// Publish.
        Publish = "publish",
        /// Change, redeploy and roll back.
        Change = "change",
        /// Operate and support.
        Operate = "operate",
        /// Export, retire and delete.
        Retire = "retire",
    }
);

impl LifecycleStage {
    /// Whether a run may act in this stage. Reaching one stage never grants the next.
    #[must_use]
    pub const fn is_actionable(self) -> bool {
        matches!(self, Self::Generate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves E-N04
    // break crates/domain/policy/src/authority.rs: `matches!(self, Self::Generate)` -> `matches!(self, Self::Generate | Self::Operate)`
    #[test]
    fn exactly_one_stage_of_the_lifecycle_is_actionable() {
        let actionable: Vec<_> = LifecycleStage::ALL.iter().filter(|stage| stage.is_actionable()).collect();
        assert_eq!(actionable, [&LifecycleStage::Generate]);
        assert_eq!(LifecycleStage::ALL.len(), 11);
    }
}
