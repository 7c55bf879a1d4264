use std::collections::BTreeSet;

use ambit_ids::{Digest, GateId, IdempotencyKey, ProposalId, RevisionId, StepId, UnixMs};
use ambit_policy::{Capability, DenialKind, SideEffect, Verdict};

use super::{consent, repeated};
use crate::Limit;
use crate::acceptance::current_gate;
use crate::approvals::{HeldProposal, Rollback};
use crate::call::ToolCall;
use crate::command::{AssessedCall, Finding, PatchFinding};
use crate::consent::Inspection;
use crate::denial::{Denial, DenialCode};
use crate::event::{CallOutcome, Observation};
use crate::gate_book::GateStatus;
use crate::ledger::Amounts;
use crate::pins::{GatePin, Rules};
use crate::state::Dossier;

/// What follows from a call, and what its effect reserves.
pub(super) struct Judgement {
    pub(super) outcome: CallOutcome,
    pub(super) reserved: Amounts,
}

impl Judgement {
    fn without_effect(outcome: CallOutcome) -> Self {
        Self { outcome, reserved: Amounts::default() }
    }
}

/// Judges a call. One that is denied for the reason for which the very same one was denied before is told so.
pub(super) fn judge(dossier: &Dossier, assessed: &AssessedCall, at: UnixMs) -> Judgement {
    let mut judgement = judge_anew(dossier, assessed, at);
    if let CallOutcome::Denied(denial) = &judgement.outcome
        && let Some(repeated) = repeated::denial(dossier, assessed.arguments, denial)
    {
        judgement.outcome = CallOutcome::Denied(repeated);
    }
    judgement
}

/// Judges a call by itself, strictest first: a denial that ends the run, a call that does not fit the run, a denial by the policy,
/// an approval that is missing, a limit. Only what passes all of them is performed.
fn judge_anew(dossier: &Dossier, assessed: &AssessedCall, at: UnixMs) -> Judgement {
    let decision = &assessed.decision;
    if decision.verdict == Verdict::Deny(DenialKind::Terminating) {
        // What is possible instead is told of an end since what a consent needs is.
        let tells = dossier.pins.rules >= Rules::Consent;
        let denial = Denial::new(DenialCode::PolicyDenied, "").instead(assessed.instead.clone());
        let instead = if tells { denial.instead } else { String::new() };
        return Judgement::without_effect(CallOutcome::Ends { rules: decision.rules.clone(), instead });
    }
    match fits(dossier, assessed) {
        Fit::Denied(denial) => return Judgement::without_effect(CallOutcome::Denied(denial)),
        Fit::Repeated(observation) => return Judgement::without_effect(CallOutcome::Replayed(observation)),
        Fit::New => {}
    }
    match decision.verdict {
        Verdict::Deny(_) => {
            let detail = assessed.facts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            let denial = Denial::new(DenialCode::PolicyDenied, detail)
                .by(&decision.rules)
                .instead(assessed.instead.clone());
            return Judgement::without_effect(CallOutcome::Denied(denial));
        }
        Verdict::NeedsApproval(capability) => {
            return Judgement::without_effect(ask(dossier, assessed, capability, at));
        }
        Verdict::Allow => {}
    }
    if let Err(denial) = consent::still_counts(dossier, assessed, at) {
        return Judgement::without_effect(CallOutcome::Denied(denial));
    }
    let reserved = reservation(dossier, &assessed.call);
    match limits(dossier, assessed, &reserved, at) {
        Ok(()) => Judgement { outcome: CallOutcome::Perform, reserved },
        Err(limit) => Judgement::without_effect(CallOutcome::OverLimit(limit)),
    }
}

/// Whether a call fits the run as it stands.
enum Fit {
    New,
    /// The same effect was had before; this is what was seen then.
    Repeated(Box<Observation>),
    Denied(Denial),
}

impl From<Result<(), Denial>> for Fit {
    fn from(result: Result<(), Denial>) -> Self {
        result.map_or_else(Self::Denied, |()| Self::New)
    }
}

fn fits(dossier: &Dossier, assessed: &AssessedCall) -> Fit {
    let call = &assessed.call;
    if let Err(denial) = fits_revision(dossier, call) {
        return Fit::Denied(denial);
    }
    let has_effect = call.tool().side_effect() != SideEffect::None;
    if has_effect && dossier.plan.is_none() {
        return Fit::Denied(
            Denial::new(DenialCode::PlanMissing, "no plan is accepted yet")
                .instead("propose a plan whose steps cite acceptance cases; reading is possible before it"),
        );
    }
    match call {
        ToolCall::ApplyProjectPatch { expected_base_sha, patch, .. } => {
            fits_patch(dossier, assessed, *expected_base_sha, *patch)
        }
        ToolCall::RunNamedGate { gate_id, idempotency_key, .. } => {
            fits_gate(dossier, gate_id, idempotency_key)
        }
        ToolCall::RequestScopedApproval { proposal_id, capability, .. } => {
            fits_approval(dossier, proposal_id, *capability).into()
        }
        ToolCall::ReadProjectFile { .. }
        | ToolCall::ListProjectFiles { .. }
        | ToolCall::SearchProjectText { .. } => not_refused(&assessed.finding).into(),
    }
}

fn not_refused(finding: &Finding) -> Result<(), Denial> {
    match finding {
        Finding::Refused(denial) => Err(denial.clone()),
        Finding::Clear | Finding::Patch(_) => Ok(()),
    }
}

/// The run's own revision for everything, and its base for reading.
fn fits_revision(dossier: &Dossier, call: &ToolCall) -> Result<(), Denial> {
    let own: RevisionId = dossier.pins.revision;
    let base = dossier.pins.base.id;
    match call.revision() {
        Some(named) if named != own && (named != base || call.tool().side_effect() != SideEffect::None) => {
            Err(Denial::new(DenialCode::RevisionUnknown, format!("{named} is not the run's revision"))
                .instead(format!("the run works on {own}; {base} can be read")))
        }
        _ => Ok(()),
    }
}

fn fits_patch(dossier: &Dossier, assessed: &AssessedCall, expected: Digest, patch: Digest) -> Fit {
    // On the current tree what the same patch did before was undone meanwhile: it is done anew, unless it failed.
    if expected != dossier.head {
        let earlier =
            dossier.patches.iter().find(|applied| applied.base == expected && applied.proposed == patch);
        return match earlier {
            Some(applied) => Fit::Repeated(Box::new(Observation::PatchApplied(applied.clone()))),
            None => Fit::Denied(conflict(expected, dossier.head)),
        };
    }
    repeated::not_failed(dossier, expected, patch)
        .and_then(|()| cites_step(dossier, assessed.step.as_ref()))
        .and_then(|()| explains_failure(dossier, assessed.hypothesis.as_deref()))
        .and_then(|()| not_refused(&assessed.finding))
        .and_then(|()| match &assessed.finding {
            Finding::Patch(finding) if finding.base == dossier.head => Ok(()),
            Finding::Patch(finding) => Err(conflict(finding.base, dossier.head)),
            Finding::Clear | Finding::Refused(_) => {
                Err(Denial::new(DenialCode::PatchRefused, "what the patch would do is not known"))
            }
        })
        .into()
}

fn conflict(expected: Digest, current: Digest) -> Denial {
    Denial::new(DenialCode::BaseConflict, format!("the current tree is {current}, not {expected}"))
        .instead("read what changed and propose the patch against the current digest")
}

fn cites_step(dossier: &Dossier, step: Option<&StepId>) -> Result<(), Denial> {
    let known = || {
        let plan = dossier.plan.as_ref();
        let ids: Vec<&str> =
            plan.map(|plan| plan.steps().iter().map(|step| step.id.as_str()).collect()).unwrap_or_default();
        format!("the plan's steps are {}", ids.join(", "))
    };
    match step {
        None => {
            Err(Denial::new(DenialCode::StepUncited, "the patch cites no step of the plan").instead(known()))
        }
        Some(id) if dossier.plan.as_ref().is_none_or(|plan| plan.step(id).is_none()) => {
            Err(Denial::new(DenialCode::StepUnknown, format!("the plan has no step {id}")).instead(known()))
        }
        Some(_) => Ok(()),
    }
}

fn explains_failure(dossier: &Dossier, hypothesis: Option<&str>) -> Result<(), Denial> {
    match &dossier.unexplained {
        Some(failed) if hypothesis.is_none_or(|text| text.trim().is_empty()) => Err(Denial::new(
            DenialCode::HypothesisMissing,
            format!("{} failed (attempt {}, kept as {})", failed.gate, failed.attempt, failed.artifact),
        )
        .instead("propose the patch together with a hypothesis of the cause")),
        _ => Ok(()),
    }
}

/// The cheapest relevant gate comes first: a gate waits for every cheaper one that checks a case of the plan.
fn fits_gate(dossier: &Dossier, gate: &GateId, key: &IdempotencyKey) -> Fit {
    if dossier.pins.gate(gate).is_none() {
        let ids: Vec<&str> = dossier.pins.gates.iter().map(|pin| pin.id.as_str()).collect();
        return Fit::Denied(
            Denial::new(DenialCode::GateUnknown, format!("the blueprint has no gate {gate}"))
                .instead(format!("its gates are {}", ids.join(", "))),
        );
    }
    if let Some(record) = dossier.executed(key) {
        return if record.gate == *gate && record.tree == dossier.head {
            Fit::Repeated(Box::new(Observation::GateFinished(record.clone())))
        } else {
            Fit::Denied(Denial::new(
                DenialCode::IdempotencyConflict,
                format!("the key was used for {} on {}", record.gate, record.tree),
            ))
        };
    }
    if dossier.pins.rules >= Rules::Guarded && dossier.gates.status(gate, dossier.head) == GateStatus::Flaky {
        return Fit::Denied(flaky(gate));
    }
    let planned: BTreeSet<_> = dossier.plan.as_ref().map(|plan| plan.cases()).unwrap_or_default();
    let first = dossier
        .pins
        .gates
        .iter()
        .take_while(|pin| pin.id != *gate)
        .filter(|pin| pin.cases.iter().any(|case| planned.contains(case)))
        .find(|pin| dossier.gates.status(&pin.id, dossier.head) != GateStatus::Passed);
    match first {
        Some(pin) => Fit::Denied(
            Denial::new(
                DenialCode::GateOutOfOrder,
                format!("{} does not pass on the current digest", pin.id),
            )
            .instead(format!("run {} first: it is cheaper", pin.id)),
        ),
        None => Fit::New,
    }
}

/// A gate that failed and passed on one digest has no verdict there, however often it is run.
fn flaky(gate: &GateId) -> Denial {
    let detail =
        format!("{gate} both failed and passed on the current digest, which is no pass; both are kept");
    Denial::new(DenialCode::GateFlaky, detail)
        .instead("propose a patch that makes it end in one way; it is run on the new digest")
}

fn fits_approval(dossier: &Dossier, proposal: &ProposalId, capability: Capability) -> Result<(), Denial> {
    let Some(held) = dossier.approvals.held(proposal) else {
        return Err(Denial::new(DenialCode::ProposalUnknown, format!("no proposal {proposal} is held back")));
    };
    if held.capability != capability {
        return Err(Denial::new(
            DenialCode::CapabilityMismatch,
            format!("the proposal waits for {}, not for {capability}", held.capability),
        ));
    }
    if held.target != dossier.head {
        return Err(conflict(held.target, dossier.head));
    }
    Ok(())
}

/// What follows from a call that a person has to approve. Approved, it would end at the limits that hold now: they are held
/// against it before anybody is asked.
fn ask(dossier: &Dossier, assessed: &AssessedCall, capability: Capability, at: UnixMs) -> CallOutcome {
    if dossier.pins.rules >= Rules::Affordable {
        let reserved = reservation(dossier, &assessed.call);
        if let Err(limit) = limits(dossier, assessed, &reserved, at) {
            return CallOutcome::OverLimit(limit);
        }
        if let Some(receipt) = dossier.approvals.in_hand(assessed.arguments, at) {
            return CallOutcome::Denied(needs_another(receipt.capability, capability, assessed));
        }
    }
    hold(dossier, assessed, capability)
        .map_or_else(CallOutcome::Denied, |held| CallOutcome::Held(Box::new(held)))
}

/// One approval stands for one capability: whoever approved the first would be asked for both again and again.
fn needs_another(approved: Capability, needed: Capability, assessed: &AssessedCall) -> Denial {
    Denial::new(DenialCode::PolicyDenied, format!("{approved} is approved, and {needed} is needed as well"))
        .by(&assessed.decision.rules)
        .instead("propose each part as a patch of its own: one approval stands for one of them")
}

/// Holds a call back for a person, who must be able to see all of it.
fn hold(dossier: &Dossier, assessed: &AssessedCall, capability: Capability) -> Result<HeldProposal, Denial> {
    let view = match &assessed.inspection {
        _ if dossier.pins.rules < Rules::Consent => None,
        Inspection::Whole(view) => Some(*view),
        Inspection::Impossible(reasons) => {
            let words: Vec<&str> = reasons.iter().map(|reason| reason.as_str()).collect();
            let detail =
                format!("{capability} needs an approval, and nobody can see all of it: {}", words.join(", "));
            return Err(Denial::new(DenialCode::ProposalUninspectable, detail).by(&assessed.decision.rules));
        }
    };
    let (subject, expected_effect) = match (&assessed.call, &assessed.finding) {
        (ToolCall::ApplyProjectPatch { patch, .. }, Finding::Patch(PatchFinding { tree, .. })) => {
            (*patch, *tree)
        }
        _ => (assessed.arguments, dossier.head),
    };
    let mut newest: Vec<Digest> = dossier
        .pins
        .gates
        .iter()
        .filter_map(|pin| dossier.gates.records().iter().rev().find(|record| record.gate == pin.id))
        .map(|record| record.artifact)
        .collect();
    newest.sort();
    Ok(HeldProposal {
        scope: dossier.pins.scope.clone(),
        run: dossier.pins.run.clone(),
        policy: dossier.pins.policy,
        capability,
        arguments: assessed.arguments,
        subject,
        target: dossier.head,
        expected_effect,
        evidence: newest,
        rollback: Rollback::CancelRun,
        view,
    })
}

/// What the effect of a call reserves before it happens.
fn reservation(dossier: &Dossier, call: &ToolCall) -> Amounts {
    let side_effects = u32::from(call.tool().side_effect() != SideEffect::None);
    let gate = match call {
        ToolCall::RunNamedGate { gate_id, .. } => dossier.pins.gate(gate_id),
        _ => None,
    };
    gate.map_or(Amounts { side_effects, ..Amounts::default() }, |pin| {
        let one =
            Amounts { cost: pin.cost, output: pin.output, processes: pin.processes, ..Amounts::default() };
        let base = if runs_on_base(dossier, pin) { one } else { Amounts::default() };
        Amounts { side_effects, processes: pin.processes, ..one.and(&base) }
    })
}

/// Whether a gate is run on the base revision first, one after the other, for the tests that it has there.
fn runs_on_base(dossier: &Dossier, pin: &GatePin) -> bool {
    let base = dossier.pins.base.tree;
    pin.reports && dossier.head != base && dossier.gates.base_tests(&pin.id, base).is_none()
}

fn limits(dossier: &Dossier, assessed: &AssessedCall, reserved: &Amounts, at: UnixMs) -> Result<(), Limit> {
    let limits = dossier.ledger.limits();
    if let Finding::Patch(finding) = &assessed.finding {
        let attempts = current_gate(dossier)
            .map_or(0, |(gate, _)| dossier.attempts.get(gate).copied().unwrap_or_default());
        if attempts >= limits.patch_attempts_per_gate {
            return Err(Limit::PatchAttemptsPerGate);
        }
        if finding.changed_from_base > limits.changed_files {
            return Err(Limit::ChangedFiles);
        }
        if finding.added_dependencies > limits.added_dependencies {
            return Err(Limit::AddedDependencies);
        }
    }
    if at >= dossier.ledger.deadline() {
        return Err(Limit::Elapsed);
    }
    dossier.ledger.check(reserved)
}
