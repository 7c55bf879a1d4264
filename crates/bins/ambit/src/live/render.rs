use ambit_ids::{DurationMs, UnixMs};
use ambit_orchestrator::{RunView, view};
use ambit_run::{Phase, Stage, State, StopReason, ToolCall};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::budget;
use super::frame::{
    Frame, Screen, TEXT, bad, clock, good, labelled, notable, one_line, plain, quiet, row, strong, width,
};
use super::plan::{Standing, standing};
use super::state::{Cancel, LiveState, Verdict};
use super::who;
use crate::marked::mark;

/// A part of the block. Where there is no room for all parts, the ones that matter least go first.
struct Part {
    /// What it matters, less being more.
    rank: u8,
    lines: Vec<Line<'static>>,
    /// What stands in its place where there is less room.
    short: Option<Line<'static>>,
}

impl Part {
    fn new(rank: u8, lines: Vec<Line<'static>>) -> Self {
        Self { rank, lines, short: None }
    }
}

/// What is seen of a run at a moment, in so much room.
pub(super) fn render(live: &LiveState, now: UnixMs, screen: Screen) -> Frame {
    let Some(view) = view(&live.state, now) else { return Frame::default() };
    let parts = vec![
        Part::new(0, vec![head(live, &view, now, screen)]),
        Part::new(6, vec![row("goal", screen.cut(&view.goal, screen.text_columns()), plain())]),
        plan(live, screen),
        Part::new(3, call(live, screen)),
        Part::new(2, gate(live, now, screen)),
        Part::new(8, output(live, screen)),
        Part::new(7, gates(&view, screen)),
        changed(&view, screen),
        Part::new(4, budget::lines(&view, screen)),
        Part::new(1, who::lines(live, &view, now, screen)),
        Part::new(2, who::decide(live, &view, screen)),
        Part::new(5, who::or_deny(live, &view, screen)),
        Part::new(0, question(live, screen)),
    ];
    Frame { lines: fitted(parts, screen.rows()) }
}

/// The parts in as many rows as there are.
fn fitted(mut parts: Vec<Part>, rows: usize) -> Vec<Line<'static>> {
    let taken = |parts: &[Part]| parts.iter().map(|part| part.lines.len()).sum::<usize>();
    while taken(&parts) > rows {
        let shortened = parts.iter_mut().filter(|part| part.lines.len() > 1 && part.short.is_some());
        if let Some(part) = shortened.max_by_key(|part| part.rank) {
            part.lines = part.short.take().into_iter().collect();
            continue;
        }
        let left = parts.iter_mut().filter(|part| !part.lines.is_empty());
        let Some(least) = left.max_by_key(|part| part.rank) else { break };
        if least.rank <= 1 && least.lines.len() > 1 {
            least.lines.pop();
        } else {
            least.lines.clear();
        }
    }
    parts.into_iter().flat_map(|part| part.lines).collect()
}

/// The line that parts the block from what scrolls above it: the run, its phase, and how long it goes on.
fn head(live: &LiveState, view: &RunView, now: UnixMs, screen: Screen) -> Line<'static> {
    let rule = if screen.unicode { "\u{2500}" } else { "-" };
    let (phase, style) = phase(live);
    let named = view.name.as_deref().unwrap_or(view.run.as_str());
    let elapsed = live.state.dossier().map_or(DurationMs::ZERO, |dossier| {
        dossier.pins.limits.elapsed.saturating_sub(dossier.ledger.deadline().since(now))
    });
    let elapsed = clock(elapsed);
    let room = screen.columns().saturating_sub(width(&elapsed) + width(phase) + 11);
    let named = screen.cut(named, room);
    let used = 2 + 1 + width(&named) + 2 + width(phase) + 1 + 1 + width(&elapsed) + 1 + 2;
    let filled = rule.repeat(screen.columns().saturating_sub(used));
    Line::from(vec![
        Span::styled(rule.repeat(2), quiet()),
        Span::styled(format!(" {named}  "), strong()),
        Span::styled(phase, style),
        Span::styled(format!(" {filled} "), quiet()),
        Span::raw(elapsed),
        Span::styled(format!(" {}", rule.repeat(2)), quiet()),
    ])
}

fn phase(live: &LiveState) -> (&'static str, Style) {
    match (&live.state, live.state.phase()) {
        (State::Closing(closing), _) if closing.reason == StopReason::CustomerCancelled => {
            ("cancelling", notable())
        }
        (State::Closing(_), _) => ("ending", strong()),
        (_, Some(Phase::NeedsApproval)) => (Phase::NeedsApproval.as_str(), notable()),
        (_, Some(Phase::Completed)) => (Phase::Completed.as_str(), good()),
        (_, Some(phase @ (Phase::Failed | Phase::Cancelled))) => (phase.as_str(), bad()),
        (_, Some(phase)) => (phase.as_str(), strong()),
        (_, None) => ("", plain()),
    }
}

/// The most steps of a plan that are listed.
const STEPS: usize = 6;

fn plan(live: &LiveState, screen: Screen) -> Part {
    let Some(dossier) = live.state.dossier() else { return Part::new(5, Vec::new()) };
    let steps = dossier.plan.as_ref().map(ambit_run::Plan::steps).unwrap_or_default();
    let stands: Vec<_> =
        steps.iter().map(|step| (step, standing(step, live.patched.contains(&step.id), dossier))).collect();
    let done = stands.iter().filter(|(_, (standing, _))| *standing == Standing::Done).count();
    let mut lines: Vec<Line<'static>> = Vec::new();
    // What is done leaves the list first, and what comes last where that is not enough.
    let skipped = stands.iter().take_while(|(_, (standing, _))| *standing == Standing::Done).count();
    let skipped = skipped.min(steps.len().saturating_sub(STEPS));
    for (step, (standing, why)) in stands.iter().skip(skipped).take(STEPS) {
        let label = if lines.is_empty() { "plan" } else { "" };
        lines.push(step_line(label, step, *standing, why, screen));
    }
    let told = skipped + lines.len();
    if steps.len() > lines.len() {
        let rest = format!("{} more, {done} of {} done", steps.len() - (told - skipped), steps.len());
        lines.push(row("", screen.cut(&rest, screen.text_columns()), quiet()));
    }
    let short = (!steps.is_empty()).then(|| {
        let next = stands.iter().find(|(_, (standing, _))| *standing != Standing::Done);
        let next = next.map(|(step, _)| format!("; next {}: {}", step.id, step.summary)).unwrap_or_default();
        let told = format!("{done} of {} done{next}", steps.len());
        row("plan", screen.cut(&told, screen.text_columns()), plain())
    });
    Part { rank: 5, lines, short }
}

fn step_line(
    label: &str,
    step: &ambit_run::PlanStep,
    standing: Standing,
    why: &str,
    screen: Screen,
) -> Line<'static> {
    let (mark, style) = match (standing, screen.unicode) {
        (Standing::Open, true) => ("\u{25cb} ", plain()),
        (Standing::Open, false) => ("[ ] ", plain()),
        (Standing::Begun, true) => ("\u{25d0} ", plain()),
        (Standing::Begun, false) => ("[~] ", plain()),
        (Standing::Done, true) => ("\u{2713} ", good()),
        (Standing::Done, false) => ("[x] ", good()),
    };
    let room = screen.text_columns().saturating_sub(width(mark));
    let why = if why.is_empty() { String::new() } else { format!("  {}", one_line(why)) };
    // Why a step stands where it does is told where its words leave room for it.
    let text = format!("{} {}", step.id, step.summary);
    let (text, why) = if room >= width(&why) + 24 {
        (screen.cut(&text, room - width(&why)), why)
    } else {
        (screen.cut(&text, room), String::new())
    };
    let mut line = row(label, mark, style);
    line.push_span(Span::raw(text));
    line.push_span(Span::styled(why, quiet()));
    line
}

fn call(live: &LiveState, screen: Screen) -> Vec<Line<'static>> {
    let Some(call) = &live.call else { return Vec::new() };
    let style = match call.verdict {
        Verdict::Allowed | Verdict::Repeated => good(),
        Verdict::Denied | Verdict::OverLimit => bad(),
        Verdict::NeedsApproval => notable(),
    };
    let told = call.verdict.as_str();
    let room = screen.text_columns().saturating_sub(width(told) + 2).max(8);
    let mut line = row("call", screen.cut(&call.call, room), plain());
    line.push_span(Span::raw(": "));
    line.push_span(Span::styled(told, style));
    let mut lines = vec![line];
    if !call.why.is_empty() {
        lines.push(row("", screen.cut(&call.why, screen.text_columns()), quiet()));
    }
    lines
}

/// The gate that runs now: for how long, and how long it may.
fn gate(live: &LiveState, now: UnixMs, screen: Screen) -> Vec<Line<'static>> {
    let State::Open(open) = &live.state else { return Vec::new() };
    let Stage::Call(flight) = &open.stage else { return Vec::new() };
    let ToolCall::RunNamedGate { gate_id, .. } = &flight.call else { return Vec::new() };
    let (took, limit) = (now.since(live.since), live.gate_limits.get(gate_id));
    let tenths = format!("{}.{} s", took.get() / 1_000, took.get() % 1_000 / 100);
    let mut told = format!("{gate_id}: {tenths}");
    if let Some(limit) = limit {
        told.push_str(&format!(" of {} s, attempt {}", limit.get() / 1_000, flight.attempt));
        let cells = screen.text_columns().saturating_sub(width(&told) + 2).min(24);
        if cells >= 6 {
            told.push_str(&format!("  {}", screen.bar(took.get(), limit.get(), cells as u64)));
        }
    }
    vec![row("gate", screen.cut(&told, screen.text_columns()), strong())]
}

/// What that gate put out last, each line marked with its stream.
fn output(live: &LiveState, screen: Screen) -> Vec<Line<'static>> {
    let State::Open(open) = &live.state else { return Vec::new() };
    if !matches!(open.stage, Stage::Call(_)) {
        return Vec::new();
    }
    let rows = live.output.lines().enumerate().map(|(at, (stream, text))| {
        let told = screen.cut(&format!("{}{text}", mark(stream)), screen.text_columns());
        row(if at == 0 { "output" } else { "" }, told, quiet())
    });
    rows.collect()
}

fn gates(view: &RunView, screen: Screen) -> Vec<Line<'static>> {
    let told: Vec<String> = view
        .gates
        .iter()
        .map(|gate| {
            let status = match (gate.running, gate.status.as_str()) {
                (true, _) => "runs",
                (false, "not-run") => "not run",
                (false, status) => status,
            };
            format!("{} {status}", gate.gate)
        })
        .collect();
    let lines = screen.flow(&told, screen.dot(), 2);
    labelled("gates", lines)
}

fn changed(view: &RunView, screen: Screen) -> Part {
    let files = &view.changed_files;
    if files.is_empty() {
        return Part::new(7, Vec::new());
    }
    let count = crate::terminal::counted(files.len(), "file");
    let mut told = String::new();
    let mut listed = 0;
    for file in files {
        let name = one_line(&file.to_string());
        let rest = format!(" and {} more", files.len() - listed);
        let before = if listed == 0 { ": " } else { ", " };
        if width(&count) + width(&told) + width(before) + width(&name) + width(&rest) > screen.text_columns()
        {
            break;
        }
        told.push_str(before);
        told.push_str(&name);
        listed += 1;
    }
    if listed > 0 && listed < files.len() {
        told.push_str(&format!(" and {} more", files.len() - listed));
    }
    if listed == 0 && files.len() == 1 {
        told = format!(": {}", one_line(&files[0].to_string()));
    }
    Part::new(7, vec![row("changed", screen.cut(&format!("{count}{told}"), screen.text_columns()), plain())])
}

/// What whoever looks on is asked.
fn question(live: &LiveState, screen: Screen) -> Vec<Line<'static>> {
    let parts = match live.cancel {
        Cancel::Asked { by_key: true } => {
            ["Cancel this run?", "y = cancel, any other key goes on;", "Ctrl-C again = cancel"].as_slice()
        }
        Cancel::Asked { by_key: false } => ["Cancel this run?", "Ctrl-C again = cancel"].as_slice(),
        Cancel::Wanted if matches!(live.state, State::Open(_)) => ["Cancelling ..."].as_slice(),
        Cancel::Unasked | Cancel::Wanted => return Vec::new(),
    };
    let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    // The question begins at the left edge, where there is room for it.
    let wide = Screen { width: screen.width.saturating_add(u16::try_from(TEXT).unwrap_or(0)), ..screen };
    wide.flow(&parts, " ", 3).into_iter().map(|line| Line::from(Span::styled(line, notable()))).collect()
}
