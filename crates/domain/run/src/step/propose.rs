use ambit_ids::{MicroUsd, limits};
use ambit_policy::Fact;

use super::draft::Draft;
use super::{consent, judge};
use crate::approvals::proposal_id;
use crate::bounds::APPROVAL_MS;
use crate::call::ToolCall;
use crate::command::{Answered, AssessedCall, Finding, Proposal, Refusal};
use crate::denial::Denial;
use crate::event::{CallDecided, CallOutcome, ChargeBasis, Event};
use crate::plan::{Plan, PlanStep};
use crate::state::{Stage, State};
use crate::{Limit, StopReason};

pub(super) fn answered(draft: &mut Draft, answered: Answered) -> Result<(), Refusal> {
    settle(draft, answered.turn, answered.cost)?;
    if let Some(limit) = draft.dossier()?.ledger.overdrawn() {
        draft.stop_at(limit);
        return Ok(());
    }
    if draft.is_overdue() {
        draft.stop_at(Limit::Elapsed);
        return Ok(());
    }
    let (turn, answer) = (answered.turn, answered.answer);
    match answered.proposal {
        Proposal::Unusable(denial) => {
            draft.push(Event::ProposalDenied { turn, answer, was_plan: false, denial });
            draft.open_next_turn();
        }
        Proposal::Plan(steps) => {
            let event = plan(draft, steps)?.map_or_else(
                |denial| Event::ProposalDenied { turn, answer, was_plan: true, denial },
                |plan| Event::PlanAccepted { turn, plan },
            );
            draft.push(event);
            draft.open_next_turn();
        }
        Proposal::Call(assessed) => call(draft, turn, *assessed)?,
    }
    Ok(())
}

fn plan(draft: &Draft, steps: Vec<PlanStep>) -> Result<Result<Plan, Denial>, Refusal> {
    Ok(Plan::accept(steps, &draft.dossier()?.pins))
}

/// The agent will not answer any more.
pub(super) fn agent_stopped(
    draft: &mut Draft,
    turn: u32,
    cost: Option<MicroUsd>,
    failure: Option<String>,
) -> Result<(), Refusal> {
    settle(draft, turn, cost)?;
    draft.stop(failure.map_or(StopReason::AgentStopped, StopReason::InfrastructureFailure));
    Ok(())
}

fn settle(draft: &mut Draft, turn: u32, cost: Option<MicroUsd>) -> Result<(), Refusal> {
    let reserved = match &draft.open()?.stage {
        Stage::Agent(open) if open.turn == turn && open.reserved.model_steps > 0 => open.reserved.cost,
        _ => return Err(Refusal::TurnNotOpen),
    };
    let basis = if cost.is_some() { ChargeBasis::Reported } else { ChargeBasis::Reservation };
    draft.push(Event::TurnSettled { turn, charged: cost.unwrap_or(reserved), basis });
    Ok(())
}

fn call(draft: &mut Draft, turn: u32, assessed: AssessedCall) -> Result<(), Refusal> {
    consent::before_use(draft);
    let judgement = judge::judge(draft.dossier()?, &assessed, draft.at);
    let performs = judgement.outcome == CallOutcome::Perform;
    if performs {
        record_hypothesis(draft, turn, &assessed)?;
        consume_approval(draft, turn, &assessed)?;
    }
    let outcome = judgement.outcome.clone();
    let asks = performs.then(|| assessed.call.clone());
    draft.push(Event::CallDecided(Box::new(CallDecided {
        turn,
        expected_tree: match &assessed.finding {
            Finding::Patch(finding) if performs => Some(finding.tree),
            _ => None,
        },
        call: assessed.call,
        arguments: assessed.arguments,
        step: assessed.step,
        facts_in_all: u32::try_from(assessed.facts.len()).unwrap_or(u32::MAX),
        facts: first_facts(assessed.facts),
        decision: assessed.decision,
        outcome: judgement.outcome,
        reserved: judgement.reserved,
    })));
    match outcome {
        CallOutcome::Perform => {
            if let Some(ToolCall::RequestScopedApproval { proposal_id, .. }) = asks {
                ask(draft, turn, &proposal_id)?;
            }
        }
        CallOutcome::Denied(_) | CallOutcome::Held(_) | CallOutcome::Replayed(_) => draft.open_next_turn(),
        CallOutcome::Ends { rules, .. } => draft.stop(StopReason::PolicyDenied(rules)),
        CallOutcome::OverLimit(limit) => draft.stop_at(limit),
    }
    Ok(())
}

/// As many facts as fit a record beside everything else.
fn first_facts(facts: Vec<Fact>) -> Vec<Fact> {
    let mut bytes = 0;
    facts
        .into_iter()
        .take_while(|fact| {
            bytes += fact.to_string().len();
            bytes <= limits::RECORD_FACT_BYTES
        })
        .collect()
}

/// A patch that follows a failed gate carries the cause that the agent supposes; it is recorded before the intent.
fn record_hypothesis(draft: &mut Draft, turn: u32, assessed: &AssessedCall) -> Result<(), Refusal> {
    let failed = draft.dossier()?.unexplained.clone();
    if let (ToolCall::ApplyProjectPatch { .. }, Some(failed), Some(text)) =
        (&assessed.call, failed, &assessed.hypothesis)
    {
        let text = crate::denial::bounded(text.clone());
        draft.push(Event::HypothesisRecorded { turn, gate: failed.gate, attempt: failed.attempt, text });
    }
    Ok(())
}

fn consume_approval(draft: &mut Draft, turn: u32, assessed: &AssessedCall) -> Result<(), Refusal> {
    let receipt =
        draft.dossier()?.approvals.in_hand(assessed.arguments, draft.at).map(|receipt| receipt.id.clone());
    if let Some(receipt) = receipt {
        draft.push(Event::ApprovalConsumed { turn, receipt });
    }
    Ok(())
}

/// Puts the question to a person. The run waits, and ends with the question.
fn ask(draft: &mut Draft, turn: u32, proposal: &ambit_ids::ProposalId) -> Result<(), Refusal> {
    let State::Open(open) = &draft.state else { return Err(Refusal::NotFound) };
    let Some(held) = open.dossier.approvals.held(proposal) else { return Err(Refusal::ApprovalNotAwaited) };
    let digest = held.digest().map_err(|_| Refusal::ApprovalNotAwaited)?;
    let event = Event::ApprovalRequested {
        turn,
        proposal: proposal_id(digest),
        digest,
        capability: held.capability,
        expires: draft.at.saturating_add(APPROVAL_MS),
    };
    draft.push(event);
    Ok(())
}
