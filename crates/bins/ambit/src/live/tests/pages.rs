use ambit_ids::{DurationMs, UnixMs};
use ambit_ports::sandbox::{OutputStream, Sight};
use ambit_run::{Event, Phase, Stage, State, ToolCall};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::text::Text;

use super::worlds::{asking, giving_up, play, worker};
use crate::live::frame::{Frame, Screen};
use crate::live::render::render;
use crate::live::state::{Cancel, LiveState};

/// The screens that everything is looked at on.
const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (140, 40), (80, 8)];

fn drawn(frame: &Frame, screen: Screen) -> String {
    let rows = u16::try_from(frame.lines.len()).unwrap();
    let mut terminal = Terminal::new(TestBackend::new(screen.width, rows.max(1))).unwrap();
    terminal.draw(|at| at.render_widget(Text::from(frame.lines.clone()), at.area())).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y| (0..screen.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn seen(live: &LiveState, at: UnixMs, later_ms: u64) -> String {
    let now = at.saturating_add(DurationMs::new(later_ms));
    let mut seen = String::new();
    for (width, height) in SIZES {
        let screen = Screen { width, height, unicode: height != 8 };
        let told = drawn(&render(live, now, screen), screen);
        seen.push_str(&format!("{width} x {height}\n{told}\n"));
    }
    seen
}

fn runs_gate(state: &State) -> bool {
    let State::Open(open) = state else { return false };
    matches!(&open.stage, Stage::Call(flight) if matches!(flight.call, ToolCall::RunNamedGate { .. }))
}

#[test]
fn every_phase_is_seen_on_every_screen() {
    let story = play(worker, None);
    let at = UnixMs::new(story.begins.since.get());
    insta::assert_snapshot!("queued", seen(&story.begins, at, 400));
    let (live, at) = story.when(|state, _| state.phase() == Some(Phase::Planning));
    insta::assert_snapshot!("planning", seen(&live, at, 1_500));
    let is_denied = |events: &[Event]| events.iter().any(|event| matches!(event, Event::CallDecided(_)));
    let (live, at) = story.when(|_, events| is_denied(events));
    insta::assert_snapshot!("denied", seen(&live, at, 100));
    let patched = |state: &State| state.dossier().is_some_and(|dossier| !dossier.patches.is_empty());
    let (live, at) = story.when(|state, _| patched(state) && state.phase() == Some(Phase::Editing));
    insta::assert_snapshot!("editing", seen(&live, at, 1_500));
    let (mut live, at) = story.when(|state, _| runs_gate(state));
    live.gate_limits.insert("unit".parse().unwrap(), DurationMs::new(60_000));
    insta::assert_snapshot!("checking", seen(&live, at, 3_250));
    live.cancel = Cancel::Asked { by_key: true };
    insta::assert_snapshot!("asked", seen(&live, at, 3_350));
    live.cancel = Cancel::Unasked;
    for (stream, text) in [
        (OutputStream::Stdout, "collected 12 items\n"),
        (
            OutputStream::Stderr,
            "warning: a name that is far longer than any terminal is wide, or nearly any of them\n",
        ),
        (OutputStream::Stdout, "  tests/test_events.py ...."),
    ] {
        live.output.see(&Sight::Text { stream, offset: 0, bytes: text.len() as u64, text: text.to_owned() });
    }
    insta::assert_snapshot!("putting_out", seen(&live, at, 3_350));
    let (live, at) = story.when(|state, _| state.phase() == Some(Phase::Completed));
    insta::assert_snapshot!("completed", seen(&live, at, 0));
}

#[test]
fn a_run_that_waits_or_does_not_complete_is_seen_on_every_screen() {
    let story = play(asking, Some(DurationMs::new(90_000)));
    let (live, at) = story.when(|state, _| state.phase() == Some(Phase::NeedsApproval));
    insta::assert_snapshot!("waiting", seen(&live, at, 61_000));
    let (live, at) = story.when(|state, _| matches!(state, State::Closing(_)));
    insta::assert_snapshot!("cancelling", seen(&live, at, 100));
    let (live, at) = story.when(|state, _| state.phase() == Some(Phase::Cancelled));
    insta::assert_snapshot!("cancelled", seen(&live, at, 0));
    let story = play(giving_up, None);
    let (live, at) = story.when(|state, _| state.phase() == Some(Phase::Failed));
    insta::assert_snapshot!("failed", seen(&live, at, 0));
}

#[test]
fn a_step_is_ticked_only_when_its_gates_pass_on_the_tree_that_there_is() {
    let story = play(worker, None);
    let mut live = story.begins.clone();
    let mut ticked = false;
    let screen = Screen { width: 120, height: 40, unicode: false };
    for (at, state, events) in &story.told {
        live.told(*at, state, events);
        let now_ticked = drawn(&render(&live, *at, screen), screen).contains("[x]");
        let Some(dossier) = state.dossier() else { continue };
        let gates = &dossier.pins.gates;
        let passes = |gate: &ambit_run::GatePin| {
            let of_head = dossier.gates.records().iter().filter(|record| record.gate == gate.id);
            let mut of_head = of_head.filter(|record| record.tree == dossier.head).peekable();
            of_head.peek().is_some() && of_head.all(ambit_run::GateRecord::passed)
        };
        assert_eq!(now_ticked, gates.iter().all(passes), "{state:?}");
        ticked |= now_ticked;
    }
    assert!(ticked, "the step was never done");
}

#[test]
fn nothing_of_an_agent_is_obeyed_and_no_line_is_too_wide() {
    let sly = |turn: &ambit_simulation::Turn, base: &str| {
        let mut reply = ambit_simulation::work(turn, base);
        if let Some(step) = reply.get_mut("plan").and_then(|plan| plan.get_mut(0)) {
            step["summary"] = "a\u{1b}[2J\u{202e}b\r\nmust act   nobody \u{6f22}\u{5b57}".repeat(20).into();
        }
        ambit_simulation::Reply::Say(reply)
    };
    let story = play(sly, None);
    let mut live = story.begins.clone();
    let mut planned = false;
    for (at, state, events) in &story.told {
        live.told(*at, state, events);
        for width in [40, 41, 63, 80, 139, 200] {
            for height in [8, 9, 24, 60] {
                let screen = Screen { width, height, unicode: true };
                let frame = render(&live, *at, screen);
                assert!(frame.lines.len() < usize::from(height), "{width} x {height}: {frame:?}");
                for line in &frame.lines {
                    let text = line.to_string();
                    planned |= text.contains("\u{6f22}");
                    assert!(line.width() < usize::from(width), "{width}: {text}");
                    let obeyed = |c: char| c.is_control() || c == '\u{202e}';
                    assert!(!text.contains(obeyed), "{text:?}");
                }
                let acting = frame.lines.iter().filter(|line| line.to_string().starts_with("must act"));
                assert_eq!(acting.count(), 1, "{width} x {height}: {frame:?}");
            }
        }
    }
    assert!(planned, "the plan was never seen");
}
