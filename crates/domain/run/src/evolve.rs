use std::collections::BTreeMap;

use ambit_ids::{ByteCount, MicroUsd, ReceiptId, UnixMs};
use ambit_policy::ToolName;

use crate::ToolCall;
use crate::approvals::{ApprovalDecision, ApprovalVerdict, PendingApproval, Receipt, proposal_id};
use crate::bounds::{APPROVAL_MS, CLEANUP_TRIES};
use crate::consent::VoidReason;
use crate::event::{CallDecided, CallOutcome, Event, Observation, SandboxHeld};
use crate::ledger::{Amounts, Ledger};
use crate::pins::{Pins, Rules};
use crate::state::{
    Cleanup, Closing, DeniedCall, Dossier, Ended, FailedGate, InFlight, Open, OpenTurn, Stage, State,
};

/// The state after an event. Total: an event that does not fit the state leaves it as it is, apart from being counted.
///
/// Only events that [`step`](crate::step) answered for this very state are ever stored, so none that is replayed fails
/// to fit; a stream in which one does is refused by the verifier, which replays the steps too.
#[must_use]
pub fn evolve(state: State, event: &Event) -> State {
    match (state, event) {
        (State::Vacant, Event::Admitted { pins, at }) => State::Open(Box::new(admitted(pins, *at))),
        (State::Vacant, _) => State::Vacant,
        (State::Open(open), event) => evolve_open(*open, event),
        (State::Closing(closing), event) => evolve_closing(*closing, event),
        (State::Ended(mut ended), _) => {
            ended.dossier.events += 1;
            State::Ended(ended)
        }
    }
}

fn admitted(pins: &Pins, at: UnixMs) -> Open {
    Open {
        dossier: Dossier {
            head: pins.base.tree,
            ledger: Ledger::new(pins.limits, at),
            pins: pins.clone(),
            events: 1,
            plan: None,
            patches: Vec::new(),
            gates: crate::GateBook::default(),
            hidden: Vec::new(),
            attempts: BTreeMap::new(),
            unexplained: None,
            approvals: crate::ApprovalBook::default(),
            turns: 0,
            proposals: 0,
            denials: 0,
            denied: BTreeMap::new(),
            allocations: 0,
            last_observation: None,
        },
        sandbox: None,
        stage: Stage::Sandbox,
    }
}

fn evolve_open(mut open: Open, event: &Event) -> State {
    let position = open.dossier.events;
    open.dossier.events += 1;
    match event {
        Event::SandboxAllocated(held) => hold_sandbox(&mut open.dossier, &mut open.sandbox, held),
        Event::SandboxLost { .. } | Event::SandboxRetired { .. } => open.sandbox = None,
        Event::TurnOpened { turn, reserved } => open_turn(&mut open, *turn, *reserved),
        Event::TurnSettled { charged, .. } => settle_turn(&mut open, *charged),
        Event::PlanAccepted { plan, .. } => {
            open.dossier.proposals += 1;
            open.dossier.plan = Some(plan.clone());
        }
        Event::ProposalDenied { .. } => {
            open.dossier.proposals += 1;
            open.dossier.denials += 1;
        }
        Event::HypothesisRecorded { .. } => open.dossier.unexplained = None,
        Event::CallDecided(decided) => decide(&mut open, decided, position),
        Event::CallObserved { observation, .. } => {
            if let Stage::Call(flight) = &open.stage {
                open.dossier = observe(open.dossier, flight, observation);
            }
            open.stage = Stage::Observed;
            open.dossier.last_observation = Some(observation.clone());
        }
        Event::ApprovalRequested { turn, proposal, digest, capability, expires } => {
            open.stage = Stage::Approval {
                turn: *turn,
                pending: PendingApproval {
                    proposal: proposal.clone(),
                    digest: *digest,
                    capability: *capability,
                    asked_at: position,
                    expires: *expires,
                },
            };
        }
        Event::ApprovalDecided { decision, receipt_expires } => {
            grant(&mut open.dossier, decision, *receipt_expires);
        }
        Event::ApprovalConsumed { receipt, .. } => {
            open.dossier.approvals = open.dossier.approvals.consume(receipt);
        }
        Event::ReceiptVoided { receipt, reason } => void(&mut open.dossier, receipt, *reason),
        Event::HiddenCheckObserved(record) => {
            open.dossier.hidden.push(record.clone());
            if let Stage::HiddenChecks(remaining) = &mut open.stage
                && !remaining.is_empty()
            {
                remaining.remove(0);
            }
        }
        Event::Stopping { reason } => return stop(open, reason.clone()),
        Event::Admitted { .. }
        | Event::ApprovalExpired { .. }
        | Event::LimitReached { .. }
        | Event::CancelRequested { .. }
        | Event::ProcessesTerminated { .. }
        | Event::TraceExported { .. }
        | Event::SandboxDestroyed { .. }
        | Event::CleanupFailed { .. }
        | Event::RevisionMarked { .. }
        | Event::Ended { .. } => {}
    }
    begin_hidden_checks(&mut open, event);
    State::Open(Box::new(open))
}

fn open_turn(open: &mut Open, turn: u32, quote: MicroUsd) {
    let reserved = Amounts::turn(quote);
    open.dossier.turns = turn;
    open.dossier.ledger = open.dossier.ledger.clone().reserve(&reserved);
    open.stage = Stage::Agent(OpenTurn { turn, reserved });
}

fn settle_turn(open: &mut Open, charged: MicroUsd) {
    if let Stage::Agent(turn) = &mut open.stage {
        let used = Amounts::turn(charged);
        open.dossier.ledger = open.dossier.ledger.clone().settle(&turn.reserved, &used);
        turn.reserved = Amounts::default();
    }
}

/// An approved proposal becomes a receipt; one that was not held leaves none.
fn grant(dossier: &mut Dossier, decision: &ApprovalDecision, expires: UnixMs) {
    if decision.verdict == ApprovalVerdict::Approved
        && let Some(held) = dossier.approvals.held(&decision.proposal)
    {
        // Before receipts ended with what they were given for, none had a beginning.
        let spans = dossier.pins.rules >= Rules::Consent;
        let begins = if spans { expires.get().saturating_sub(APPROVAL_MS.get()) } else { 0 };
        let receipt = Receipt {
            id: decision.receipt.clone(),
            proposal: decision.proposal.clone(),
            capability: held.capability,
            arguments: held.arguments,
            target: held.target,
            policy: held.policy,
            approver: decision.approver.clone(),
            begins: UnixMs::new(begins),
            expires,
            consumed: false,
            void: None,
        };
        dossier.approvals = std::mem::take(&mut dossier.approvals).grant(receipt);
    }
}

fn void(dossier: &mut Dossier, receipt: &ReceiptId, reason: VoidReason) {
    dossier.approvals = std::mem::take(&mut dossier.approvals).void(receipt, reason);
}

/// A gate observation that meets acceptance is followed by the hidden checks, where the blueprint has any.
fn begin_hidden_checks(open: &mut Open, event: &Event) {
    if let Event::CallObserved { observation: Observation::GateFinished(_), .. } = event
        && crate::acceptance(&open.dossier) == crate::Acceptance::Met
    {
        let checks = open.dossier.pins.hidden_checks();
        if !checks.is_empty() {
            open.stage = Stage::HiddenChecks(checks);
        }
    }
}

fn hold_sandbox(dossier: &mut Dossier, sandbox: &mut Option<SandboxHeld>, held: &SandboxHeld) {
    dossier.allocations = held.allocation;
    *sandbox = Some(held.clone());
}

fn decide(open: &mut Open, decided: &CallDecided, position: u64) {
    let dossier = &mut open.dossier;
    dossier.proposals += 1;
    match &decided.outcome {
        CallOutcome::Perform => {
            if decided.call.tool() == ToolName::ApplyProjectPatch
                && let Some((gate, _)) = crate::acceptance::current_gate(dossier)
            {
                *dossier.attempts.entry(gate.clone()).or_default() += 1;
            }
            let (attempt, base_tests) = match &decided.call {
                ToolCall::RunNamedGate { gate_id, .. } => (
                    dossier.gates.next_attempt(gate_id),
                    dossier.gates.base_tests(gate_id, dossier.pins.base.tree),
                ),
                _ => (0, None),
            };
            dossier.ledger = dossier.ledger.clone().reserve(&decided.reserved);
            open.stage = Stage::Call(Box::new(InFlight {
                turn: decided.turn,
                call: decided.call.clone(),
                intent: position,
                reserved: decided.reserved,
                tree: dossier.head,
                expected_tree: decided.expected_tree,
                attempt,
                base_tests,
            }));
        }
        CallOutcome::Denied(denial) => {
            dossier.denials += 1;
            let denied = DeniedCall { head: dossier.head, arguments: decided.arguments, code: denial.code };
            dossier.denied.entry(denied).or_insert(decided.turn);
        }
        CallOutcome::Ends { .. } | CallOutcome::OverLimit(_) => dossier.denials += 1,
        CallOutcome::Held(held) => {
            dossier.denials += 1;
            if let Ok(digest) = held.digest() {
                dossier.approvals =
                    std::mem::take(&mut dossier.approvals).hold(proposal_id(digest), (**held).clone());
            }
        }
        CallOutcome::Replayed(observation) => dossier.last_observation = Some((**observation).clone()),
    }
}

/// What a call used up. What did not happen, or not provably, is charged as if it had.
fn settle_call(mut dossier: Dossier, flight: &InFlight, observation: &Observation) -> Dossier {
    let used = match observation {
        Observation::GateFinished(record) => {
            let beside = record.tests.and_then(|tests| tests.base_output_bytes).unwrap_or_default();
            let output = ByteCount::new(record.output.get().saturating_add(beside.get()));
            Amounts { output, ..flight.reserved }
        }
        _ => flight.reserved,
    };
    dossier.ledger = dossier.ledger.settle(&flight.reserved, &used);
    dossier
}

/// What an observation changes: a patch or a gate execution becomes part of the dossier.
fn observe(dossier: Dossier, flight: &InFlight, observation: &Observation) -> Dossier {
    let mut dossier = settle_call(dossier, flight, observation);
    match observation {
        Observation::PatchApplied(patch) => {
            dossier.head = patch.tree;
            dossier.patches.push(patch.clone());
        }
        Observation::GateFinished(record) => {
            dossier.unexplained = (!record.passed()).then(|| FailedGate {
                gate: record.gate.clone(),
                attempt: record.attempt,
                artifact: record.artifact,
            });
            dossier.gates = dossier.gates.with(record.clone());
        }
        _ => {}
    }
    dossier
}

fn stop(open: Open, reason: crate::StopReason) -> State {
    let stopped_in = open.phase();
    let in_flight = match open.stage {
        Stage::Call(flight) => Some(*flight),
        _ => None,
    };
    let cleanup = if open.sandbox.is_some() { Cleanup::Terminate } else { Cleanup::Export };
    State::Closing(Box::new(Closing {
        dossier: open.dossier,
        sandbox: open.sandbox,
        stopped_in,
        reason,
        in_flight,
        cleanup,
        failures: 0,
    }))
}

fn evolve_closing(mut closing: Closing, event: &Event) -> State {
    closing.dossier.events += 1;
    match event {
        Event::SandboxAllocated(held) => {
            hold_sandbox(&mut closing.dossier, &mut closing.sandbox, held);
            closing.cleanup = Cleanup::Terminate;
        }
        Event::CallObserved { observation, .. } => {
            // What a call did after the run began to end is charged and told; the revision stays as it was.
            if let Some(flight) = closing.in_flight.take() {
                closing.dossier = settle_call(closing.dossier, &flight, observation);
            }
            closing.dossier.last_observation = Some(observation.clone());
        }
        Event::ReceiptVoided { receipt, reason } => void(&mut closing.dossier, receipt, *reason),
        Event::ProcessesTerminated { .. } => advance(&mut closing, Cleanup::Export),
        Event::TraceExported { .. } => advance(&mut closing, Cleanup::Destroy),
        Event::SandboxDestroyed { .. } => {
            closing.sandbox = None;
            advance(&mut closing, Cleanup::Settle { proven: true });
        }
        Event::CleanupFailed { .. } => {
            closing.failures += 1;
            if closing.failures >= CLEANUP_TRIES {
                let next = match closing.cleanup {
                    Cleanup::Terminate => Cleanup::Export,
                    Cleanup::Export => Cleanup::Destroy,
                    Cleanup::Destroy | Cleanup::Settle { .. } => Cleanup::Settle { proven: false },
                };
                advance(&mut closing, next);
            }
        }
        Event::Ended { phase, reason } => {
            return State::Ended(Box::new(Ended {
                preview_ready: *phase == crate::Phase::Completed,
                cleanup_proven: closing.cleanup == Cleanup::Settle { proven: true },
                dossier: closing.dossier,
                phase: *phase,
                reason: reason.clone(),
            }));
        }
        _ => {}
    }
    State::Closing(Box::new(closing))
}

fn advance(closing: &mut Closing, next: Cleanup) {
    closing.cleanup = next;
    closing.failures = 0;
}
