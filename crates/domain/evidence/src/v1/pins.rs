use std::collections::BTreeSet;

use ambit_ids::{
    AgentId, BackendId, BlueprintId, ByteCount, CaseId, Digest, DocumentName, DurationMs, GateId, MicroUsd,
    PathSet, RevisionId, RunId, RunName, Scope, VolumeMount,
};
use ambit_policy::LifecycleStage;
use ambit_run::{
    Accountability, AgentPin, BlueprintPin, GatePin, Limits, Pins, ProfilePin, RequestPin, RevisionPin, Rules,
};
use serde::{Deserialize, Serialize};

/// The pins of a run. Its owner and its id stand in the record itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the pin of the same name")]
pub struct PinsV1 {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<RunName>,
    pub goal: String,
    pub blueprint: BlueprintId,
    pub blueprint_digest: Digest,
    pub stage: LifecycleStage,
    pub owner: String,
    pub later_owner: String,
    pub cleanup: String,
    pub base: RevisionId,
    pub base_tree: Digest,
    pub revision: RevisionId,
    pub policy: Digest,
    pub profile: DocumentName,
    pub profile_digest: Digest,
    pub catalog: Digest,
    pub image: Digest,
    #[serde(skip_serializing_if = "is_embedded", default = "BackendId::embedded")]
    pub backend: BackendId,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeMount>,
    pub paths: PathSet,
    pub work: BTreeSet<String>,
    pub cases: BTreeSet<CaseId>,
    pub gates: Vec<GatePinV1>,
    pub limits: LimitsV1,
    pub agent: AgentId,
    pub agent_definition: Digest,
    pub turn_quote_micro_usd: MicroUsd,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request: Option<RequestV1>,
    #[serde(skip_serializing_if = "RulesV1::is_first", default)]
    pub rules: RulesV1,
}

/// Records named no backend while there was one only.
fn is_embedded(backend: &BackendId) -> bool {
    *backend == BackendId::embedded()
}

/// The rules by which a run judges proposals; left out where they are the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each word is the rules of the same name")]
pub enum RulesV1 {
    #[default]
    First,
    Repeats,
    Consent,
    Guarded,
    Watched,
    Affordable,
}

impl RulesV1 {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_first(&self) -> bool {
        *self == Self::First
    }
}

/// A pinned gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the pin of the same name")]
pub struct GatePinV1 {
    pub id: GateId,
    pub cases: BTreeSet<CaseId>,
    pub command: Digest,
    pub cost_micro_usd: MicroUsd,
    pub output_bytes: ByteCount,
    pub processes: u32,
    #[serde(skip_serializing_if = "is_not", default)]
    pub reports: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hidden_check: Option<GateId>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_not(said: &bool) -> bool {
    !said
}

/// The effective limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the limit of the same name")]
pub struct LimitsV1 {
    pub max_model_steps: u32,
    pub max_patch_attempts_per_gate: u32,
    pub max_elapsed_ms: DurationMs,
    pub max_changed_files: u32,
    pub max_added_dependencies: u32,
    pub max_parallel_processes: u32,
    pub max_tool_cost_micro_usd: MicroUsd,
    pub stop_on_repeated_failure_fingerprint: u32,
    pub max_output_bytes: ByteCount,
    pub max_side_effects: u32,
}

/// The revision request that a run answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the pin of the same name")]
pub struct RequestV1 {
    pub digest: Digest,
    pub case: CaseId,
}

impl From<&Pins> for PinsV1 {
    fn from(pins: &Pins) -> Self {
        Self {
            name: pins.name.clone(),
            goal: pins.goal.clone(),
            blueprint: pins.blueprint.id.clone(),
            blueprint_digest: pins.blueprint.digest,
            stage: pins.stage,
            owner: pins.accountability.owner.clone(),
            later_owner: pins.accountability.later_owner.clone(),
            cleanup: pins.accountability.cleanup.clone(),
            base: pins.base.id,
            base_tree: pins.base.tree,
            revision: pins.revision,
            policy: pins.policy,
            profile: pins.profile.name.clone(),
            profile_digest: pins.profile.digest,
            catalog: pins.catalog,
            image: pins.image,
            backend: pins.backend.clone(),
            volumes: pins.volumes.clone(),
            paths: pins.paths.clone(),
            work: pins.work.clone(),
            cases: pins.cases.clone(),
            gates: pins.gates.iter().map(GatePinV1::from).collect(),
            limits: LimitsV1::from(&pins.limits),
            agent: pins.agent.id.clone(),
            agent_definition: pins.agent.definition,
            turn_quote_micro_usd: pins.agent.turn_quote,
            request: pins
                .request
                .as_ref()
                .map(|request| RequestV1 { digest: request.digest, case: request.case.clone() }),
            rules: match pins.rules {
                Rules::First => RulesV1::First,
                Rules::Repeats => RulesV1::Repeats,
                Rules::Consent => RulesV1::Consent,
                Rules::Guarded => RulesV1::Guarded,
                Rules::Watched => RulesV1::Watched,
                Rules::Affordable => RulesV1::Affordable,
            },
        }
    }
}

impl PinsV1 {
    /// The pins of this run of this owner.
    pub(super) fn read(self, scope: Scope, run: RunId) -> Pins {
        Pins {
            scope,
            run,
            name: self.name,
            goal: self.goal,
            blueprint: BlueprintPin { id: self.blueprint, digest: self.blueprint_digest },
            stage: self.stage,
            accountability: Accountability {
                owner: self.owner,
                later_owner: self.later_owner,
                cleanup: self.cleanup,
            },
            base: RevisionPin { id: self.base, tree: self.base_tree },
            revision: self.revision,
            policy: self.policy,
            profile: ProfilePin { name: self.profile, digest: self.profile_digest },
            catalog: self.catalog,
            image: self.image,
            backend: self.backend,
            volumes: self.volumes,
            paths: self.paths,
            work: self.work,
            cases: self.cases,
            gates: self.gates.into_iter().map(GatePin::from).collect(),
            limits: self.limits.into(),
            agent: AgentPin {
                id: self.agent,
                definition: self.agent_definition,
                turn_quote: self.turn_quote_micro_usd,
            },
            request: self.request.map(|request| RequestPin { digest: request.digest, case: request.case }),
            rules: match self.rules {
                RulesV1::First => Rules::First,
                RulesV1::Repeats => Rules::Repeats,
                RulesV1::Consent => Rules::Consent,
                RulesV1::Guarded => Rules::Guarded,
                RulesV1::Watched => Rules::Watched,
                RulesV1::Affordable => Rules::Affordable,
            },
        }
    }
}

impl From<&GatePin> for GatePinV1 {
    fn from(gate: &GatePin) -> Self {
        Self {
            id: gate.id.clone(),
            cases: gate.cases.clone(),
            command: gate.command,
            cost_micro_usd: gate.cost,
            output_bytes: gate.output,
            processes: gate.processes,
            reports: gate.reports,
            hidden_check: gate.hidden_check.clone(),
        }
    }
}

impl From<GatePinV1> for GatePin {
    fn from(gate: GatePinV1) -> Self {
        Self {
            id: gate.id,
            cases: gate.cases,
            command: gate.command,
            cost: gate.cost_micro_usd,
            output: gate.output_bytes,
            processes: gate.processes,
            reports: gate.reports,
            hidden_check: gate.hidden_check,
        }
    }
}

impl From<&Limits> for LimitsV1 {
    fn from(limits: &Limits) -> Self {
        Self {
            max_model_steps: limits.model_steps,
            max_patch_attempts_per_gate: limits.patch_attempts_per_gate,
            max_elapsed_ms: limits.elapsed,
            max_changed_files: limits.changed_files,
            max_added_dependencies: limits.added_dependencies,
            max_parallel_processes: limits.parallel_processes,
            max_tool_cost_micro_usd: limits.tool_cost,
            stop_on_repeated_failure_fingerprint: limits.repeated_failure,
            max_output_bytes: limits.output,
            max_side_effects: limits.side_effects,
        }
    }
}

impl From<LimitsV1> for Limits {
    fn from(limits: LimitsV1) -> Self {
        Self {
            model_steps: limits.max_model_steps,
            patch_attempts_per_gate: limits.max_patch_attempts_per_gate,
            elapsed: limits.max_elapsed_ms,
            changed_files: limits.max_changed_files,
            added_dependencies: limits.max_added_dependencies,
            parallel_processes: limits.max_parallel_processes,
            tool_cost: limits.max_tool_cost_micro_usd,
            repeated_failure: limits.stop_on_repeated_failure_fingerprint,
            output: limits.max_output_bytes,
            side_effects: limits.max_side_effects,
        }
    }
}
