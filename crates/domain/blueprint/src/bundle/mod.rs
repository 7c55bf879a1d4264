//! Policy bundles: rules as data. What interprets them is elsewhere.

mod earlier;
mod fact;
mod read;
mod refusal;
mod rule;
mod write;

use ambit_ids::vocabulary;
use serde::Serialize;

pub use earlier::as_meant;
pub(crate) use fact::read_facts;
pub use refusal::{BUILT_IN_RULES, Explanation, RuleError, check_examples, check_rules};
pub use rule::{ExpectedVerdict, RuleCondition, RuleEffect, RuleExample, RuleException, ToolRule};

use crate::envelope::{DocumentKind, Metadata, document};

/// One subject of policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyBundle {
    /// Its name and version, as references to it spell them.
    pub metadata: Metadata,
    /// Its rules.
    pub spec: PolicyRules,
}

/// The rules of a bundle, about exactly one subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PolicyRules {
    /// For the tool calls of a run.
    ToolRules(Vec<ToolRule>),
    /// For what a sandbox may reach.
    Egress(EgressPolicy),
    /// For secrets.
    Secrets(SecretPolicy),
    /// For how long evidence is kept.
    Retention(RetentionPolicy),
}

/// What a sandbox may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EgressPolicy {
    /// What holds for every destination.
    pub default: EgressDefault,
}

vocabulary!(
    /// What holds for every destination.
    EgressDefault {
        /// It cannot be reached.
        DenyAll = "deny-all",
    }
);

/// How secrets are bound to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SecretPolicy {
    /// What is bound.
    pub binding: SecretBinding,
}

vocabulary!(
    /// What is bound to a run.
    SecretBinding {
        /// No secret at all.
        None = "none",
    }
);

/// How long evidence is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetentionPolicy {
    /// Days for which evidence is kept after its run ended.
    pub keep_days: u32,
    /// How content is erased after that.
    pub erase_by: Erasure,
}

vocabulary!(
    /// How content is erased. Records never are: a log cannot forget.
    Erasure {
        /// The content is shredded, and a record says so.
        RecordedShredding = "recorded-shredding",
    }
);

document!(PolicyBundle, DocumentKind::PolicyBundle);

impl PolicyBundle {
    /// The rules for tool calls, where the bundle is about them.
    #[must_use]
    pub fn tool_rules(&self) -> Option<&[ToolRule]> {
        match &self.spec {
            PolicyRules::ToolRules(rules) => Some(rules),
            PolicyRules::Egress(_) | PolicyRules::Secrets(_) | PolicyRules::Retention(_) => None,
        }
    }
}
