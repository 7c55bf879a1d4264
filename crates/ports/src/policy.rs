//! The policy engine, and where the engine of a policy set is found.

use std::sync::Arc;

use ambit_ids::{Digest, Scope};
use ambit_policy::{Decision, Request};
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
}

/// Finds the engine of a policy set.
#[async_trait]
pub trait Policies: Send + Sync {
    /// The engine that decides by exactly the tool rules of this policy set, whose bundle lies in the blobs of the
    /// project. Where there is none, every call is denied.
    async fn engine(&self, scope: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable>;
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
