use ambit_ids::UnixMs;
use ambit_orchestrator::{RunView, awaiting};
use ambit_run::{PendingApproval, Stage, State};
use ratatui::text::Line;

use super::frame::{Screen, notable, plain, row, strong, width};
use super::render::clock;
use super::state::LiveState;
use crate::context::ambit;

/// What stands before whoever must act next.
const LABEL: &str = "must act";

/// Who must act next and what that one must do; of a person, by which command, since when and until when.
pub(super) fn lines(live: &LiveState, view: &RunView, now: UnixMs, screen: Screen) -> Vec<Line<'static>> {
    if let State::Open(open) = &live.state
        && let Stage::Approval { pending, .. } = &open.stage
    {
        return person(live, view, pending, now, screen);
    }
    let (who, what) = awaiting(&live.state);
    if who == "nobody" {
        return vec![row(LABEL, "nobody", plain())];
    }
    let mut told = format!("the {who}: {what}");
    let waited = now.since(live.since);
    if waited.get() >= 1_000 {
        told.push_str(&format!(", for {}", clock(waited)));
    }
    vec![row(LABEL, screen.cut(&told, screen.text_columns()), strong())]
}

fn person(
    live: &LiveState,
    view: &RunView,
    pending: &PendingApproval,
    now: UnixMs,
    screen: Screen,
) -> Vec<Line<'static>> {
    let told = format!("a person: {} is asked for", pending.capability);
    let deadline = live.state.dossier().map_or(pending.expires, |dossier| dossier.ledger.deadline());
    let until = pending.expires.min(deadline);
    let waited = format!(
        "since {}, for {}; until {}, in {}",
        moment(live.since),
        clock(now.since(live.since)),
        moment(until),
        clock(until.since(now))
    );
    let mut lines = vec![row(LABEL, screen.cut(&told, screen.text_columns()), notable())];
    lines.push(row("", screen.cut(&waited, screen.text_columns()), plain()));
    let ambit = ambit(&view.organization, &view.project);
    let named = view.name.as_deref().unwrap_or(view.run.as_str());
    let decide =
        [format!("{ambit} approve {} --digest \\", pending.proposal), format!("  {}", pending.digest)];
    let show = format!("{ambit} run show {named}");
    // A command is told whole or not at all: what it is about is always told, and how to decide stands there too.
    let fits = |line: &str| width(line) + 2 <= screen.columns();
    lines.push(Line::from(format!("  {}", screen.cut(&show, screen.columns().saturating_sub(2)))));
    if decide.iter().all(|line| fits(line)) {
        lines.extend(decide.into_iter().map(|line| Line::from(format!("  {line}"))));
    }
    lines
}

/// A moment to the second, by the clock that records are written by.
fn moment(at: UnixMs) -> String {
    let text = at.to_string();
    let time = text.split_once('T').map_or("", |(_, time)| time);
    format!("{}Z", time.get(..8).unwrap_or(time))
}
