//! One turn of the agent: what it reads, and what becomes of its answer.

use std::sync::Arc;

use ambit_broker::BrokerError;
use ambit_ids::{Digest, MicroUsd, RuleId};
use ambit_policy::{Decision, DenialKind, EngineVersion, Request, Verdict};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{AgentError, TurnOffer};
use ambit_run::{
    Answered, AssessedCall, Command, Denial, Move, Proposal, ProposedCall, ToolCall, read_answer,
};

use crate::context::context;
use crate::open_turn::Turn;
use crate::orchestrator::Orchestrator;
use crate::withheld;

/// Answers a turn: from what is queued, or by asking the agent. `None` where it was aborted.
pub(crate) async fn answer(orchestrator: &Orchestrator, turn: Turn, abort: AbortSignal) -> Option<Command> {
    let number = turn.number;
    if let Some((digest, next)) = turn.conversation.next_queued() {
        return Some(propose(orchestrator, &turn, digest, Some(MicroUsd::ZERO), next).await);
    }
    let notes = turn.conversation.notes(&orchestrator.broker, &turn.ground).await;
    let context = context(&turn, &notes, orchestrator.clock.now());
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
                    turn.conversation.answered(digest, moves);
                    first
                }
                Err(denial) => {
                    turn.conversation.answered(digest, Vec::new());
                    Err(denial)
                }
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
    let proposal = match withheld::words(orchestrator.broker.redactor(), next) {
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
    if matches!(decision.verdict, Verdict::NeedsApproval(_)) {
        orchestrator.broker.keep_view(&turn.ground, &assessment.view).await?;
    }
    Ok(AssessedCall {
        call: proposed.call,
        arguments: assessment.arguments,
        step: proposed.step,
        hypothesis: proposed.hypothesis,
        facts: assessment.facts,
        finding: assessment.finding,
        inspection: assessment.view.inspection,
        approval: request.approval,
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
