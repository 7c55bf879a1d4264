//! The bundle of tool rules that comes along, as a composition root makes engines from it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ambit_blueprint::{Document, PolicyRules, ToolRule, builtin};
use ambit_ids::{Digest, Scope};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::{Policies, PolicyEngine, PolicyUnusable};
use ambit_simulation::{Setup, World};
use async_trait::async_trait;

/// An engine for every policy set, made once.
pub(crate) struct Bundle {
    rules: Vec<ToolRule>,
    engines: Mutex<BTreeMap<Digest, Arc<RuleEngine>>>,
}

/// The rules that come along.
pub(crate) fn bundle() -> Arc<Bundle> {
    let Document::Bundle(bundle) = builtin::GENERATION_TOOLS_V2.parse().unwrap() else { panic!("no bundle") };
    let PolicyRules::ToolRules(rules) = bundle.spec else { panic!("no tool rules") };
    Arc::new(Bundle { rules, engines: Mutex::default() })
}

/// The world of a setup under the rules that come along.
pub(crate) async fn world(setup: Setup) -> World {
    World::build(setup, bundle()).await
}

#[async_trait]
impl Policies for Bundle {
    async fn engine(&self, _: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let mut engines = self.engines.lock().unwrap();
        let made = || Arc::new(RuleEngine::new(policy, &self.rules).unwrap());
        Ok(engines.entry(policy).or_insert_with(made).clone())
    }
}

/// No engine for any policy set.
pub(crate) struct NoEngine;

#[async_trait]
impl Policies for NoEngine {
    async fn engine(&self, _: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        Err(PolicyUnusable { policy, why: "there is none".to_owned() })
    }
}
