//! What happens to a run, as lines of JSON: stable names and shapes, listed in `docs/events.md`.

use ambit_ids::{RunId, UnixMs, vocabulary};
use ambit_orchestrator::ended;
use ambit_run::{CallDecided, CallOutcome, ChargeBasis, Event, GateRecord, Observation, ToolCall};
use serde_json::{Value, json};

use crate::calls::word;
use crate::text::call;

/// The version of the lines. It changes only where a reader of the one before would understand something wrongly.
const VERSION: u64 = 1;

vocabulary!(
    /// The names of what happens. A reader leaves out those that it does not know: further ones may come.
    Kind {
        /// The run exists, pinned.
        RunStarted = "run.started",
        /// A sandbox is ready.
        SandboxAllocated = "sandbox.allocated",
        /// The sandbox is gone.
        SandboxLost = "sandbox.lost",
        /// The sandbox of the agent's calls is given back.
        SandboxRetired = "sandbox.retired",
        /// The agent is asked.
        TurnOpened = "turn.opened",
        /// A turn is charged.
        BudgetSettled = "budget.settled",
        /// The plan is accepted.
        PlanAccepted = "plan.accepted",
        /// A plan was not accepted.
        PlanDenied = "plan.denied",
        /// An answer was no proposal that could be decided.
        ProposalDenied = "proposal.denied",
        /// The agent says what it takes for the cause of a failure.
        HypothesisRecorded = "hypothesis.recorded",
        /// A call is decided.
        ToolDecided = "tool.decided",
        /// A gate begins to run.
        GateStarted = "gate.started",
        /// A gate ran.
        GateFinished = "gate.finished",
        /// A patch was applied.
        PatchApplied = "patch.applied",
        /// Any other call was performed, or failed.
        ToolFinished = "tool.finished",
        /// A person is asked.
        ApprovalRequested = "approval.requested",
        /// A person decided.
        ApprovalDecided = "approval.decided",
        /// An approval was used.
        ApprovalUsed = "approval.used",
        /// Nobody decided in time.
        ApprovalExpired = "approval.expired",
        ApprovalVoided = "approval.voided",
        /// A limit is reached.
        BudgetReached = "budget.reached",
        /// Somebody wants the run to end.
        CancelRequested = "cancel.requested",
        /// No new call begins from here on.
        RunStopped = "run.stopped",
        /// A check of which the agent does not know ran.
        AcceptanceChecked = "acceptance.checked",
        /// The processes of the sandbox are stopped.
        ProcessesStopped = "processes.stopped",
        /// The trace is kept.
        TraceKept = "trace.kept",
        /// Nothing of the sandbox is left.
        SandboxDestroyed = "sandbox.destroyed",
        /// The sandbox could not be removed, or not provably.
        CleanupFailed = "cleanup.failed",
        /// The standing of the revision is settled.
        RevisionMarked = "revision.marked",
        /// The run is over.
        RunEnded = "run.ended",
    }
);

/// Something that happened, as it is told.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) kind: Kind,
    pub(super) data: Value,
}

impl Told {
    /// The line, without its end. `seq` is the position of the record that it is told of.
    pub(super) fn line(&self, seq: u64, at: UnixMs, run: &RunId) -> Value {
        json!({
            "version": VERSION, "event": self.kind, "seq": seq, "at": at.to_string(), "run": run,
            "data": self.data,
        })
    }
}

/// What is told of an event. A gate that is allowed begins with the same event.
pub(super) fn told(event: &Event) -> Vec<Told> {
    let (kind, data) = match event {
        Event::CallDecided(made) => return decided(made),
        Event::CallObserved { turn, observation } => observed(*turn, observation),
        Event::Admitted { pins, .. } => (
            Kind::RunStarted,
            json!({
                "name": pins.name.as_ref().map(ToString::to_string), "goal": pins.goal,
                "blueprint": pins.blueprint.id, "blueprintDigest": pins.blueprint.digest,
                "base": pins.base.id, "revision": pins.revision, "profile": pins.profile.name,
                "agent": pins.agent.id,
                "gates": pins.gates.iter().map(|gate| &gate.id).collect::<Vec<_>>(),
            }),
        ),
        Event::SandboxAllocated(held) => (Kind::SandboxAllocated, json!({"lease": held.lease})),
        Event::SandboxLost { .. } => (Kind::SandboxLost, json!({})),
        Event::SandboxRetired { .. } => (Kind::SandboxRetired, json!({})),
        Event::ApprovalRequested { .. }
        | Event::ApprovalDecided { .. }
        | Event::ApprovalConsumed { .. }
        | Event::ReceiptVoided { .. }
        | Event::ApprovalExpired { .. } => approval(event),
        Event::TurnOpened { .. }
        | Event::TurnSettled { .. }
        | Event::PlanAccepted { .. }
        | Event::ProposalDenied { .. }
        | Event::HypothesisRecorded { .. } => turn(event),
        _ => ending(event),
    };
    vec![Told { kind, data }]
}

fn turn(event: &Event) -> (Kind, Value) {
    match event {
        Event::TurnOpened { turn, reserved } => {
            (Kind::TurnOpened, json!({"turn": turn, "reservedMicroUsd": reserved}))
        }
        Event::TurnSettled { turn, charged, basis } => {
            let basis = match basis {
                ChargeBasis::Reported => "reported",
                ChargeBasis::Reservation => "reservation",
            };
            (Kind::BudgetSettled, json!({"turn": turn, "chargedMicroUsd": charged, "basis": basis}))
        }
        Event::PlanAccepted { turn, plan } => {
            let steps = plan.steps().iter().map(|step| {
                json!({"id": step.id, "summary": step.summary, "work": step.work, "cases": step.cases})
            });
            (Kind::PlanAccepted, json!({"turn": turn, "steps": steps.collect::<Vec<_>>()}))
        }
        Event::ProposalDenied { turn, was_plan, denial, .. } => {
            let kind = if *was_plan { Kind::PlanDenied } else { Kind::ProposalDenied };
            (kind, json!({"turn": turn, "denial": denial_of(denial)}))
        }
        Event::HypothesisRecorded { turn, gate, attempt, text } => {
            (Kind::HypothesisRecorded, json!({"turn": turn, "gate": gate, "attempt": attempt, "text": text}))
        }
        other => ending(other),
    }
}

fn approval(event: &Event) -> (Kind, Value) {
    match event {
        Event::ApprovalRequested { turn, proposal, digest, capability, expires } => (
            Kind::ApprovalRequested,
            json!({
                "turn": turn, "proposal": proposal, "digest": digest, "capability": capability,
                "expires": expires.to_string(),
            }),
        ),
        Event::ApprovalDecided { decision, receipt_expires } => (
            Kind::ApprovalDecided,
            json!({
                "proposal": decision.proposal, "decision": decision.verdict.as_str(),
                "approver": decision.approver, "receiptExpires": receipt_expires.to_string(),
            }),
        ),
        Event::ApprovalConsumed { turn, receipt } => {
            (Kind::ApprovalUsed, json!({"turn": turn, "receipt": receipt}))
        }
        Event::ReceiptVoided { receipt, reason } => {
            (Kind::ApprovalVoided, json!({"receipt": receipt, "reason": reason}))
        }
        Event::ApprovalExpired { proposal } => (Kind::ApprovalExpired, json!({"proposal": proposal})),
        other => ending(other),
    }
}

/// The events by which a run comes to its end; and of every event that has no name yet, nothing but that it is one.
fn ending(event: &Event) -> (Kind, Value) {
    match event {
        Event::LimitReached { limit } => (Kind::BudgetReached, json!({"limit": limit})),
        Event::CancelRequested { by } => (Kind::CancelRequested, json!({"by": by})),
        Event::HiddenCheckObserved(record) => (Kind::AcceptanceChecked, gate(record)),
        Event::ProcessesTerminated { killed, .. } => (Kind::ProcessesStopped, json!({"killed": killed})),
        Event::TraceExported { artifact } => (Kind::TraceKept, json!({"artifact": artifact})),
        Event::SandboxDestroyed { .. } => (Kind::SandboxDestroyed, json!({})),
        Event::CleanupFailed { code } => (Kind::CleanupFailed, json!({"code": code})),
        Event::RevisionMarked { revision, tree, preview_ready } => {
            (Kind::RevisionMarked, json!({"revision": revision, "tree": tree, "previewReady": preview_ready}))
        }
        Event::Ended { phase, reason } => {
            (Kind::RunEnded, json!({"phase": phase, "stopReason": reason.to_string()}))
        }
        Event::Stopping { reason } => (Kind::RunStopped, json!({"stopReason": reason.to_string()})),
        _ => (Kind::RunStopped, Value::Null),
    }
}

fn decided(made: &CallDecided) -> Vec<Told> {
    let mut data = json!({
        "turn": made.turn, "tool": made.call.tool(), "call": call(&made.call), "arguments": made.arguments,
        "planStep": made.step, "outcome": word(&made.outcome),
        "rules": made.decision.rules.iter().map(ambit_ids::RuleId::as_str).collect::<Vec<_>>(),
        "facts": made.facts.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    match &made.outcome {
        CallOutcome::Denied(denial) => data["denial"] = denial_of(denial),
        CallOutcome::Held(held) => data["capability"] = json!(held.capability),
        CallOutcome::OverLimit(limit) => data["limit"] = json!(limit),
        CallOutcome::Ends { instead, .. } => data["instead"] = json!(instead),
        CallOutcome::Perform | CallOutcome::Replayed(_) => {}
    }
    let mut told = vec![Told { kind: Kind::ToolDecided, data }];
    if let (CallOutcome::Perform, ToolCall::RunNamedGate { gate_id, .. }) = (&made.outcome, &made.call) {
        told.push(Told { kind: Kind::GateStarted, data: json!({"turn": made.turn, "gate": gate_id}) });
    }
    told
}

fn observed(turn: u32, observation: &Observation) -> (Kind, Value) {
    let finished = |what: &str, mut more: Value| {
        more["turn"] = json!(turn);
        more["observed"] = json!(what);
        (Kind::ToolFinished, more)
    };
    match observation {
        Observation::PatchApplied(patch) => (
            Kind::PatchApplied,
            json!({
                "turn": turn, "base": patch.base, "tree": patch.tree, "files": patch.files,
                "filesChangedFromBase": patch.changed_from_base,
            }),
        ),
        Observation::GateFinished(record) => {
            let mut data = gate(record);
            data["turn"] = json!(turn);
            (Kind::GateFinished, data)
        }
        Observation::FileRead { path, bytes, redactions, .. } => {
            finished("file-read", json!({"path": path, "bytes": bytes, "redactions": redactions}))
        }
        Observation::FilesListed { count, .. } => finished("files-listed", json!({"count": count})),
        Observation::TextFound { count, redactions, .. } => {
            finished("text-found", json!({"count": count, "redactions": redactions}))
        }
        Observation::ApprovalAnswered { verdict, .. } => {
            finished("approval-answered", json!({"decision": verdict.as_str()}))
        }
        Observation::Failed { code } => finished("failed", json!({"code": code})),
        Observation::Unknown => finished("unknown", json!({})),
    }
}

fn gate(record: &GateRecord) -> Value {
    json!({
        "gate": record.gate, "attempt": record.attempt, "tree": record.tree,
        "passed": record.passed(), "ended": ended(record), "durationMs": record.duration,
        "artifact": record.artifact, "redactions": record.redactions,
    })
}

fn denial_of(denial: &ambit_run::Denial) -> Value {
    json!({
        "code": denial.code.as_str(), "detail": denial.detail, "instead": denial.instead,
        "rules": denial.rules.iter().map(ambit_ids::RuleId::as_str).collect::<Vec<_>>(),
    })
}
