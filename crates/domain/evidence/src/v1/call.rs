use ambit_ids::{ByteCount, Digest, MicroUsd, RuleId, StepId};
use ambit_policy::{Capability, Decision, DenialKind, EngineVersion, Fact, Verdict};
use ambit_run::{Amounts, CallDecided, CallOutcome, Denial, HeldProposal, Limit, ToolCall};
use serde::{Deserialize, Serialize};

use super::observation::ObservationV1;
use super::read_error::ReadError;

/// A decided call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the one of the decided call")]
pub struct CallV1 {
    pub turn: u32,
    pub call: ToolCall,
    pub arguments: Digest,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<StepId>,
    pub facts: Vec<Fact>,
    pub facts_in_all: u32,
    pub decision: DecisionV1,
    pub outcome: OutcomeV1,
    pub reserved: AmountsV1,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_tree: Option<Digest>,
}

/// What a policy answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecisionV1 {
    /// `allow`, `needs-approval`, `deny`.
    pub effect: EffectV1,
    /// For a denial, which kind.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub denial: Option<DenialKind>,
    /// For `needs-approval`, of what.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capability: Option<Capability>,
    /// The rules that determined it.
    pub reasons: Vec<RuleId>,
    /// The engine.
    pub engine: String,
    /// The digest of the exact request, kept as a blob, so that the decision can be made again.
    pub input_digest: Digest,
}

/// The three outcomes of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words are the outcomes")]
pub enum EffectV1 {
    Allow,
    NeedsApproval,
    Deny,
}

/// What follows from a decision about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "follows", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each is the outcome of the same name")]
pub enum OutcomeV1 {
    Perform,
    Denied {
        denial: DenialV1,
    },
    Held {
        proposal: Box<HeldProposal>,
    },
    Replayed {
        observation: Box<ObservationV1>,
    },
    Ends {
        rules: Vec<RuleId>,
        #[serde(skip_serializing_if = "String::is_empty", default)]
        instead: String,
    },
    OverLimit {
        limit: String,
    },
}

/// A denial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the one of the denial")]
pub struct DenialV1 {
    pub code: String,
    pub detail: String,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rules: Vec<RuleId>,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub instead: String,
}

/// What is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the amount of the same name")]
pub struct AmountsV1 {
    pub model_steps: u32,
    pub micro_usd: MicroUsd,
    pub output_bytes: ByteCount,
    pub side_effects: u32,
    pub processes: u32,
}

impl From<&CallDecided> for CallV1 {
    fn from(decided: &CallDecided) -> Self {
        Self {
            turn: decided.turn,
            call: decided.call.clone(),
            arguments: decided.arguments,
            step: decided.step.clone(),
            facts: decided.facts.clone(),
            facts_in_all: decided.facts_in_all,
            decision: DecisionV1::from(&decided.decision),
            outcome: OutcomeV1::from(&decided.outcome),
            reserved: AmountsV1 {
                model_steps: decided.reserved.model_steps,
                micro_usd: decided.reserved.cost,
                output_bytes: decided.reserved.output,
                side_effects: decided.reserved.side_effects,
                processes: decided.reserved.processes,
            },
            expected_tree: decided.expected_tree,
        }
    }
}

impl TryFrom<CallV1> for CallDecided {
    type Error = ReadError;

    fn try_from(call: CallV1) -> Result<Self, ReadError> {
        Ok(Self {
            turn: call.turn,
            call: call.call,
            arguments: call.arguments,
            step: call.step,
            facts: call.facts,
            facts_in_all: call.facts_in_all,
            decision: call.decision.try_into()?,
            outcome: call.outcome.try_into()?,
            reserved: Amounts {
                model_steps: call.reserved.model_steps,
                cost: call.reserved.micro_usd,
                output: call.reserved.output_bytes,
                side_effects: call.reserved.side_effects,
                processes: call.reserved.processes,
            },
            expected_tree: call.expected_tree,
        })
    }
}

impl From<&Decision> for DecisionV1 {
    fn from(decision: &Decision) -> Self {
        let (effect, denial, capability) = match decision.verdict {
            Verdict::Allow => (EffectV1::Allow, None, None),
            Verdict::NeedsApproval(capability) => (EffectV1::NeedsApproval, None, Some(capability)),
            Verdict::Deny(kind) => (EffectV1::Deny, Some(kind), None),
        };
        Self {
            effect,
            denial,
            capability,
            reasons: decision.rules.clone(),
            engine: decision.engine.0.clone(),
            input_digest: decision.input,
        }
    }
}

impl TryFrom<DecisionV1> for Decision {
    type Error = ReadError;

    fn try_from(decision: DecisionV1) -> Result<Self, ReadError> {
        let verdict = match (decision.effect, decision.denial, decision.capability) {
            (EffectV1::Allow, None, None) => Verdict::Allow,
            (EffectV1::NeedsApproval, None, Some(capability)) => Verdict::NeedsApproval(capability),
            (EffectV1::Deny, Some(kind), None) => Verdict::Deny(kind),
            _ => return Err(ReadError::Inconsistent("decision")),
        };
        Ok(Self {
            verdict,
            rules: decision.reasons,
            engine: EngineVersion(decision.engine),
            input: decision.input_digest,
        })
    }
}

impl From<&CallOutcome> for OutcomeV1 {
    fn from(outcome: &CallOutcome) -> Self {
        match outcome {
            CallOutcome::Perform => Self::Perform,
            CallOutcome::Denied(denial) => Self::Denied { denial: denial.into() },
            CallOutcome::Held(held) => Self::Held { proposal: held.clone() },
            CallOutcome::Replayed(observation) => {
                Self::Replayed { observation: Box::new(observation.as_ref().into()) }
            }
            CallOutcome::Ends { rules, instead } => {
                Self::Ends { rules: rules.clone(), instead: instead.clone() }
            }
            CallOutcome::OverLimit(limit) => Self::OverLimit { limit: limit.as_str().to_owned() },
        }
    }
}

impl TryFrom<OutcomeV1> for CallOutcome {
    type Error = ReadError;

    fn try_from(outcome: OutcomeV1) -> Result<Self, ReadError> {
        Ok(match outcome {
            OutcomeV1::Perform => Self::Perform,
            OutcomeV1::Denied { denial } => Self::Denied(denial.try_into()?),
            OutcomeV1::Held { proposal } => Self::Held(proposal),
            OutcomeV1::Replayed { observation } => Self::Replayed(Box::new((*observation).into())),
            OutcomeV1::Ends { rules, instead } => Self::Ends { rules, instead },
            OutcomeV1::OverLimit { limit } => Self::OverLimit(read_limit(&limit)?),
        })
    }
}

pub(super) fn read_limit(text: &str) -> Result<Limit, ReadError> {
    text.parse().map_err(|()| ReadError::UnknownWord { what: "limit", word: text.to_owned() })
}

impl From<&Denial> for DenialV1 {
    fn from(denial: &Denial) -> Self {
        Self {
            code: denial.code.as_str().to_owned(),
            detail: denial.detail.clone(),
            rules: denial.rules.clone(),
            instead: denial.instead.clone(),
        }
    }
}

impl TryFrom<DenialV1> for Denial {
    type Error = ReadError;

    fn try_from(denial: DenialV1) -> Result<Self, ReadError> {
        let code = denial
            .code
            .parse()
            .map_err(|()| ReadError::UnknownWord { what: "denial code", word: denial.code.clone() })?;
        Ok(Self { code, detail: denial.detail, rules: denial.rules, instead: denial.instead })
    }
}
