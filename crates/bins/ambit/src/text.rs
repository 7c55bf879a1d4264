//! How events and runs read for people. Nothing here may show a secret, a file's content or an agent's reasoning.

use std::fmt::Write as _;

use ambit_evidence::v1::ProjectBody;
use ambit_ids::UnixMs;
use ambit_orchestrator::{ApprovalView, LimitView, RunView, ended};
use ambit_redaction::Redactions;
use ambit_revision::LineCounts;
use ambit_run::{CallDecided, CallOutcome, Event, Observation, ToolCall};

use crate::context::ambit;
use crate::ending::Ending;
use crate::terminal::counted;

/// What a person reads of an event; `None` for events that only keep the books.
pub(crate) fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Admitted { pins, .. } => {
            format!("admitted   {} on {} with {}", pins.run, pins.base.id, pins.blueprint.id)
        }
        Event::SandboxAllocated(held) => format!("sandbox    {} is ready", held.lease),
        Event::SandboxLost { .. } => "sandbox    is lost; another one is made".to_owned(),
        Event::SandboxRetired { .. } => {
            "sandbox    is given back; another one is made for the hidden checks".to_owned()
        }
        Event::PlanAccepted { plan, .. } => {
            format!("plan       accepted, {}", counted(plan.steps().len(), "step"))
        }
        Event::ProposalDenied { denial, .. } => format!("denied     {denial}"),
        Event::HypothesisRecorded { text, .. } => format!("hypothesis {}", first_line(text)),
        Event::CallDecided(decided) => decision(decided),
        Event::CallObserved { observation, .. } => observed(observation),
        Event::ApprovalRequested { proposal, capability, digest, .. } => {
            format!("approval   {capability} is needed for {proposal}, digest {digest}")
        }
        Event::ApprovalDecided { decision, .. } => {
            format!("approval   {} by {}", decision.verdict.as_str(), decision.approver)
        }
        Event::ReceiptVoided { reason, .. } => format!("approval   void before it was used: {reason}"),
        Event::ApprovalExpired { .. } => "approval   no decision reached the run in time".to_owned(),
        Event::LimitReached { limit } => format!("budget     {limit} is reached"),
        Event::CancelRequested { by } => format!("cancel     asked for by {by}"),
        Event::Stopping { reason } => format!("stopping   {reason}"),
        Event::ProcessesTerminated { killed, .. } => {
            format!("cleanup    {killed} {} stopped", if *killed == 1 { "process" } else { "processes" })
        }
        Event::TraceExported { artifact } => format!("cleanup    trace kept as {}", artifact.short()),
        Event::SandboxDestroyed { .. } => "cleanup    nothing of the sandbox is left".to_owned(),
        Event::CleanupFailed { code } => format!("cleanup    failed: {code}"),
        Event::RevisionMarked { revision, preview_ready, .. } => {
            format!(
                "revision   {revision} is {}",
                if *preview_ready { "preview-ready" } else { "not eligible" }
            )
        }
        Event::Ended { phase, reason } => format!("{:<10} {reason}", phase.as_str()),
        Event::HiddenCheckObserved(_)
        | Event::TurnOpened { .. }
        | Event::TurnSettled { .. }
        | Event::ApprovalConsumed { .. } => return None,
    })
}

fn decision(decided: &CallDecided) -> String {
    let call = call(&decided.call);
    match &decided.outcome {
        CallOutcome::Perform => format!("allowed    {call}"),
        CallOutcome::Denied(denial) => format!("denied     {call}: {denial}"),
        CallOutcome::Held(held) => format!("held       {call}: {} needs an approval", held.capability),
        CallOutcome::Replayed(_) => format!("repeated   {call}: the original effect is the answer"),
        CallOutcome::Ends { .. } => {
            let facts: Vec<String> = decided.facts.iter().map(ToString::to_string).collect();
            format!("denied     {call}: {}", facts.join("; "))
        }
        CallOutcome::OverLimit(limit) => format!("refused    {call}: {limit}"),
    }
}

/// A call in a few words. What an agent says in it is not told.
pub(crate) fn call(call: &ToolCall) -> String {
    match call {
        ToolCall::ReadProjectFile { path, project_id, .. } => format!("read {path} of {project_id}"),
        ToolCall::ListProjectFiles { .. } => "list files".to_owned(),
        ToolCall::SearchProjectText { .. } => "search text".to_owned(),
        ToolCall::ApplyProjectPatch { patch, .. } => format!("patch {}", patch.short()),
        ToolCall::RunNamedGate { gate_id, .. } => format!("gate {gate_id}"),
        ToolCall::RequestScopedApproval { capability, .. } => format!("ask for {capability}"),
    }
}

/// How many secrets were taken out; nothing where there were none.
fn withheld(redactions: Option<&Redactions>) -> String {
    match redactions.map_or(0, Redactions::total) {
        0 => String::new(),
        taken => format!(", {taken} redacted"),
    }
}

fn observed(observation: &Observation) -> String {
    match observation {
        Observation::FileRead { path, bytes, redactions, .. } => {
            format!("read       {path}, {bytes}{}", withheld(redactions.as_ref()))
        }
        Observation::FilesListed { count, .. } => format!("listed     {count} files"),
        Observation::TextFound { count, redactions, .. } => {
            format!("found      {count} places{}", withheld(redactions.as_ref()))
        }
        Observation::PatchApplied(patch) => {
            let files: Vec<String> = patch.files.iter().map(ToString::to_string).collect();
            format!("patched    {} -> {}", files.join(", "), patch.tree.short())
        }
        Observation::GateFinished(record) => format!(
            "gate       {} attempt {}: {} in {}, kept as {}{}",
            record.gate,
            record.attempt,
            ended(record),
            record.duration,
            record.artifact.short(),
            withheld(record.redactions.as_ref())
        ),
        Observation::ApprovalAnswered { verdict, receipt } => {
            format!("answered   {} ({receipt})", verdict.as_str())
        }
        Observation::Failed { code } => format!("failed     {code}"),
        Observation::Unknown => "unknown    the process ended between intent and observation".to_owned(),
    }
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// What a page tells of a run beyond its view.
#[derive(Default)]
pub(crate) struct Sections {
    /// Every call; empty where whoever looks was told of them as they came.
    pub(crate) calls: String,
    /// What its gates kept and what was refused of it.
    pub(crate) outputs: String,
    /// What a person is asked.
    pub(crate) asked: String,
    /// How far the tree is from the base.
    pub(crate) lines: Option<LineCounts>,
    /// What it cost.
    pub(crate) cost: String,
    /// Why it ended, in words.
    pub(crate) ending: Option<Ending>,
}

/// A run as a page of text. Whoever followed it gets the short form, which is about what came of it.
pub(crate) fn run_page(view: &RunView, sections: &Sections, is_short: bool, now: UnixMs) -> String {
    let Sections { calls, outputs, asked, lines, cost, ending } = sections;
    let mut page = String::new();
    let name = view.name.as_deref().map(|name| format!("{name}  ")).unwrap_or_default();
    let _ = writeln!(page, "{name}{}  {}", view.run, view.phase);
    if let Some(reason) = &view.stop_reason {
        let _ = writeln!(page, "reason       {reason}");
    }
    if let Some(Ending { why, mend }) = ending {
        let _ = writeln!(page, "             {why}{}", left_of_limit(view));
        let _ = writeln!(page, "mend         {mend}");
    }
    let _ = writeln!(page, "goal         {}", first_line(&view.goal));
    if view.awaiting != "nobody" {
        let article = if view.awaiting == "person" { "a" } else { "the" };
        let _ = writeln!(page, "waits for    {article} {}: {}", view.awaiting, view.awaiting_what);
    }
    if !is_short {
        let (blueprint, digest) = (&view.pins.blueprint, view.pins.blueprint_digest.short());
        let _ = writeln!(page, "blueprint    {blueprint} {digest}");
    }
    let _ =
        writeln!(page, "revision     {} on {}, tree {}", view.revision, view.pins.base, view.head.short());
    if !is_short {
        let _ = writeln!(page, "profile      {}", view.pins.profile);
        let _ = writeln!(page, "backend      {}", view.pins.backend);
    }
    page.push_str(&plan_and_gates(view));
    page.push_str(outputs);
    if !view.changed_files.is_empty() {
        let counts = lines.map(|lines| format!(", +{} -{}", lines.added, lines.removed));
        let files = counted(view.changed_files.len(), "file");
        let _ = writeln!(page, "changed      {files}{}", counts.unwrap_or_default());
        for path in &view.changed_files {
            let _ = writeln!(page, "  {path}");
        }
    }
    page.push_str(calls);
    page.push_str(cost);
    if !is_short {
        page.push_str(&budget_left(view));
    }
    for approval in &view.approvals {
        let _ = writeln!(page, "approval     {}", standing(approval));
        if approval.expected_sequence.is_some() {
            let _ = write!(page, "{asked}{}", how_to_decide(view, approval));
        }
    }
    if let Some(last) = view.last_observation.as_ref().filter(|_| !is_short) {
        let _ = writeln!(page, "last seen    {last}");
    }
    if view.preview_ready {
        let _ = writeln!(
            page,
            "\n{} is preview-ready. That is not validated, not deployed and not safe for live users.",
            view.revision
        );
    }
    if !is_short {
        let _ = writeln!(page, "as of        {now}");
    }
    page
}

/// What was left of the limit that ended a run, if one did.
fn left_of_limit(view: &RunView) -> String {
    let named = |limit: &&LimitView| {
        view.stop_reason.as_deref().is_some_and(|reason| reason == format!("budget ({})", limit.limit))
    };
    view.remaining_budget
        .iter()
        .find(named)
        .map(|limit| format!("; left: {}", left(limit)))
        .unwrap_or_default()
}

fn plan_and_gates(view: &RunView) -> String {
    let mut page = String::new();
    if !view.plan.is_empty() {
        let _ = writeln!(page, "plan");
        for step in &view.plan {
            let _ = writeln!(
                page,
                "  {:<12} {} ({}; {})",
                step.id,
                first_line(&step.summary),
                step.work,
                step.cases.join(", ")
            );
        }
    }
    let _ = writeln!(page, "gates");
    for gate in &view.gates {
        let state = if gate.running { "running" } else { &gate.status };
        let attempts: Vec<&str> = gate.attempts.iter().map(|attempt| attempt.ended.as_str()).collect();
        let row = format!("  {:<28} {:<8} {}", gate.gate, state.replace('-', " "), attempts.join(", "));
        let _ = writeln!(page, "{}", row.trim_end());
    }
    page
}

fn budget_left(view: &RunView) -> String {
    let mut page = String::from("budget left\n");
    for limit in &view.remaining_budget {
        let _ = writeln!(page, "  {:<34} {}", limit.limit, left(limit));
    }
    page
}

/// How a command about this run begins.
fn ambit_of(view: &RunView) -> String {
    ambit(&view.organization, &view.project)
}

/// What whoever followed a run may want to do now: look, accept, ask for more, keep, check.
pub(crate) fn next_steps(view: &RunView) -> String {
    let (ambit, named) = (ambit_of(view), view.name.as_deref().unwrap_or(view.run.as_str()));
    let (base, revision) = (&view.pins.base, &view.revision);
    let look = format!("{ambit} revision diff {base} {revision}");
    let mut text = String::new();
    if view.preview_ready {
        let case = view.plan.first().and_then(|step| step.cases.first()).map_or("CASE", String::as_str);
        let _ = writeln!(text, "look         {look}");
        let _ = writeln!(text, "accept       {look} --patch | git apply");
        let _ = writeln!(text, "revise       {ambit} run revise {named} \"WISH\" --case {case}");
        let _ = writeln!(text, "export       {ambit} run export {named} --out DIR");
        let _ = writeln!(text, "verify       {ambit} trace verify {named}");
    } else if view.stop_reason.is_some() {
        let kept = if view.changed_files.is_empty() {
            "the trace; no file was changed"
        } else {
            "the trace, and the revision as it was left, which is not preview-ready"
        };
        let _ = writeln!(text, "kept         {kept}; {base} is as it was");
        let _ = writeln!(text, "next         {ambit} run show {named}   every decision");
        let failed = view.gates.iter().find(|gate| !gate.attempts.is_empty() && gate.status != "passed");
        if let Some(failed) = failed {
            let gate = &failed.gate;
            let _ = writeln!(text, "             {ambit} gate show {named} {gate}   what the gate said");
        }
        if !view.changed_files.is_empty() {
            let _ = writeln!(text, "             {look}   what was changed");
        }
    }
    text
}

/// What is said of a run that nobody drives: why, as far as it is known, and what goes on with it, by the agent that this
/// option names.
pub(crate) fn left_alone(view: &RunView, is_gone: bool, agent: &str) -> String {
    let (ambit, named) = (ambit_of(view), view.name.as_deref().unwrap_or(view.run.as_str()));
    let why =
        if is_gone { "the process that drove it is gone" } else { "no process holds its lease any more" };
    let mut text = format!("\nnobody drives this run now: {why}\n");
    let _ =
        writeln!(text, "next         {ambit} run resume {named}{agent}   goes on with it, by the same agent");
    if view.awaiting == "person" {
        let _ = writeln!(text, "             after its approval is decided, which waits for that");
    }
    let _ = writeln!(text, "             {ambit} run cancel {named}   ends it");
    text
}

/// How to decide what a run waits for.
/// What became of an approval, or until when somebody can decide.
fn standing(approval: &ApprovalView) -> String {
    let by = approval.approver.as_ref().map(|by| format!(", given by {by}")).unwrap_or_default();
    let end = match (&approval.void, approval.state.as_str()) {
        (Some(why), _) => format!(": {why}"),
        (None, "used") => String::new(),
        (None, _) => format!(", until {}", approval.expires),
    };
    format!("{} {} for {}{end}{by}", approval.state, approval.capability, approval.proposal)
}

fn how_to_decide(view: &RunView, approval: &ApprovalView) -> String {
    let (ambit, proposal, digest) = (ambit_of(view), &approval.proposal, approval.digest);
    let decide = |verdict| format!("  {ambit} {verdict} {proposal} \\\n    --digest {digest}\n");
    format!("{}{}", decide("approve"), decide("deny"))
}

fn left(limit: &LimitView) -> String {
    match limit.unit {
        "microUsd" => {
            format!("{} of {} USD", ambit_ids::MicroUsd::new(limit.left), ambit_ids::MicroUsd::new(limit.of))
        }
        "ms" => {
            format!("{} of {}", ambit_ids::DurationMs::new(limit.left), ambit_ids::DurationMs::new(limit.of))
        }
        unit if !limit.per_gate.is_empty() => {
            let mut told = String::new();
            for gate in &limit.per_gate {
                let before = if told.is_empty() { "" } else { ", " };
                let _ = write!(told, "{before}{} of {} {unit} for {}", gate.left, limit.of, gate.gate);
            }
            told
        }
        unit => format!("{} of {} {unit}", limit.left, limit.of),
    }
}

/// What a person reads of a record of a project.
pub(crate) fn project_line(body: &ProjectBody) -> String {
    match body {
        ProjectBody::ApproverRegistered { approver, .. } => format!("{approver} may approve"),
        ProjectBody::ApproverAdded { approver, by, .. } => format!("{approver} may approve, says {by}"),
        ProjectBody::ApproverRevoked { approver, by, .. } => {
            format!("{approver} may approve no more, says {by}")
        }
        ProjectBody::BlueprintWithdrawn { blueprint, digest, approver, .. } => {
            format!("{blueprint} {} is approved no more, says {approver}", digest.short())
        }
        ProjectBody::DocumentRegistered { document_kind, name, version, digest } => {
            format!("{document_kind} {name} version {version}, {}", digest.short())
        }
        ProjectBody::BlueprintApproved { blueprint, digest, approver, .. } => {
            format!("{blueprint} {} approved by {approver}", digest.short())
        }
        ProjectBody::RevisionImported { revision, tree, entries, .. } => {
            format!("{revision}, {entries} files, tree {}", tree.short())
        }
        ProjectBody::RevisionRequested { case, revision, text, .. } => {
            format!("{case} of {revision}: {}", first_line(text))
        }
        ProjectBody::RunRejected { action, code, detail, .. } => {
            format!("{action} refused with {code}: {detail}")
        }
        ProjectBody::RunClosed { run, phase, last_seq, .. } => {
            format!("{run} {phase} after {} records", last_seq + 1)
        }
    }
}
