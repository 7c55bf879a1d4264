//! What a model is told of the run itself: what is wanted within which bounds, once, and where the run stands, every turn.

use std::fmt::Write as _;

use crate::allowance::ContextAllowance;
use crate::history::History;
use crate::prompts;
use crate::quoting::{DATA, WANTED, in_short, marked};
use crate::telling;
use crate::turn_context::{Notes, TurnContext};

/// One of how many parts of a request each of these may take at the most. Together with the instructions and the tools they
/// leave room for the conversation.
const GOAL: usize = 16;
const CASES: usize = 16;
const NOTES: usize = 12;
const PLAN: usize = 16;
const FOLDED: usize = 24;
const GATES: usize = 32;
const LAST: usize = 32;
const LIST: usize = 64;
/// The most that are told of what there is hardly ever more than one of.
const FEW: usize = 4;

/// The bytes that the list of what is no longer shown may take.
pub(crate) const fn folded_bytes(allowance: ContextAllowance) -> usize {
    allowance.share(FOLDED)
}

/// The bytes that the last failure and the last denial may take, each.
pub(crate) const fn last_bytes(allowance: ContextAllowance) -> usize {
    allowance.share(LAST) + 1024
}

/// The beginning of the conversation. It stays the same until something of the conversation is no longer shown.
pub(crate) fn opening(context: &TurnContext, history: &History, allowance: ContextAllowance) -> String {
    let mut text = String::from("# What is wanted\n\n");
    text.push_str(&marked(&context.goal, WANTED, allowance.share(GOAL)));
    text.push_str("\nAcceptance cases:\n");
    let cases: Vec<String> =
        context.acceptance_cases.iter().map(|case| format!("{}: {}", case.id, case.statement)).collect();
    text.push_str(&marked(&cases.join("\n"), WANTED, allowance.share(CASES)));
    text.push_str("\n# Bounds\n\n");
    let room = allowance.share(LIST);
    for (name, values) in [
        ("Paths in scope", &context.scope.paths),
        ("Protected paths, which no patch may touch", &context.protected),
        ("Kinds of work in scope", &context.scope.work),
        ("Out of scope", &context.scope.out_of_scope),
    ] {
        if !values.is_empty() {
            let _ = writeln!(text, "{name}: {}", in_short(&values.join(", "), room));
        }
    }
    if let Some(notes) = &context.notes {
        text.push_str(&quoted_notes(notes, allowance));
    }
    let folded = history.folded(folded_bytes(allowance));
    if !folded.is_empty() {
        let _ = write!(text, "\n# What was done so far and is no longer shown\n\n{folded}");
    }
    text
}

fn quoted_notes(notes: &Notes, allowance: ContextAllowance) -> String {
    match notes {
        Notes::Read { path, text, truncated } => {
            let more = if *truncated { "[the file goes on; read it for the rest]\n" } else { "" };
            let quote = marked(text, DATA, allowance.share(NOTES));
            format!("\n# Notes of the project: {}\n\n{}\n{quote}{more}", in_short(path, 200), prompts::NOTES)
        }
        Notes::Unreadable { path, unreadable } => format!(
            "\n# Notes of the project\n\n{} could not be read ({}).\n",
            in_short(path, 200),
            in_short(unreadable, 200)
        ),
    }
}

/// Where the run stands.
pub(crate) fn state(context: &TurnContext, history: &History, allowance: ContextAllowance) -> String {
    let mut text = format!("# State of the run, turn {}\n\n", context.turn);
    if history.is_empty() && context.proposals > 0 {
        let _ = writeln!(text, "{}", prompts::RESUMED);
    }
    for news in history.news().iter().take(FEW) {
        let _ = writeln!(text, "{}", telling::in_full("The last call", news, allowance.share(LAST)));
    }
    let changed = match context.changed_files.as_slice() {
        [] => "nothing is changed yet".to_owned(),
        files => format!("changed: {}", in_short(&files.join(", "), allowance.share(LIST))),
    };
    let _ = writeln!(text, "Tree: {} ({changed})", context.head);
    text.push_str(&plan(context, allowance));
    text.push_str(&gates(context, allowance));
    if let Some(failure) = history.hidden_failure() {
        let _ = write!(text, "Last failure: {}", failure.told(allowance.share(LAST)));
    }
    if let Some(denial) = history.hidden_denial() {
        let _ = write!(text, "Last denial: {}", denial.told(allowance.share(LAST)));
    }
    for held in context.held.iter().take(FEW) {
        let _ = writeln!(
            text,
            "Held back until a person approves: {} ({})",
            in_short(&held.proposal_id, 80),
            in_short(&held.capability, 80)
        );
    }
    let left: Vec<String> = context.left.iter().map(|(limit, left)| format!("{limit} {left}")).collect();
    let _ = writeln!(text, "Left: {}", in_short(&left.join(", "), allowance.share(LIST)));
    let _ = write!(text, "Next: {}", next(context));
    text
}

fn plan(context: &TurnContext, allowance: ContextAllowance) -> String {
    let Some(steps) = &context.plan else { return "Plan: none is accepted yet\n".to_owned() };
    let steps: Vec<String> = steps
        .iter()
        .map(|step| format!("{} ({}; {}): {}", step.id, step.work, step.cases.join(", "), step.summary))
        .map(|line| in_short(&line, allowance.share(PLAN)))
        .collect();
    format!("Plan, in your words:\n{}", marked(&steps.join("\n"), DATA, allowance.share(PLAN)))
}

fn gates(context: &TurnContext, allowance: ContextAllowance) -> String {
    let status = |status: &str| match status {
        "not-run" => "not run on this tree".to_owned(),
        "passed" => "passed on this tree".to_owned(),
        "failed" => "failed on this tree".to_owned(),
        "flaky" => "both passed and failed on this tree, which is no pass".to_owned(),
        other => in_short(other, 80),
    };
    let gates: Vec<String> = context
        .gates
        .iter()
        .map(|gate| format!("- {} ({}): {}\n", gate.id, gate.cases.join(", "), status(&gate.status)))
        .collect();
    let mut text = String::from("Gates, from cheap to dear:\n");
    let mut left = allowance.share(GATES);
    for (index, line) in gates.iter().enumerate() {
        match left.checked_sub(line.len()) {
            Some(rest) => left = rest,
            None => {
                let _ = writeln!(text, "[{} more gates]", gates.len() - index);
                break;
            }
        }
        text.push_str(line);
    }
    text
}

/// What the platform waits for.
fn next(context: &TurnContext) -> String {
    if context.plan.is_none() {
        return "look around as far as you need, then propose a plan with propose_plan.".to_owned();
    }
    if let Some(failed) = &context.must_explain {
        return format!(
            "{} failed (attempt {}); the next patch must come with a hypothesis of the cause.",
            in_short(&failed.gate, 80),
            failed.attempt
        );
    }
    let Some(gate) = context.gates.iter().find(|gate| gate.status != "passed") else {
        return "every gate passed on this tree.".to_owned();
    };
    let name = in_short(&gate.id, 80);
    match gate.status.as_str() {
        "not-run" => format!("patch what is missing; then {name} is the first gate to run."),
        _ => format!("{name} does not pass on this tree; patch the cause, then run it again."),
    }
}
