use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use ambit_ids::{DurationMs, UnixMs};
use ambit_orchestrator::{InboxCommand, RunRef};
use ambit_ports::runtime::Clock as _;
use ambit_run::{Effect, Event, State, ToolCall, pending};
use ambit_simulation::{
    Dice, Driven, Reply, SandboxFault, Setup, SimAgent, Turn, Verb, Watch, World, edit, simulate, work,
};

use super::worlds::world;
use crate::live::frame::Screen;
use crate::live::render::render;
use crate::live::state::LiveState;

/// Who must act, by what the state machine waits for. `asked` is whether the events say that a person is asked.
fn awaited(state: &State, asked: bool) -> BTreeSet<&'static str> {
    if asked {
        return BTreeSet::from(["a person"]);
    }
    if matches!(state, State::Ended(_)) {
        return BTreeSet::from(["nobody"]);
    }
    let of = |effect: Effect| match effect {
        Effect::OfferTurn { .. } => Some("the agent"),
        Effect::Perform(flight) if matches!(flight.call, ToolCall::RunNamedGate { .. }) => {
            Some("the sandbox")
        }
        Effect::Perform(_) | Effect::CheckHidden(_) => Some("the policy"),
        Effect::AllocateSandbox { .. }
        | Effect::TerminateProcesses
        | Effect::ExportTrace
        | Effect::DestroySandbox => Some("the sandbox"),
        Effect::WakeAt(_) => None,
    };
    let awaited: BTreeSet<&str> = pending(state).into_iter().filter_map(of).collect();
    // A call that was cut off is waited for, in the sandbox, before the trace is kept.
    if awaited.is_empty() { BTreeSet::from(["the sandbox"]) } else { awaited }
}

/// Compares what is seen of a run with what is true of it, after every event.
struct Witness {
    live: LiveState,
    asked: bool,
    seen: BTreeSet<String>,
}

impl Witness {
    fn told(&mut self, at: UnixMs, state: &State, events: &[Event], seed: u64) {
        for event in events {
            match event {
                Event::ApprovalRequested { .. } => self.asked = true,
                Event::ApprovalDecided { .. }
                | Event::ApprovalExpired { .. }
                | Event::Stopping { .. }
                | Event::Ended { .. } => self.asked = false,
                _ => {}
            }
        }
        self.live.told(at, state, events);
        for (width, height) in [(40, 8), (80, 24), (140, 40)] {
            let frame = render(&self.live, at, Screen { width, height, unicode: false });
            let text: Vec<String> = frame.lines.iter().map(ToString::to_string).collect();
            let line = text.iter().find_map(|line| line.strip_prefix("must act   ")).unwrap();
            let who = line.split_once(':').map_or(line, |(who, _)| who);
            let awaited = awaited(state, self.asked);
            assert!(awaited.contains(who), "seed {seed}: {who}, and it is {awaited:?}\n{}", text.join("\n"));
            if who == "a person" && height > 8 {
                let told = text.join(" ").replace('\\', " ").split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(told.contains("ambit --org acme --project shop run show run_"), "{told}");
                let approve = told.contains("ambit --org acme --project shop approve prop_");
                assert!(approve && told.contains(" --digest sha256:"), "{told}");
            }
            self.seen.insert(who.to_owned());
        }
    }
}

/// Something that an agent may say, wise or not.
fn say(turn: &Turn, base: &str, dice: &mut Dice) -> Reply {
    let more = "attrs==25.3.0\nrequests==2.32.0\n";
    match dice.roll(12) {
        0 => Reply::Say(turn.read_of("ledger", "src/word.txt")),
        1 => Reply::Say(turn.read("src/word.txt")),
        2 | 3 => Reply::Say(turn.explained(&edit("requirements.txt", "attrs==25.3.0\n", more))),
        4 | 5 => Reply::Say(turn.ask()),
        6 if dice.once_in(8) => Reply::Finished,
        6 => Reply::Text("I am done.".to_owned()),
        _ => Reply::Say(work(turn, base)),
    }
}

fn agent(world: &World, seed: u64) -> Arc<SimAgent> {
    let (dice, base) = (Mutex::new(Dice::new(seed)), world.base_tree.digest().to_string());
    world.agent(move |turn| say(turn, &base, &mut dice.lock().unwrap()))
}

async fn write_letters(world: &World, run: &RunRef, mut dice: Dice) {
    loop {
        world.clock.pass(DurationMs::new(1_000 + dice.roll(9_000))).await;
        match dice.roll(40) {
            0 => {
                world.cancel(run).await;
            }
            1..=12 if world.question(run).await.is_some() => {
                let decision = world.decision(run, dice.roll(3) > 0).await;
                world.leave(run, &InboxCommand::Decide(decision)).await;
            }
            _ => {}
        }
    }
}

fn history(seed: u64) -> BTreeSet<String> {
    simulate(async {
        let mut dice = Dice::new(seed);
        let mut setup = Setup::seeded(seed);
        setup.blueprint.spec.run_budget.max_elapsed = DurationMs::new(60_000 * (1 + dice.roll(2)));
        if dice.once_in(3) {
            setup.blueprint.spec.gates[1].hidden_check = Some("hidden".parse().unwrap());
        }
        let world = world(setup).await;
        for fault in [SandboxFault::Vanishes, SandboxFault::LosesReply, SandboxFault::Hangs] {
            if dice.once_in(4) {
                world.sandbox.plan(Verb::Execute, dice.roll(3), fault);
            }
        }
        let agent = agent(&world, seed);
        let run = world.start(&agent).await;
        let live = LiveState::of(&world.links(&run).await).unwrap();
        let witness = Mutex::new(Witness { live, asked: false, seen: BTreeSet::new() });
        let clock = world.clock;
        let watch = Watch(|state: &State, events: &[Event]| {
            witness.lock().unwrap().told(clock.now(), state, events, seed);
        });
        let letters = write_letters(&world, &run, Dice::new(seed ^ 0x1e77));
        tokio::select! {
            biased;
            driven = world.drive_watched(&run, &agent, &watch) => {
                assert!(!matches!(driven, Driven::Crashed), "seed {seed}: nothing was to crash");
            }
            () = letters => {}
        }
        witness.into_inner().unwrap().seen
    })
}

#[test]
fn a_screen_is_never_wrong_about_who_must_act() {
    let mut seen = BTreeSet::new();
    for seed in 0..12 {
        seen.extend(history(seed));
    }
    let all = ["a person", "nobody", "the agent", "the policy", "the sandbox"];
    assert_eq!(seen, all.map(str::to_owned).into(), "not everybody had to act");
}
