use std::fmt;

use ambit_ids::RuleId;

use crate::{Limit, Phase};

/// Why a run ended. A run has exactly one stop reason, and it decides the final phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Every required gate passes on the current digest.
    GatesPassed,
    /// A limit of the budget was reached.
    BudgetExhausted(Limit),
    /// The policy denied an action in the way that ends a run.
    PolicyDenied(Vec<RuleId>),
    /// The customer cancelled.
    CustomerCancelled,
    /// Nobody decided an approval in time.
    ApprovalExpired,
    /// The agent has nothing more to propose, and the gates do not pass.
    AgentStopped,
    /// A check that the agent does not know of failed on the revision that its gates accept.
    HiddenCheckFailed,
    /// A part of the platform failed, by its stable code.
    InfrastructureFailure(String),
}

impl StopReason {
    /// The final phase that the reason leads to.
    #[must_use]
    pub const fn final_phase(&self) -> Phase {
        match self {
            Self::GatesPassed => Phase::Completed,
            Self::CustomerCancelled => Phase::Cancelled,
            Self::BudgetExhausted(_)
            | Self::PolicyDenied(_)
            | Self::ApprovalExpired
            | Self::AgentStopped
            | Self::HiddenCheckFailed
            | Self::InfrastructureFailure(_) => Phase::Failed,
        }
    }

    /// The stable code of the reason, without its detail.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::GatesPassed => "gates-passed",
            Self::BudgetExhausted(Limit::RepeatedFailure) => "repeated-fingerprint",
            Self::BudgetExhausted(_) => "budget",
            Self::PolicyDenied(_) => "policy-denied",
            Self::CustomerCancelled => "customer-cancelled",
            Self::ApprovalExpired => "approval-expired",
            Self::AgentStopped => "agent-stopped",
            Self::HiddenCheckFailed => "hidden-check-failed",
            Self::InfrastructureFailure(_) => "infrastructure-failure",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())?;
        match self {
            Self::BudgetExhausted(limit) => write!(f, " ({limit})"),
            Self::InfrastructureFailure(code) => write!(f, " ({code})"),
            Self::PolicyDenied(rules) if !rules.is_empty() => {
                let names: Vec<&str> = rules.iter().map(RuleId::as_str).collect();
                write!(f, " ({})", names.join(", "))
            }
            _ => Ok(()),
        }
    }
}
