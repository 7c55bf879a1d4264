//! The policy engine.

use ambit_ids::RuleId;
use ambit_policy::{Decision, Request};

/// Decides requests by one policy bundle.
///
/// - Deciding MUST be a pure function of the bundle and the request: no clock, no I/O, no memory.
/// - An engine MUST deny, with a terminating denial, whatever it cannot decide: an internal error, a request pinned to
///   another bundle, a fact that it does not know.
/// - The decision MUST name the rules that determined it.
pub trait PolicyEngine: Send + Sync {
    /// Decides.
    fn decide(&self, request: &Request) -> Decision;

    /// What a rule of the bundle says is possible instead of what it denies; `None` where it says nothing, or is none of
    /// the bundle's. It explains a decision and never changes one.
    fn instead(&self, rule: &RuleId) -> Option<String>;
}
