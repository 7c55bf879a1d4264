//! What an agent asked for and what came of it, as the records of its run tell it.

use ambit_evidence::Link;
use ambit_ids::Digest;
use ambit_policy::ToolName;
use ambit_run::{CallOutcome, Dossier, Event};
use serde::Serialize;
use serde_json::{Value, json};

use crate::text::line;

/// A proposal of an agent. Holds no content and none of its words.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call {
    /// The record that decided it.
    record: u64,
    /// The tool; `None` where it was no call that could be decided.
    tool: Option<ToolName>,
    /// The digest of its exact arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Digest>,
    /// `allowed`, `denied`, `held`, `repeated`, `ended-the-run` or `over-limit`.
    outcome: &'static str,
    /// The same in a few words.
    decided: String,
    /// What was seen of its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<String>,
}

/// Every proposal of a run, in order.
pub(crate) fn calls(links: &[Link]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for link in links {
        let Ok(event) = link.record.event() else { continue };
        let said = line(&event).unwrap_or_default();
        match event {
            Event::CallDecided(decided) => calls.push(Call {
                record: link.record.seq,
                tool: Some(decided.call.tool()),
                arguments: Some(decided.arguments),
                outcome: word(&decided.outcome),
                decided: said,
                observed: None,
            }),
            Event::ProposalDenied { was_plan: false, .. } => calls.push(Call {
                record: link.record.seq,
                tool: None,
                arguments: None,
                outcome: "denied",
                decided: said,
                observed: None,
            }),
            Event::CallObserved { .. } => {
                if let Some(call) = calls.last_mut() {
                    call.observed = Some(said);
                }
            }
            _ => {}
        }
    }
    calls
}

/// An outcome in one word.
pub(crate) const fn word(outcome: &CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Perform => "allowed",
        CallOutcome::Denied(_) => "denied",
        CallOutcome::Held(_) => "held",
        CallOutcome::Replayed(_) => "repeated",
        CallOutcome::Ends { .. } => "ended-the-run",
        CallOutcome::OverLimit(_) => "over-limit",
    }
}

/// The calls as a section of a page.
pub(crate) fn section(calls: &[Call]) -> String {
    let mut text = String::from("calls\n");
    for call in calls {
        text.push_str(&format!("  {:>4}  {}\n", call.record, call.decided));
        if let Some(observed) = &call.observed {
            text.push_str(&format!("        {observed}\n"));
        }
    }
    if calls.is_empty() {
        text.push_str("  none\n");
    }
    text
}

/// The patches that led from the base to the current tree, in order.
pub(crate) fn patches(dossier: &Dossier) -> Vec<Value> {
    let patches = dossier.patches.iter();
    patches
        .map(|patch| {
            json!({
                "base": patch.base, "tree": patch.tree, "proposed": patch.proposed, "canonical": patch.canonical,
                "files": patch.files,
            })
        })
        .collect()
}
