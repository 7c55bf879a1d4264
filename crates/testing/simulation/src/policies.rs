use std::sync::Arc;

use ambit_ids::{Digest, RuleId, Scope};
use ambit_orchestrator::{Policies, PolicyUnusable};
use ambit_policy::{Decision, EngineVersion, Request, Verdict};
use ambit_ports::policy::PolicyEngine;
use async_trait::async_trait;

/// One engine for every policy set.
pub struct OneEngine<E>(pub Arc<E>);

#[async_trait]
impl<E: PolicyEngine + 'static> Policies for OneEngine<E> {
    async fn engine(&self, _: &Scope, _: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        Ok(self.0.clone())
    }

    async fn engine_named(
        &self,
        scope: &Scope,
        policy: Digest,
        _: &EngineVersion,
    ) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        self.engine(scope, policy).await
    }
}

/// Allows everything: for tests of what comes after a decision.
pub struct Permissive;

impl PolicyEngine for Permissive {
    fn decide(&self, request: &Request) -> Decision {
        Decision {
            verdict: Verdict::Allow,
            rules: Vec::new(),
            engine: EngineVersion("permissive".to_owned()),
            input: request.to_canonical().unwrap().digest(),
        }
    }

    fn instead(&self, _: &RuleId) -> Option<String> {
        None
    }
}
