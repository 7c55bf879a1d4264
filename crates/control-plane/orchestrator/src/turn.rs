//! One turn of the agent: what it reads, and what becomes of its answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_broker::{BrokerError, Ground};
use ambit_ids::{Digest, MicroUsd, RuleId, UnixMs};
use ambit_policy::{Decision, DenialKind, EngineVersion, Request, Verdict};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{AgentError, TurnOffer};
use ambit_run::tool::TOOLS;
use ambit_run::{
    Answered, AssessedCall, CallDecided, CallOutcome, Command, Denial, Dossier, Event, Move, Observation,
    Proposal, ProposedCall, ToolCall, proposal_id, read_answer,
};
use serde_json::{Value, json};

use crate::live::SharedAgent;
use crate::orchestrator::Orchestrator;

/// What a run keeps between turns in memory. Nothing here is needed to go on after a crash.
#[derive(Clone, Default)]
pub(crate) struct Conversation {
    inner: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    /// Calls of an answer that held several; they are taken one a turn, before the agent is asked again.
    queued: VecDeque<(Digest, Result<Move, Denial>)>,
    /// What the agent gets to read of the call before.
    last: Value,
}

impl Conversation {
    pub(crate) fn tell(&self, reply: Value) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).last = reply;
    }

    fn last(&self) -> Value {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).last.clone()
    }

    fn next_queued(&self) -> Option<(Digest, Result<Move, Denial>)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).queued.pop_front()
    }

    fn queue(&self, answer: Digest, moves: Vec<Result<Move, Denial>>) {
        let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        kept.queued.extend(moves.into_iter().map(|next| (answer, next)));
    }
}

/// An open turn, with everything that answering it needs.
pub(crate) struct Turn {
    pub(crate) number: u32,
    pub(crate) dossier: Dossier,
    pub(crate) ground: Ground,
    pub(crate) agent: SharedAgent,
    pub(crate) conversation: Conversation,
}

/// Answers a turn: from what is queued, or by asking the agent. `None` where it was aborted.
pub(crate) async fn answer(orchestrator: &Orchestrator, turn: Turn, abort: AbortSignal) -> Option<Command> {
    let number = turn.number;
    if let Some((digest, next)) = turn.conversation.next_queued() {
        return Some(propose(orchestrator, &turn, digest, Some(MicroUsd::ZERO), next).await);
    }
    let context = context(&turn, orchestrator.clock.now());
    let offer = TurnOffer {
        run: turn.dossier.pins.run.clone(),
        turn: number,
        context: Arc::from(context.to_string()),
    };
    match turn.agent.answer(offer, abort).await {
        Ok(answer) => {
            let digest = Digest::of(&answer.bytes);
            let next = match read_answer(&answer.bytes) {
                Ok(mut moves) => {
                    let first = moves.remove(0);
                    turn.conversation.queue(digest, moves);
                    first
                }
                Err(denial) => Err(denial),
            };
            Some(propose(orchestrator, &turn, digest, answer.cost, next).await)
        }
        Err(AgentError::Finished) => {
            Some(Command::AgentStopped { turn: number, cost: Some(MicroUsd::ZERO), failure: None })
        }
        Err(AgentError::Aborted) => None,
        Err(AgentError::Failed { code, cost, .. }) => {
            Some(Command::AgentStopped { turn: number, cost, failure: Some(code) })
        }
    }
}

async fn propose(
    orchestrator: &Orchestrator,
    turn: &Turn,
    answer: Digest,
    cost: Option<MicroUsd>,
    next: Result<Move, Denial>,
) -> Command {
    let proposal = match next {
        Err(denial) => Proposal::Unusable(denial),
        Ok(Move::Plan(steps)) => Proposal::Plan(steps),
        Ok(Move::Call(proposed)) => match assess(orchestrator, turn, proposed).await {
            Ok(assessed) => Proposal::Call(Box::new(assessed)),
            // What the platform cannot assess is no call of the agent's: the run ends, with the cause by its code.
            Err(error) => {
                let failure = Some(error.code().to_owned());
                return Command::AgentStopped { turn: turn.number, cost, failure };
            }
        },
    };
    Command::Propose(Box::new(Answered { turn: turn.number, cost, answer, proposal }))
}

async fn assess(
    orchestrator: &Orchestrator,
    turn: &Turn,
    proposed: ProposedCall,
) -> Result<AssessedCall, BrokerError> {
    let dossier = &turn.dossier;
    let assessment = orchestrator.broker.assess(&turn.ground, dossier.head, &proposed).await?;
    let request = Request {
        scope: dossier.pins.scope.clone(),
        run: dossier.pins.run.clone(),
        blueprint: dossier.pins.blueprint.digest,
        policy: dossier.pins.policy,
        tool: proposed.call.tool(),
        arguments: assessment.arguments,
        facts: assessment.facts.clone(),
        asked: match &proposed.call {
            ToolCall::RequestScopedApproval { capability, .. } => Some(*capability),
            _ => None,
        },
        approval: dossier.approvals.as_fact(assessment.arguments, orchestrator.clock.now()),
    };
    let (decision, instead) = decide(orchestrator, &request).await?;
    Ok(AssessedCall {
        call: proposed.call,
        arguments: assessment.arguments,
        step: proposed.step,
        hypothesis: proposed.hypothesis,
        facts: assessment.facts,
        finding: assessment.finding,
        decision,
        instead,
    })
}

/// Decides by the policy that the run is pinned to, and keeps the exact request so that the decision can be made again.
/// Answers the decision with what its rules say is possible instead.
async fn decide(orchestrator: &Orchestrator, request: &Request) -> Result<(Decision, String), BrokerError> {
    let bytes = request.to_canonical().map_err(BrokerError::Unwritable)?;
    let input = bytes.digest();
    let blobs = orchestrator.broker.revisions().blobs();
    blobs.put(&request.scope, bytes.into_bytes().into()).await?;
    match orchestrator.policies.engine(&request.scope, request.policy).await {
        Ok(engine) => {
            let decision = engine.decide(request);
            let instead = engine.alternatives(&decision);
            Ok((decision, instead))
        }
        Err(_) => {
            let missing = Decision {
                verdict: Verdict::Deny(DenialKind::Terminating),
                rules: RuleId::new("engine.missing").into_iter().collect(),
                engine: EngineVersion("none".to_owned()),
                input,
            };
            Ok((missing, String::new()))
        }
    }
}

/// What the agent reads: the job, its bounds, what is left of them, the tools, and what came of its last call.
fn context(turn: &Turn, now: UnixMs) -> Value {
    let (dossier, pins) = (&turn.dossier, &turn.dossier.pins);
    let spec = &turn.ground.blueprint.spec;
    let cases: Vec<Value> = spec
        .acceptance_cases
        .iter()
        .map(|case| json!({"id": case.id, "statement": case.statement}))
        .collect();
    let gates: Vec<Value> = pins
        .gates
        .iter()
        .map(|gate| {
            let status = dossier.gates.status(&gate.id, dossier.head);
            json!({"id": gate.id, "cases": gate.cases, "status": status.as_str()})
        })
        .collect();
    let tools: Vec<Value> = TOOLS
        .iter()
        .map(|tool| json!({"name": tool.name, "summary": tool.summary, "input": tool.input_schema()}))
        .collect();
    let limits = crate::view::limit_views(dossier, now);
    let left: serde_json::Map<String, Value> =
        limits.iter().map(|limit| (limit.limit.clone(), json!(limit.left))).collect();
    json!({
        "run": pins.run,
        "turn": turn.number,
        "proposals": dossier.proposals,
        "goal": pins.goal,
        "project": pins.scope.project,
        "revision": pins.revision,
        "baseRevision": pins.base.id,
        "head": dossier.head,
        "acceptanceCases": cases,
        "scope": {"paths": pins.paths, "work": pins.work, "outOfScope": spec.scope.out_of_scope},
        "protected": spec.protected_oracles.paths,
        "gates": gates,
        "plan": dossier.plan.as_ref().map(plan_view),
        "mustExplain": dossier.unexplained.as_ref().map(|failed| json!({"gate": failed.gate, "artifact": failed.artifact})),
        "left": left,
        "tools": tools,
        "last": turn.conversation.last(),
    })
}

fn plan_view(plan: &ambit_run::Plan) -> Value {
    plan.steps()
        .iter()
        .map(|step| json!({"id": step.id, "summary": step.summary, "work": step.work, "cases": step.cases}))
        .collect()
}

/// What the agent gets to read of events that are an answer to it without any effect: a denial with its rule and what is
/// possible instead, a proposal that is held back, a plan that was accepted, a person's answer; and of a call whose effect
/// nobody knows.
pub(crate) fn reply_to(events: &[Event]) -> Option<Value> {
    events.iter().find_map(|event| match event {
        Event::PlanAccepted { .. } => Some(json!({"planAccepted": true})),
        Event::ProposalDenied { denial, .. } => Some(denial_view(denial)),
        Event::CallDecided(decided) => reply_to_decision(decided),
        Event::CallObserved { observation: Observation::Unknown, .. } => Some(json!({"unknown": {
            "detail": "the control plane ended before it learned what came of the last call",
            "instead": "the current digest and the status of the gates tell what is there; propose again what is missing",
        }})),
        Event::ApprovalDecided { decision, .. } => {
            Some(json!({"decision": decision.verdict.as_str(), "receiptId": decision.receipt}))
        }
        _ => None,
    })
}

fn reply_to_decision(decided: &CallDecided) -> Option<Value> {
    match &decided.outcome {
        CallOutcome::Denied(denial) => Some(denial_view(denial)),
        CallOutcome::Held(held) => {
            let digest = held.digest().ok()?;
            Some(json!({"needsApproval": {"proposalId": proposal_id(digest), "capability": held.capability}}))
        }
        CallOutcome::Replayed(observation) => Some(json!({"replayed": replay_view(observation)})),
        CallOutcome::Perform | CallOutcome::Ends(_) | CallOutcome::OverLimit(_) => None,
    }
}

fn denial_view(denial: &Denial) -> Value {
    json!({"denied": {
        "code": denial.code.as_str(),
        "detail": denial.detail,
        "rules": denial.rules,
        "instead": denial.instead,
    }})
}

fn replay_view(observation: &Observation) -> Value {
    match observation {
        Observation::GateFinished(record) => json!({
            "artifactId": record.artifact,
            "durationMs": record.duration,
            "passed": record.ending.is_success(),
        }),
        Observation::PatchApplied(patch) => json!({"changedFiles": patch.files, "revisionSha": patch.tree}),
        _ => Value::Null,
    }
}
