use std::fmt;
use std::str::FromStr;

/// Where a run stands, as its customer sees it. Exactly these eight; the last three are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Admitted, and waiting for its sandbox.
    Queued,
    /// The agent is asked for a plan.
    Planning,
    /// The agent works on the revision.
    Editing,
    /// A gate runs, or acceptance is derived.
    Checking,
    /// A person must decide.
    NeedsApproval,
    /// A preview-ready source revision was produced. It is not thereby validated, deployed or safe for live users.
    Completed,
    /// It ended without one.
    Failed,
    /// The customer ended it.
    Cancelled,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Planning,
        Self::Editing,
        Self::Checking,
        Self::NeedsApproval,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Whether a run in this phase never changes again.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The phase as views spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Planning => "planning",
            Self::Editing => "editing",
            Self::Checking => "checking",
            Self::NeedsApproval => "needs-approval",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Phase {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text).ok_or(())
    }
}
