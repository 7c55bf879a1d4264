use ambit_ids::vocabulary;

vocabulary!(
    /// Where a run stands, as its customer sees it. Exactly these eight; the last three are final.
    Phase {
        /// Admitted, and waiting for its sandbox.
        Queued = "queued",
        /// The agent is asked for a plan.
        Planning = "planning",
        /// The agent works on the revision.
        Editing = "editing",
        /// A gate runs, or acceptance is derived.
        Checking = "checking",
        /// A person must decide.
        NeedsApproval = "needs-approval",
        /// A preview-ready source revision was produced. It is not thereby validated, deployed or safe for live users.
        Completed = "completed",
        /// It ended without one.
        Failed = "failed",
        /// The customer ended it.
        Cancelled = "cancelled",
    }
);

impl Phase {
    /// Whether a run in this phase never changes again.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
