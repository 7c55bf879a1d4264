//! The bundle of tool rules that comes along, as a composition root makes engines from it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ambit_blueprint::{
    Document, ExpectedVerdict, PolicyRules, RuleCondition, RuleExample, ToolRule, builtin,
};
use ambit_ids::{Digest, Scope};
use ambit_orchestrator::{Policies, PolicyUnusable};
use ambit_policy_rules::{Condition, Example, Expected, Rule, RuleEngine};
use ambit_ports::policy::PolicyEngine;
use ambit_simulation::{Setup, World};
use async_trait::async_trait;

/// An engine for every policy set, made once.
pub(crate) struct Bundle {
    rules: Vec<Rule>,
    engines: Mutex<BTreeMap<Digest, Arc<RuleEngine>>>,
}

/// The rules that come along.
pub(crate) fn bundle() -> Arc<Bundle> {
    let Document::Bundle(bundle) = builtin::GENERATION_TOOLS_V1.parse().unwrap() else { panic!("no bundle") };
    let PolicyRules::ToolRules(rules) = bundle.spec else { panic!("no tool rules") };
    Arc::new(Bundle { rules: rules.into_iter().map(rule).collect(), engines: Mutex::default() })
}

/// The world of a setup under the rules that come along.
pub(crate) async fn world(setup: Setup) -> World {
    World::build(setup, bundle()).await
}

#[async_trait]
impl Policies for Bundle {
    async fn engine(&self, _: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let mut engines = self.engines.lock().unwrap();
        let made = || Arc::new(RuleEngine::new(policy, self.rules.clone()).unwrap());
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

fn rule(rule: ToolRule) -> Rule {
    Rule {
        id: rule.id,
        answer: rule.answer,
        tools: rule.tools.into_iter().collect(),
        when: match rule.when {
            RuleCondition::AnyFact(kinds) => Condition::AnyFact(kinds.into_iter().collect()),
            RuleCondition::Asked(capabilities) => Condition::Asked(capabilities.into_iter().collect()),
            RuleCondition::Always => Condition::Always,
        },
        unless_approved: rule.unless.map(|exception| exception.approved),
        why: rule.why,
        instead: rule.instead,
        examples: rule.examples.into_iter().map(example).collect(),
    }
}

fn example(example: RuleExample) -> Example {
    Example {
        tool: example.tool,
        facts: example.facts,
        asked: example.asked,
        approved: example.approved,
        expect: match example.expect {
            ExpectedVerdict::Allow => Expected::Allow,
            ExpectedVerdict::NeedsApproval => Expected::NeedsApproval,
            ExpectedVerdict::DenyCall => Expected::DenyCall,
            ExpectedVerdict::DenyTerminating => Expected::DenyTerminating,
        },
    }
}
