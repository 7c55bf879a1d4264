//! What an agent reads of a run when it is asked.

use ambit_gates::Ending;
use ambit_ids::{ProposalId, UnixMs};
use ambit_run::tool::TOOLS;
use ambit_run::{Dossier, GatePin};
use serde_json::{Value, json};

use crate::open_turn::Turn;

/// What the agent reads: the job, its bounds, what is left of them, the tools, and what came of its calls since it
/// was last asked.
pub(crate) fn context(turn: &Turn, notes: &Value, now: UnixMs) -> Value {
    let (dossier, pins) = (&turn.dossier, &turn.dossier.pins);
    let spec = &turn.ground.blueprint.spec;
    let cases: Vec<Value> = spec
        .acceptance_cases
        .iter()
        .map(|case| json!({"id": case.id, "statement": case.statement}))
        .collect();
    let tools: Vec<Value> = TOOLS
        .iter()
        .map(|tool| json!({"name": tool.name, "summary": tool.summary, "input": tool.input_schema()}))
        .collect();
    let since = turn.conversation.since();
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
        "gates": gates(dossier),
        "plan": dossier.plan.as_ref().map(plan_view),
        "changedFiles": dossier.changed_files(),
        "mustExplain": dossier.unexplained.as_ref().map(|failed| {
            json!({"gate": failed.gate, "attempt": failed.attempt, "artifact": failed.artifact})
        }),
        "held": held(dossier),
        "left": left,
        "tools": tools,
        "notes": notes,
        "last": since.last().and_then(|told| told.get("reply")),
        "since": since,
    })
}

fn plan_view(plan: &ambit_run::Plan) -> Value {
    plan.steps()
        .iter()
        .map(|step| json!({"id": step.id, "summary": step.summary, "work": step.work, "cases": step.cases}))
        .collect()
}

/// The gates from cheap to dear: where each stands on the current tree, how often it ran in this run, and, where it came to
/// an ending of its own on this tree, the key under which that execution is answered again.
fn gates(dossier: &Dossier) -> Vec<Value> {
    let view = |gate: &GatePin| {
        let records = dossier.gates.records().iter().filter(|record| record.gate == gate.id);
        let here = records.clone().rev().find(|record| {
            let by_itself =
                !matches!(record.ending, Ending::Aborted | Ending::NotStarted { .. } | Ending::Indeterminate);
            record.tree == dossier.head && by_itself
        });
        json!({
            "id": gate.id,
            "cases": gate.cases,
            "status": dossier.gates.status(&gate.id, dossier.head).as_str(),
            "runs": records.count(),
            "ranAs": here.map(|record| &record.key),
        })
    };
    dossier.pins.gates.iter().map(view).collect()
}

/// The proposals that wait for somebody to ask a person, on the current tree.
fn held(dossier: &Dossier) -> Vec<Value> {
    let granted = |id: &ProposalId| dossier.approvals.receipts().any(|receipt| receipt.proposal == *id);
    dossier
        .approvals
        .proposals()
        .filter(|(id, held)| held.target == dossier.head && !granted(id))
        .map(|(id, held)| json!({"proposalId": id, "capability": held.capability}))
        .collect()
}
