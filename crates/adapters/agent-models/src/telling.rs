//! What a model gets to read of what came of its calls.

use crate::observation::{Denied, Effect, GateRun, Observed};
use crate::quoting::{DATA, in_one_line, in_short, line_count, marked, numbered};

/// The most bytes of a name, a path or a reason in a line of the platform.
const NAME_BYTES: usize = 300;

/// What came of a call, within about so many bytes: in full, or its beginning and its end.
pub(crate) fn in_full(subject: &str, observed: &Observed, room: usize) -> String {
    match observed {
        Observed::Done(effect) => effect_in_full(subject, effect, room),
        Observed::Replayed { replayed: Some(effect) } => {
            let told = effect_in_full(subject, effect, room);
            format!(
                "This was done before on this very tree. Nothing was done again; this came of it then:\n{told}"
            )
        }
        Observed::Denied { denied } => denial(denied, room),
        _ => in_brief(subject, observed),
    }
}

fn effect_in_full(subject: &str, effect: &Effect, room: usize) -> String {
    let head = effect_in_brief(subject, effect);
    match effect {
        Effect::File { content, .. } => format!("{head}\n{}", numbered(content, room)),
        Effect::Files { files: lines, .. } | Effect::Matches { matches: lines, .. } => {
            // A line feed within a path is no end of a line.
            let lines: Vec<String> = lines.iter().map(|line| in_one_line(line)).collect();
            format!("{head}\n{}", marked(&lines.join("\n"), DATA, room))
        }
        Effect::Gate(run) => gate_in_full(subject, run, room),
        Effect::Patched { .. } => format!("{head}\nThe gates have to run again on the new tree."),
        Effect::Verdict { .. } => head,
    }
}

/// How a gate ended, and what it printed.
pub(crate) fn gate_in_full(subject: &str, run: &GateRun, room: usize) -> String {
    let mut text = format!("{}\n", gate_in_brief(subject, run));
    let failures = run.summary.iter().flat_map(|summary| &summary.failures);
    let found: Vec<String> = failures
        .map(|failure| {
            let test = failure.test.as_deref().map(|test| format!("{test}: ")).unwrap_or_default();
            in_one_line(&format!("{test}{}: {}", failure.class, failure.message))
        })
        .collect();
    if !found.is_empty() {
        text.push_str("What its output says about failures:\n");
        text.push_str(&marked(&found.join("\n"), DATA, room / 4));
    }
    let part = if run.truncated { "Both ends of its output:\n" } else { "Its output:\n" };
    text.push_str(part);
    text.push_str(&marked(&run.output, DATA, room * 3 / 4));
    text
}

/// What came of a call, in a line or a few.
pub(crate) fn in_brief(subject: &str, observed: &Observed) -> String {
    match observed {
        Observed::Done(effect) => effect_in_brief(subject, effect),
        Observed::Replayed { replayed: Some(effect) } => {
            format!("{} (as before)", effect_in_brief(subject, effect))
        }
        Observed::Replayed { replayed: None } => format!("{subject}: done before, and not again"),
        Observed::Denied { denied } => {
            format!("{subject}: denied, {}", in_short(&denied.code, NAME_BYTES))
        }
        Observed::Held { needs_approval: held } => format!(
            "{subject}: held back{found}, it needs a person's approval of {capability}. To ask, call \
             request_scoped_approval with the proposalId {proposal} and the capability {capability}, and say why; once \
             approved, propose exactly the same call again. Or do without it.",
            found = match in_short(&held.detail, NAME_BYTES) {
                detail if detail.is_empty() => String::new(),
                detail => format!(" ({detail})"),
            },
            capability = in_short(&held.capability, NAME_BYTES),
            proposal = in_short(&held.proposal_id, NAME_BYTES),
        ),
        Observed::Failed { failed } => format!(
            "{subject}: a part of the platform failed ({}: {}). The proposal was not at fault; it can be made again.",
            in_short(&failed.code, NAME_BYTES),
            in_short(&failed.detail, NAME_BYTES),
        ),
        Observed::Unknown { unknown } => format!(
            "{subject}: unknown; {}. {}",
            in_short(&unknown.detail, NAME_BYTES),
            in_short(&unknown.instead, NAME_BYTES)
        ),
        Observed::PlanAccepted { plan_accepted: true } => "The plan is accepted.".to_owned(),
        Observed::PlanAccepted { plan_accepted: false } => "The plan is not accepted.".to_owned(),
        Observed::Decided { decision } => match decision.as_str() {
            "approved" => "A person approved it, once. Propose exactly the same call again now.".to_owned(),
            _ => "A person did not approve it. Do without it.".to_owned(),
        },
        Observed::Other(value) => format!("{subject}: {}", in_short(&value.to_string(), NAME_BYTES)),
    }
}

fn effect_in_brief(subject: &str, effect: &Effect) -> String {
    let more = |truncated: &bool| if *truncated { ", and more that is not shown" } else { "" };
    match effect {
        Effect::File { content, sha256, truncated } => {
            let end = if content.ends_with('\n') || content.is_empty() || *truncated {
                ""
            } else {
                ", no line feed at the end"
            };
            format!("{subject}: {} lines{end}, {sha256}{}", line_count(content), more(truncated))
        }
        Effect::Files { files, truncated } => {
            format!("{subject}: {} files{}", files.len(), more(truncated))
        }
        Effect::Matches { matches, truncated } => {
            format!("{subject}: {} lines{}", matches.len(), more(truncated))
        }
        Effect::Patched { changed_files, revision_sha } => format!(
            "{subject}: applied to {}; the tree is now {}",
            in_short(&changed_files.join(", "), NAME_BYTES),
            in_short(revision_sha, NAME_BYTES)
        ),
        Effect::Gate(run) => gate_in_brief(subject, run),
        Effect::Verdict { passed } => {
            format!("{subject}: {}", if *passed { "passed" } else { "failed" })
        }
    }
}

fn gate_in_brief(subject: &str, run: &GateRun) -> String {
    let ending = match (&run.error_class, run.exit_code) {
        (Some(class), -1) => in_short(class, NAME_BYTES),
        (Some(class), code) if class != "failed" => format!("exit {code}, {}", in_short(class, NAME_BYTES)),
        (_, code) => format!("exit {code}"),
    };
    let verdict = if run.passed() { "passed" } else { "failed" };
    format!("{subject}: {verdict} ({ending}) after {} ms", run.duration_ms)
}

/// A denial: the code, why, by which rule, and what is possible instead.
pub(crate) fn denial(denied: &Denied, room: usize) -> String {
    let mut text = format!("Denied: {}. Nothing was done.\n", in_short(&denied.code, NAME_BYTES));
    if !denied.detail.is_empty() {
        // What is wrong may quote the proposal, or the file that it does not fit.
        text.push_str("Why:\n");
        text.push_str(&marked(&denied.detail, DATA, room / 2));
    }
    if !denied.rules.is_empty() {
        text.push_str(&format!("By the rules: {}\n", in_short(&denied.rules.join(", "), NAME_BYTES)));
    }
    if !denied.instead.is_empty() {
        text.push_str(&format!("Instead: {}\n", in_short(&denied.instead, room / 4)));
    }
    text
}
