use ambit_ids::RuleId;
use ambit_policy::{Answer, Capability, DenialKind, ToolName};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{RuleCondition, RuleEffect, RuleExample, RuleException, ToolRule};

impl Serialize for ToolRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            id: &'a RuleId,
            effect: RuleEffect,
            #[serde(skip_serializing_if = "Option::is_none")]
            denial: Option<DenialKind>,
            #[serde(skip_serializing_if = "Option::is_none")]
            capability: Option<Capability>,
            tools: &'a [ToolName],
            when: &'a RuleCondition,
            #[serde(skip_serializing_if = "Option::is_none")]
            unless: Option<RuleException>,
            why: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            instead: Option<&'a str>,
            examples: &'a [RuleExample],
        }
        let (denial, capability) = match self.answer {
            Answer::Permit => (None, None),
            Answer::Forbid(denial) => (Some(denial), None),
            Answer::RequireApproval(capability) => (None, Some(capability)),
        };
        Shape {
            id: &self.id,
            effect: self.effect(),
            denial,
            capability,
            tools: &self.tools,
            when: &self.when,
            unless: self.unless,
            why: &self.why,
            instead: self.instead.as_deref(),
            examples: &self.examples,
        }
        .serialize(serializer)
    }
}

impl Serialize for RuleCondition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::AnyFact(kinds) => map.serialize_entry("anyFact", kinds)?,
            Self::Asked(capabilities) => map.serialize_entry("asked", capabilities)?,
            Self::Always => map.serialize_entry("always", &true)?,
        }
        map.end()
    }
}
