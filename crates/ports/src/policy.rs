//! The policy engine, and where the engine of a policy set is found.

use std::sync::Arc;

use ambit_ids::{Digest, RuleId, Scope};
use ambit_policy::{Decision, EngineVersion, Request};
use async_trait::async_trait;

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

impl dyn PolicyEngine + '_ {
    /// What all the rules of a decision say is possible instead; empty where they say nothing.
    #[must_use]
    pub fn alternatives(&self, decision: &Decision) -> String {
        let told: Vec<String> = decision.rules.iter().filter_map(|rule| self.instead(rule)).collect();
        told.join(" ")
    }
}

/// Finds the engine of a policy set.
#[async_trait]
pub trait Policies: Send + Sync {
    /// The engine that decides by exactly the tool rules of this policy set, whose bundle lies in the blobs of the
    /// project. Where there is none, every call is denied.
    async fn engine(&self, scope: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable>;

    /// The engine of that name and version for this policy set, by which a decision that names it is made again. An engine
    /// of another name never stands in for it.
    async fn engine_named(
        &self,
        scope: &Scope,
        policy: Digest,
        name: &EngineVersion,
    ) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable>;
}

/// Why a policy set has no engine.
#[derive(Debug, thiserror::Error)]
#[error("the rules of the policy set {policy} cannot be used: {why}")]
pub struct PolicyUnusable {
    /// The policy set.
    pub policy: Digest,
    /// What is wrong with it.
    pub why: String,
}
