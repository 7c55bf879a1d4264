//! Tells the run again what was reported to it, and compares what it answers with what was recorded.
//!
//! A record says what followed; what the run was told is found back from it. Wherever several commands could have led to
//! the same records, all of them are tried, so that no honest run is refused; whatever none of them leads to cannot have
//! happened.

use ambit_ids::{Digest, MicroUsd, ReceiptId};
use ambit_run::{
    Answered, AssessedCall, CallDecided, ChargeBasis, Command, Denial, DenialCode, Event, Observation,
    Proposal, Stage, State, StopReason, ToolCall, VoidReason, step,
};

use crate::decisions::{Assessments, approval_of, told_instead};
use crate::finding::Finding;
use crate::findings::{Findings, unsettled};
use crate::trace::Trace;

/// What a plan can be rejected for.
const PLAN_CODES: [DenialCode; 6] = [
    DenialCode::PlanEmpty,
    DenialCode::PlanTooLong,
    DenialCode::PlanStepRepeated,
    DenialCode::StepUncited,
    DenialCode::CaseUnknown,
    DenialCode::WorkOutOfScope,
];
/// What an answer can be rejected for that holds neither a plan nor a call.
const ANSWER_CODES: [DenialCode; 10] = [
    DenialCode::AnswerMalformed,
    DenialCode::AnswerTooLarge,
    DenialCode::TooManyCalls,
    DenialCode::AnswerWithoutCall,
    DenialCode::AnswerCutOff,
    DenialCode::AnswerRefused,
    DenialCode::ToolUnknown,
    DenialCode::InputInvalid,
    DenialCode::PathRefused,
    DenialCode::PatchRefused,
];

/// Whether the records are a sequence of whole steps of the run.
pub(crate) fn check(trace: &Trace<'_>, assessments: &Assessments) -> Findings {
    let mut findings = Findings::default();
    check_codes(trace, &mut findings);
    // Which positions are reached by whole steps from the beginning.
    let mut reached = vec![false; trace.events.len() + 1];
    reached[0] = true;
    let mut furthest = Furthest::default();
    for at in 0..trace.events.len() {
        if !reached[at] {
            continue;
        }
        for command in commands(trace, at, assessments) {
            let Ok(events) = step(trace.state(at), trace.times[at], command) else { continue };
            let same = agreeing(trace, at, &events);
            if same == events.len() && same > 0 {
                reached[at + same] = true;
            }
            furthest.note(at + same, events.get(same));
        }
    }
    if reached[trace.events.len()] {
        return findings;
    }
    let last = reached.iter().rposition(|reached| *reached).unwrap_or_default();
    // A step whose call could not be assessed cannot be told again; that it could not is no refutation.
    if let Some(finding) = unassessed(trace, last, assessments) {
        findings.push(finding);
        return findings;
    }
    furthest.tell(trace, last, &mut findings);
    findings
}

/// The first record that does not follow, and what would have.
#[derive(Default)]
struct Furthest {
    at: usize,
    expected: Option<Event>,
}

impl Furthest {
    fn note(&mut self, at: usize, expected: Option<&Event>) {
        if at > self.at || (at == self.at && self.expected.is_none()) {
            self.at = at;
            self.expected = expected.cloned();
        }
    }

    fn tell(self, trace: &Trace<'_>, last: usize, findings: &mut Findings) {
        let at = self.at.max(last);
        let expected = self.expected.filter(|_| self.at >= last).map(|event| kind(&event));
        let why = match expected {
            Some(expected) => {
                format!("the run does not go on like this: {expected} of other content follows")
            }
            None => "nothing that the run can be told leads to it".to_owned(),
        };
        match trace.events.get(at) {
            Some(_) => findings.refute(trace.name(at), why),
            None => findings.refute(trace.name(at - 1), format!("the records end within a step: {why}")),
        }
    }
}

fn kind(event: &Event) -> String {
    ambit_evidence::v1::RunBody::from(event).kind().to_owned()
}

/// How many of `events` stand in the records from `at` on, at the moment of the first of them.
fn agreeing(trace: &Trace<'_>, at: usize, events: &[Event]) -> usize {
    let recorded = trace.events[at..].iter().zip(&trace.times[at..]);
    recorded
        .zip(events)
        .take_while(|((recorded, time), answered)| {
            **time == trace.times[at] && in_substance(recorded) == in_substance(answered)
        })
        .count()
}

/// An event without the words in which a denial is put, which may change from version to version, and without what a
/// rejected answer was taken for, which is not kept.
fn in_substance(event: &Event) -> Event {
    let plain = |denial: &Denial| Denial {
        code: denial.code,
        detail: String::new(),
        rules: denial.rules.clone(),
        instead: String::new(),
    };
    match event {
        Event::ProposalDenied { turn, answer, denial, .. } => {
            Event::ProposalDenied { turn: *turn, answer: *answer, was_plan: false, denial: plain(denial) }
        }
        Event::CallDecided(decided) => match &decided.outcome {
            ambit_run::CallOutcome::Denied(denial) => {
                let outcome = ambit_run::CallOutcome::Denied(plain(denial));
                Event::CallDecided(Box::new(CallDecided { outcome, ..decided.as_ref().clone() }))
            }
            _ => event.clone(),
        },
        _ => event.clone(),
    }
}

fn check_codes(trace: &Trace<'_>, findings: &mut Findings) {
    for (at, event) in trace.events() {
        let Event::ProposalDenied { was_plan, denial, .. } = event else { continue };
        let codes: &[DenialCode] = if *was_plan { &PLAN_CODES } else { &ANSWER_CODES };
        if !codes.contains(&denial.code) {
            findings.refute(trace.name(at), format!("{} is no reason for it", denial.code));
        }
    }
}

fn unassessed(trace: &Trace<'_>, from: usize, assessments: &Assessments) -> Option<Finding> {
    let at = next_call(trace, from)?;
    match assessments.get(&at) {
        Some(Ok(_)) => None,
        Some(Err(finding)) => Some(finding.clone()),
        None => Some(unsettled(Some(trace.name(at)), "the call was not assessed")),
    }
}

/// The decided call of the step that begins at `from` with the settling of a turn. Receipts that end are no part of the count.
fn next_call(trace: &Trace<'_>, from: usize) -> Option<usize> {
    let voids = |at: &usize| matches!(trace.events[*at], Event::ReceiptVoided { .. });
    (from..trace.events.len())
        .filter(|at| !voids(at))
        .take(4)
        .find(|at| matches!(trace.events[*at], Event::CallDecided(_)))
}

/// Every command that could have been told when the records from `at` on followed.
fn commands(trace: &Trace<'_>, at: usize, assessments: &Assessments) -> Vec<Command> {
    match &trace.events[at] {
        Event::Admitted { pins, .. } => vec![Command::Admit(pins.clone())],
        Event::SandboxAllocated(held) => vec![Command::SandboxAllocated(held.clone())],
        Event::SandboxLost { incarnation } => {
            vec![Command::Recover, Command::SandboxLost { incarnation: incarnation.clone() }]
        }
        Event::TurnSettled { turn, charged, basis } => {
            let cost = (*basis == ChargeBasis::Reported).then_some(*charged);
            settling(trace, at, *turn, cost, assessments)
        }
        Event::CallObserved { turn, observation } => observing(trace, at, *turn, observation),
        Event::ApprovalDecided { decision, .. } => vec![Command::DecideApproval(decision.clone())],
        Event::ApprovalExpired { .. } | Event::LimitReached { .. } => vec![Command::Tick],
        Event::ReceiptVoided { reason: VoidReason::PolicyChanged, .. } => vec![Command::WithdrawBlueprint],
        Event::ReceiptVoided { receipt, .. } => revoking(trace, at, receipt),
        Event::CancelRequested { by } => vec![Command::Cancel { by: by.clone() }],
        Event::Stopping { reason } => stopping(trace, at, reason),
        Event::HiddenCheckObserved(record) => vec![Command::ObserveHidden(record.clone())],
        Event::ProcessesTerminated { killed, receipt } => {
            vec![Command::ProcessesTerminated { killed: *killed, receipt: *receipt }]
        }
        Event::TraceExported { artifact } => vec![Command::TraceExported { artifact: *artifact }],
        Event::SandboxDestroyed { receipt } => vec![Command::SandboxDestroyed { receipt: *receipt }],
        Event::CleanupFailed { code } => vec![Command::CleanupFailed { code: code.clone() }],
        // These only ever follow within a step that began with another.
        Event::TurnOpened { .. }
        | Event::SandboxRetired { .. }
        | Event::PlanAccepted { .. }
        | Event::ProposalDenied { .. }
        | Event::HypothesisRecorded { .. }
        | Event::CallDecided(_)
        | Event::ApprovalRequested { .. }
        | Event::ApprovalConsumed { .. }
        | Event::RevisionMarked { .. }
        | Event::Ended { .. } => Vec::new(),
    }
}

/// A turn is settled by an answer, by an agent that stopped, by a sandbox that cannot be had, or by a takeover.
fn settling(
    trace: &Trace<'_>,
    at: usize,
    turn: u32,
    cost: Option<MicroUsd>,
    assessments: &Assessments,
) -> Vec<Command> {
    let answered = |answer: Digest, proposal: Proposal| {
        Command::Propose(Box::new(Answered { turn, cost, answer, proposal }))
    };
    // Where nothing that follows depends on the answer, any answer will do.
    let unread = Digest::of(b"");
    let unusable = || Proposal::Unusable(Denial::new(DenialCode::AnswerMalformed, ""));
    match trace.events.get(at + 1) {
        Some(Event::ProposalDenied { answer, denial, .. }) => {
            vec![answered(*answer, Proposal::Unusable(denial.clone()))]
        }
        Some(Event::PlanAccepted { plan, .. }) => {
            vec![answered(unread, Proposal::Plan(plan.steps().to_vec()))]
        }
        Some(
            Event::HypothesisRecorded { .. }
            | Event::ApprovalConsumed { .. }
            | Event::ReceiptVoided { .. }
            | Event::CallDecided(_),
        ) => calls(trace, at, assessments)
            .into_iter()
            .map(|call| answered(unread, Proposal::Call(Box::new(call))))
            .collect(),
        Some(Event::Stopping { reason }) => {
            let failure = match reason {
                StopReason::InfrastructureFailure(code) => Some(code.clone()),
                _ => None,
            };
            let mut commands = vec![Command::AgentStopped { turn, cost, failure: failure.clone() }];
            commands.extend(failure.map(|code| Command::SandboxRefused { code }));
            commands
        }
        // Only a takeover opens a turn right away; an answer that is not there is tried to tell what is missing.
        _ => vec![answered(unread, unusable()), Command::Recover],
    }
}

/// The call that was proposed, with each hypothesis that it can have come with: one that was recorded, none, or one that
/// was not recorded because the call was not performed.
fn calls(trace: &Trace<'_>, settled: usize, assessments: &Assessments) -> Vec<AssessedCall> {
    let Some(at) = next_call(trace, settled) else { return Vec::new() };
    let (Event::CallDecided(decided), Some(Ok(assessment))) = (&trace.events[at], assessments.get(&at))
    else {
        return Vec::new();
    };
    let approval = approval_of(trace, at, decided, assessment);
    let recorded = trace.events[settled..at].iter().find_map(|event| match event {
        Event::HypothesisRecorded { text, .. } => Some(text.clone()),
        _ => None,
    });
    let hypotheses = match recorded {
        Some(text) => vec![Some(text)],
        None if matches!(decided.call, ToolCall::ApplyProjectPatch { .. }) => {
            vec![None, Some("not kept".to_owned())]
        }
        None => vec![None],
    };
    hypotheses
        .into_iter()
        .map(|hypothesis| AssessedCall {
            call: decided.call.clone(),
            arguments: assessment.arguments,
            step: decided.step.clone(),
            hypothesis,
            facts: assessment.facts.clone(),
            finding: assessment.finding.clone(),
            inspection: assessment.view.inspection.clone(),
            approval: approval.clone(),
            decision: decided.decision.clone(),
            instead: told_instead(decided).cloned().unwrap_or_default(),
        })
        .collect()
}

/// A step that begins with the end of a receipt is the revocation of whoever gave it.
fn revoking(trace: &Trace<'_>, at: usize, receipt: &ReceiptId) -> Vec<Command> {
    let of_receipt = |dossier: &ambit_run::Dossier| {
        dossier.approvals.receipts().find(|given| given.id == *receipt).map(|given| given.approver.clone())
    };
    let approver = trace.dossier(at).and_then(of_receipt);
    approver.map(|approver| Command::RevokeApprover { approver }).into_iter().collect()
}

/// An observation is reported, or found missing by a takeover. One that did not belong to the call was not kept, and
/// anything else that does not belong to it stands for it.
fn observing(trace: &Trace<'_>, at: usize, turn: u32, observation: &Observation) -> Vec<Command> {
    let mut commands = vec![Command::Observe { turn, observation: observation.clone() }, Command::Recover];
    if let Some(flight) = trace.flight(at) {
        let misfit = match flight.call {
            ToolCall::ListProjectFiles { .. } => {
                Observation::TextFound { count: 0, truncated: false, redactions: None }
            }
            _ => Observation::FilesListed { count: 0, truncated: false },
        };
        commands.push(Command::Observe { turn, observation: misfit });
    }
    commands
}

fn stopping(trace: &Trace<'_>, at: usize, reason: &StopReason) -> Vec<Command> {
    let StopReason::InfrastructureFailure(code) = reason else { return Vec::new() };
    let mut commands = vec![Command::SandboxRefused { code: code.clone() }];
    if let State::Open(open) = trace.state(at)
        && let Stage::HiddenChecks(remaining) = &open.stage
        && let Some(check) = remaining.first()
    {
        commands.push(Command::HiddenCheckFailed { gate: check.gate.clone(), code: code.clone() });
    }
    commands
}
