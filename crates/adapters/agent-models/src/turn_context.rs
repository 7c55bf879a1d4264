//! The context of a turn, as the platform writes it. Members that are not known here are left alone.

use std::collections::BTreeMap;

use ambit_ids::Digest;
use serde::Deserialize;
use serde_json::Value;

use crate::observation::Observed;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnContext {
    pub(crate) turn: u32,
    /// How many proposals were answered before.
    pub(crate) proposals: u32,
    pub(crate) goal: String,
    pub(crate) project: String,
    pub(crate) revision: String,
    pub(crate) base_revision: String,
    /// The digest of the current tree.
    pub(crate) head: Digest,
    pub(crate) acceptance_cases: Vec<AcceptanceCase>,
    pub(crate) scope: Scope,
    /// Patterns of protected paths.
    pub(crate) protected: Vec<String>,
    /// From cheap to dear.
    pub(crate) gates: Vec<Gate>,
    pub(crate) plan: Option<Vec<PlanStep>>,
    #[serde(default)]
    pub(crate) changed_files: Vec<String>,
    /// The failure that the next patch must explain.
    pub(crate) must_explain: Option<FailedGate>,
    /// Proposals that wait for somebody to ask a person.
    #[serde(default)]
    pub(crate) held: Vec<HeldProposal>,
    /// What is left of each limit, in its own unit.
    pub(crate) left: BTreeMap<String, u64>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) notes: Option<Notes>,
    /// What came of everything since the agent was last asked, oldest first.
    #[serde(default)]
    pub(crate) since: Vec<Told>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AcceptanceCase {
    pub(crate) id: String,
    pub(crate) statement: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scope {
    pub(crate) paths: Vec<String>,
    pub(crate) work: Vec<String>,
    #[serde(default)]
    pub(crate) out_of_scope: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gate {
    pub(crate) id: String,
    pub(crate) cases: Vec<String>,
    /// `not-run`, `passed`, `failed`, `flaky`, on the current tree.
    pub(crate) status: String,
    /// How often it ran in this run.
    #[serde(default)]
    pub(crate) runs: u32,
    /// The key under which its execution on the current tree is answered again.
    pub(crate) ran_as: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PlanStep {
    pub(crate) id: String,
    pub(crate) summary: String,
    pub(crate) work: String,
    pub(crate) cases: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FailedGate {
    pub(crate) gate: String,
    #[serde(default)]
    pub(crate) attempt: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldProposal {
    pub(crate) proposal_id: String,
    pub(crate) capability: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) summary: String,
    /// The JSON Schema of its input.
    pub(crate) input: Value,
}

/// What the project keeps for agents in its own source.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Notes {
    Read { path: String, text: String, truncated: bool },
    Unreadable { path: String, unreadable: String },
}

/// What came of a call, or of nothing that was called.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Told {
    /// The digest of the answer that the call stood in.
    pub(crate) answer: Option<Digest>,
    /// Its place there, counted from 0.
    #[serde(default)]
    pub(crate) index: usize,
    pub(crate) reply: Observed,
}
