//! What an agent gets to read of what it proposed, where nothing was performed.

use ambit_broker::{Broker, Ground};
use ambit_ids::written_out;
use ambit_policy::{Capability, DenialKind};
use ambit_run::{CallDecided, CallOutcome, Denial, DenialCode, Event, GateRecord, Observation, proposal_id};
use serde_json::{Value, json};

/// What an agent gets to read of the events of one step; `None` where they are no answer to it. A gate that ran before is
/// told with what it printed then.
pub(crate) async fn reply(broker: &Broker, ground: &Ground, events: &[Event]) -> Option<Value> {
    if let Some(record) = events.iter().find_map(replayed_gate)
        && let Ok(Value::Object(mut members)) = broker.recall_gate(ground, record).await
    {
        members.insert("passed".to_owned(), json!(record.passed()));
        return Some(json!({"replayed": members}));
    }
    with_voided(reply_to(events)?, events)
}

/// Names the receipts that ended in the same step, each with its reason.
fn with_voided(mut told: Value, events: &[Event]) -> Option<Value> {
    let ended: Vec<Value> = events
        .iter()
        .filter_map(|event| match event {
            Event::ReceiptVoided { receipt, reason } => Some(json!({"receiptId": receipt, "reason": reason})),
            _ => None,
        })
        .collect();
    if !ended.is_empty() {
        told["voided"] = Value::Array(ended);
    }
    Some(told)
}

fn replayed_gate(event: &Event) -> Option<&GateRecord> {
    let Event::CallDecided(decided) = event else { return None };
    let CallOutcome::Replayed(observation) = &decided.outcome else { return None };
    match observation.as_ref() {
        Observation::GateFinished(record) => Some(record),
        _ => None,
    }
}

/// What the agent gets to read of events that are an answer to it without any effect: a denial with its rule and what is
/// possible instead, a proposal that is held back, a plan that was accepted, a person's answer; and of a call whose effect
/// nobody knows.
fn reply_to(events: &[Event]) -> Option<Value> {
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
            let found: Vec<String> = decided.facts.iter().map(ToString::to_string).collect();
            Some(json!({"needsApproval": {
                "proposalId": proposal_id(digest),
                "capability": held.capability,
                "detail": written_out(&found.join("; ")),
                "rules": decided.decision.rules,
                "instead": instead_of(held.capability),
            }}))
        }
        CallOutcome::Replayed(observation) => Some(json!({"replayed": replay_view(observation)})),
        CallOutcome::Ends { rules, instead } => Some(json!({"denied": {
            "code": DenialCode::PolicyDenied.as_str(),
            "kind": DenialKind::Terminating,
            "rules": rules,
            "instead": instead,
        }})),
        CallOutcome::Perform | CallOutcome::OverLimit(_) => None,
    }
}

/// What is possible where a person's approval is missing.
const fn instead_of(capability: Capability) -> &'static str {
    match capability {
        Capability::CheckSilence => {
            "take the directive out and change the source, or ask a person for the approval of exactly this patch"
        }
        Capability::DependencyAdd => {
            "use what is there, or ask a person for the approval of exactly this patch"
        }
        _ => "do without it, or ask a person for the approval of exactly this call",
    }
}

fn denial_view(denial: &Denial) -> Value {
    json!({"denied": {
        "code": denial.code.as_str(),
        "kind": DenialKind::Call,
        "detail": written_out(&denial.detail),
        "rules": denial.rules,
        "instead": denial.instead,
    }})
}

fn replay_view(observation: &Observation) -> Value {
    match observation {
        Observation::GateFinished(record) => json!({
            "artifactId": record.artifact,
            "durationMs": record.duration,
            "passed": record.passed(),
        }),
        Observation::PatchApplied(patch) => json!({"changedFiles": patch.files, "revisionSha": patch.tree}),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_in_a_denial_is_written_out() {
        let told = |detail: &str| {
            denial_view(&Denial::new(DenialCode::PolicyDenied, detail))["denied"]["detail"].clone()
        };
        assert_eq!(told("a\u{202e}b\u{200b}c\u{e0041}d\u{1b}e"), r"a\u{202e}b\u{200b}c\u{e0041}d�e");
        assert_eq!(told("no such gate: unit"), "no such gate: unit");
    }
}
