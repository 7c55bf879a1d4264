use std::collections::BTreeSet;

use ambit_ids::{
    AgentId, BackendId, BlueprintId, ByteCount, CaseId, Digest, DocumentName, GateId, MicroUsd, PathSet,
    RevisionId, RunId, RunName, Scope, VolumeMount,
};
use ambit_policy::LifecycleStage;

use crate::ledger::Limits;

/// The rules by which a run judges proposals. A run keeps those under which it was admitted, whichever version goes on with
/// it, and is verified by them: what they answered is on record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rules {
    /// Every proposal is judged by itself. Runs from before there were others say nothing of their rules.
    #[default]
    First,
    /// What was answered before is told so: a call that was denied, and a patch that led to a failure.
    Repeats,
    /// What a person approves is what the person was shown whole, and a receipt ends with whatever it was given for.
    Consent,
    /// What a gate's own copy and its report show can take a green away, what was flaky on a digest is not asked again on it,
    /// and hidden checks run in a life of the sandbox of their own.
    Guarded,
    /// What a gate writes at a protected path takes its green away also where it is new or put back, the execution on the base
    /// that a report is held against is charged, and a hidden check can bring files of its own.
    Watched,
    /// Nobody is asked for what no budget of the run permits, nor for a second approval of one call.
    Affordable,
}

impl Rules {
    /// The rules of a run that is admitted now.
    pub const NEWEST: Self = Self::Affordable;
}

/// Everything that a run is pinned to at its admission. None of it changes for the life of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Who owns the run.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The name that a person gave it.
    pub name: Option<RunName>,
    /// What the agent is asked for, in the words of the blueprint or of the revision request.
    pub goal: String,
    /// The blueprint and the digest that was approved.
    pub blueprint: BlueprintPin,
    /// Where the blueprint stands in the customer's lifecycle. Only one stage can be admitted.
    pub stage: LifecycleStage,
    /// Who owns the result now and later, and what must eventually be cleaned up.
    pub accountability: Accountability,
    /// The revision that the run starts from.
    pub base: RevisionPin,
    /// The fresh revision that the run opens.
    pub revision: RevisionId,
    /// The digest of the policy set: tool rules, commands, egress, secrets, retention.
    pub policy: Digest,
    /// The execution profile.
    pub profile: ProfilePin,
    /// The digest of the catalog that gate commands come from.
    pub catalog: Digest,
    /// The image that the sandbox is made from.
    pub image: Digest,
    /// The backend that makes the sandbox, in every process that drives the run.
    pub backend: BackendId,
    /// The volumes that its commands name, each mount once, sorted.
    pub volumes: Vec<VolumeMount>,
    /// The paths that the run may change.
    pub paths: PathSet,
    /// The kinds of work that a plan may hold.
    pub work: BTreeSet<String>,
    /// The acceptance cases that a plan may cite.
    pub cases: BTreeSet<CaseId>,
    /// The gates that must pass, from cheap to dear.
    pub gates: Vec<GatePin>,
    /// The effective limits: the least of command, blueprint and profile.
    pub limits: Limits,
    /// Who answers the turns.
    pub agent: AgentPin,
    /// The revision request that the run answers, if it answers one.
    pub request: Option<RequestPin>,
    /// The rules by which proposals are judged.
    pub rules: Rules,
}

impl Pins {
    /// The pinned gate of this id.
    #[must_use]
    pub fn gate(&self, id: &GateId) -> Option<&GatePin> {
        self.gates.iter().find(|gate| gate.id == *id)
    }

    /// The hidden checks of the gates, from cheap to dear.
    #[must_use]
    pub fn hidden_checks(&self) -> Vec<HiddenCheck> {
        self.gates
            .iter()
            .filter_map(|gate| {
                let command = gate.hidden_check.clone()?;
                Some(HiddenCheck { gate: gate.id.clone(), command })
            })
            .collect()
    }
}

/// A blueprint by name and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlueprintPin {
    /// Its name in the project.
    pub id: BlueprintId,
    /// The digest that was approved.
    pub digest: Digest,
}

/// A revision by place and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionPin {
    /// Its place in the lineage.
    pub id: RevisionId,
    /// The digest of its tree.
    pub tree: Digest,
}

/// An execution profile by name and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfilePin {
    /// Its name.
    pub name: DocumentName,
    /// Its digest.
    pub digest: Digest,
}

/// The agent that answers the turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPin {
    /// Who it is.
    pub id: AgentId,
    /// The digest of what it is made from: a transcript, or prompts and model settings.
    pub definition: Digest,
    /// The most that one of its turns can cost, reserved before each.
    pub turn_quote: MicroUsd,
}

/// Who answers for the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accountability {
    /// Who owns the work now.
    pub owner: String,
    /// Who owns the result in the next stage.
    pub later_owner: String,
    /// What must be cleaned up in the end.
    pub cleanup: String,
}

/// A gate, with everything about it that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatePin {
    /// Its id.
    pub id: GateId,
    /// The acceptance cases that it checks.
    pub cases: BTreeSet<CaseId>,
    /// The digest of the command that its id resolves to.
    pub command: Digest,
    /// What one execution costs.
    pub cost: MicroUsd,
    /// The most output that one execution can make.
    pub output: ByteCount,
    /// The processes that one execution runs side by side, as the catalog declares.
    pub processes: u32,
    /// Whether its command names a report, which is held against that of the base revision. Pinned since what that costs is
    /// charged; `false` before.
    pub reports: bool,
    /// A further command that must pass before acceptance, of which the agent never learns.
    pub hidden_check: Option<GateId>,
}

/// A hidden check that is still to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenCheck {
    /// The gate that it belongs to.
    pub gate: GateId,
    /// The command.
    pub command: GateId,
}

/// A customer's wish for a change, bound to an acceptance case of the same blueprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPin {
    /// The digest of the request as it was recorded.
    pub digest: Digest,
    /// The case that it belongs to.
    pub case: CaseId,
}
