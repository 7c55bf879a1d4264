use ambit_ids::UnixMs;
use ambit_orchestrator::{RunView, awaiting};
use ambit_run::{PendingApproval, Stage, State};
use ratatui::style::Style;
use ratatui::text::Line;

use super::frame::{Screen, clock, notable, plain, quiet, row, strong};
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
    rows(LABEL, screen.wrapped(&told, 2), strong())
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
    let waited = [
        format!("since {}, for {}", moment(live.since), clock(now.since(live.since))),
        format!("until {}, in {}", moment(until), clock(until.since(now))),
    ];
    let mut lines = rows(LABEL, screen.wrapped(&told, 2), notable());
    lines.extend(rows("", screen.flow(&waited, "; ", 2), plain()));
    let ambit = ambit(&view.organization, &view.project);
    let named = view.name.as_deref().unwrap_or(view.run.as_str());
    // What it is about is told first, and how to decide stands there too.
    let show = screen.command(&format!("{ambit} run show {named}"));
    lines.extend(show.into_iter().flatten().map(Line::from));
    lines
}

/// How a person decides what is asked, as a command that is told whole or not at all.
pub(super) fn decide(live: &LiveState, view: &RunView, screen: Screen) -> Vec<Line<'static>> {
    let State::Open(open) = &live.state else { return Vec::new() };
    let Stage::Approval { pending, .. } = &open.stage else { return Vec::new() };
    let ambit = ambit(&view.organization, &view.project);
    let words = format!("{ambit} approve {} --digest {}", pending.proposal, pending.digest);
    screen.command(&words).into_iter().flatten().map(Line::from).collect()
}

/// That a person may say no as easily, where it is told how to say yes.
pub(super) fn or_deny(live: &LiveState, view: &RunView, screen: Screen) -> Vec<Line<'static>> {
    if decide(live, view, screen).is_empty() {
        return Vec::new();
    }
    let told = screen.cut("the same with deny denies it", screen.text_columns());
    rows("", vec![told], quiet())
}

fn rows(label: &str, lines: Vec<String>, style: Style) -> Vec<Line<'static>> {
    let label = |at: usize| if at == 0 { label } else { "" };
    lines.into_iter().enumerate().map(|(at, line)| row(label(at), line, style)).collect()
}

/// A moment to the second, by the clock that records are written by.
fn moment(at: UnixMs) -> String {
    let text = at.to_string();
    let time = text.split_once('T').map_or("", |(_, time)| time);
    format!("{}Z", time.get(..8).unwrap_or(time))
}
