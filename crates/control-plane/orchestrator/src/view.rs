//! What a customer sees of a run, while it goes on and after.

mod approvals;
mod gates;
mod grants;
mod limits;

use ambit_ids::{Digest, RepoPath, RunId, UnixMs};
use ambit_run::{Cleanup, Closing, Dossier, Observation, Stage, State, ToolCall};
use serde::Serialize;

pub use approvals::ApprovalView;
use approvals::approval_views;
use gates::gate_views;
pub use gates::{AttemptView, GateView, ended};
pub use grants::grants;
pub(crate) use limits::limit_views;
pub use limits::{GateLimitView, LimitView};

/// A run as its customer sees it. Holds no secret, no content of a file and no words of an agent beyond its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// The run.
    pub run: RunId,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The owner.
    pub organization: String,
    /// The project.
    pub project: String,
    /// The customer's phase.
    pub phase: String,
    /// Whether the run has begun to end, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What is wanted.
    pub goal: String,
    /// Who must act next: `agent`, `policy`, `sandbox`, `person`, `nobody`; `driver` where whoever looks knows of a
    /// decision that the run has not taken yet.
    pub awaiting: String,
    /// What that one must do.
    pub awaiting_what: String,
    /// The pins, by digest.
    pub pins: PinsView,
    /// The revision that the run opened.
    pub revision: String,
    /// The digest of its tree.
    pub head: Digest,
    /// Whether the revision is preview-ready.
    pub preview_ready: bool,
    /// The plan.
    pub plan: Vec<PlanStepView>,
    /// The files that the run's patches changed.
    pub changed_files: Vec<RepoPath>,
    /// The gates, from cheap to dear, on the current tree.
    pub gates: Vec<GateView>,
    /// What is left of every limit.
    pub remaining_budget: Vec<LimitView>,
    /// What was used of the additive limits.
    pub turns: u32,
    /// Proposals that had no effect.
    pub denials: u32,
    /// The newest observation, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_observation: Option<String>,
    /// What waits for a person, or was decided.
    pub approvals: Vec<ApprovalView>,
    /// What "completed" claims, and what it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<CompletionView>,
}

/// The pins of a run, by digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each is the pin of the same name")]
pub struct PinsView {
    pub blueprint: String,
    pub blueprint_digest: Digest,
    pub base: String,
    pub base_tree: Digest,
    pub policy: Digest,
    pub profile: String,
    pub profile_digest: Digest,
    pub backend: String,
    pub catalog: Digest,
    pub image: Digest,
    pub agent: String,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each field is the one of the plan step")]
pub struct PlanStepView {
    pub id: String,
    pub summary: String,
    pub work: String,
    pub cases: Vec<String>,
}

/// What a completed run claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionView {
    /// `preview-ready`.
    pub claim: &'static str,
    /// What it does not claim.
    pub not: &'static str,
}

/// What a customer sees of a run at a moment; `None` where there is no run.
#[must_use]
pub fn view(state: &State, now: UnixMs) -> Option<RunView> {
    let dossier = state.dossier()?;
    let phase = state.phase()?;
    let preview_ready = matches!(state, State::Ended(ended) if ended.preview_ready);
    let (awaiting, awaiting_what) = awaiting(state);
    let pins = &dossier.pins;
    Some(RunView {
        run: pins.run.clone(),
        name: pins.name.as_ref().map(ToString::to_string),
        organization: pins.scope.organization.to_string(),
        project: pins.scope.project.to_string(),
        phase: phase.as_str().to_owned(),
        stop_reason: state.stop_reason().map(ToString::to_string),
        goal: pins.goal.clone(),
        awaiting: awaiting.to_owned(),
        awaiting_what,
        pins: pins_view(pins),
        revision: pins.revision.to_string(),
        head: dossier.head,
        preview_ready,
        plan: plan_view(dossier),
        changed_files: dossier.changed_files().into_iter().cloned().collect(),
        gates: gate_views(state, dossier),
        remaining_budget: limit_views(dossier, now),
        turns: dossier.turns,
        denials: dossier.denials,
        last_observation: dossier.last_observation.as_ref().map(describe),
        approvals: approval_views(state, dossier),
        completion: preview_ready.then_some(CompletionView {
            claim: "preview-ready",
            not: "not validated, not deployed, not safe for live users",
        }),
    })
}

fn pins_view(pins: &ambit_run::Pins) -> PinsView {
    PinsView {
        blueprint: pins.blueprint.id.to_string(),
        blueprint_digest: pins.blueprint.digest,
        base: pins.base.id.to_string(),
        base_tree: pins.base.tree,
        policy: pins.policy,
        profile: pins.profile.name.to_string(),
        profile_digest: pins.profile.digest,
        backend: pins.backend.to_string(),
        catalog: pins.catalog,
        image: pins.image,
        agent: pins.agent.id.to_string(),
    }
}

fn plan_view(dossier: &Dossier) -> Vec<PlanStepView> {
    let steps = dossier.plan.as_ref().map(ambit_run::Plan::steps).unwrap_or_default();
    steps
        .iter()
        .map(|step| PlanStepView {
            id: step.id.to_string(),
            summary: step.summary.clone(),
            work: step.work.clone(),
            cases: step.cases.iter().map(ToString::to_string).collect(),
        })
        .collect()
}

/// Who must act next, and what that one must do: `agent`, `policy`, `sandbox`, `person` or `nobody`.
#[must_use]
pub fn awaiting(state: &State) -> (&'static str, String) {
    let none = ("nobody", String::new());
    match state {
        State::Vacant | State::Ended(_) => none,
        State::Closing(closing) => ("sandbox", format!("{}, after {}", cleanup(closing), closing.reason)),
        State::Open(open) => match &open.stage {
            Stage::Approval { pending, .. } => {
                ("person", format!("{} for {}", pending.capability, pending.proposal))
            }
            _ if open.sandbox.is_none() => ("sandbox", "a sandbox is being made ready".to_owned()),
            Stage::Sandbox => ("sandbox", "a sandbox is being made ready".to_owned()),
            Stage::Agent(turn) => ("agent", format!("turn {}", turn.turn)),
            Stage::Call(flight) => match &flight.call {
                ToolCall::RunNamedGate { gate_id, .. } => ("sandbox", format!("gate {gate_id} runs")),
                call => ("policy", format!("{} is being performed", call.tool())),
            },
            Stage::Observed => none,
            Stage::HiddenChecks(_) => ("policy", "acceptance is being derived".to_owned()),
        },
    }
}

fn cleanup(closing: &Closing) -> &'static str {
    match closing.cleanup {
        Cleanup::Terminate => "its processes are being stopped",
        Cleanup::Export => "its trace is being kept",
        Cleanup::Destroy => "it is being removed",
        Cleanup::Settle { .. } => "the revision is being settled",
    }
}

fn describe(observation: &Observation) -> String {
    match observation {
        Observation::FileRead { path, bytes, .. } => format!("read {path} ({bytes})"),
        Observation::FilesListed { count, .. } => format!("listed {count} files"),
        Observation::TextFound { count, .. } => format!("found {count} places"),
        Observation::PatchApplied(patch) => {
            format!("patched {} files to {}", patch.files.len(), patch.tree.short())
        }
        Observation::GateFinished(record) => {
            format!("{} attempt {}: {}", record.gate, record.attempt, ended(record))
        }
        Observation::ApprovalAnswered { verdict, receipt } => format!("{} by {receipt}", verdict.as_str()),
        Observation::Failed { code } => format!("failed: {code}"),
        Observation::Unknown => "unknown: the control plane ended in between".to_owned(),
    }
}
