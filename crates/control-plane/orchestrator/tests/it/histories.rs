//! Seeded histories: agents that do anything, faults anywhere, crashes at any boundary.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ambit_ids::{DurationMs, MicroUsd};
use ambit_orchestrator::{InboxCommand, RunRef};
use ambit_simulation::{
    Cut, Dice, Driven, Execution, Fault, Outcome, Reply, SandboxFault, Setup, SimAgent, Turn, Verb, World,
    creation, edit, simulate,
};
use serde_json::{Value, json};

use crate::invariants::check_ended;
use crate::policies::world;

const WORDS: [&str; 4] = ["undone\n", "wrong\n", "right\n", "right, but secretly wrong\n"];

/// Something that an agent may say, wise or not.
fn say(turn: &Turn, dice: &mut Dice) -> Value {
    let (before, after) = (*dice.pick(&WORDS), *dice.pick(&WORDS));
    let key = format!("k-{}", dice.roll(6));
    match dice.roll(14) {
        0 => turn.plan(&["AC-1"]),
        1 => turn.plan(&["AC-9"]),
        2 => turn.read("src/word.txt"),
        3 => turn.read("../other/.env"),
        4 => turn.patch(&edit("src/word.txt", before, after)),
        5 => turn.explained(&edit("src/word.txt", before, after)),
        6 => turn.patch(&creation(&format!("src/new-{}.txt", dice.roll(6)), "new\n")),
        7 => {
            turn.explained(&edit("requirements.txt", "attrs==25.3.0\n", "attrs==25.3.0\nrequests==2.32.0\n"))
        }
        8 => turn.ask(),
        9 => turn.gate("unit", &key),
        10 => turn.gate("integration", &key),
        11 => json!({"calls": [turn.list(), turn.gate("unit", &key), turn.search("word")]}),
        12 => json!({"tool": "run_shell", "input": {}}),
        _ if dice.once_in(12) => {
            turn.patch(&edit("tests/protected/check.txt", "the word is right\n", "any\n"))
        }
        _ => turn.read_of("ledger", "src/word.txt"),
    }
}

/// An agent that mostly does the job, and sometimes anything else.
fn wanderer(world: &World, seed: u64) -> Arc<SimAgent> {
    let dice = Mutex::new(Dice::new(seed));
    let base = world.base_tree.digest().to_string();
    world.agent(move |turn| {
        let mut dice = dice.lock().unwrap();
        let reply = match dice.roll(24) {
            0..=12 => Reply::Say(ambit_simulation::work(turn, &base)),
            13 if dice.once_in(4) => Reply::Finished,
            14 if dice.once_in(3) => Reply::Silent,
            15 => Reply::Text("I am done.".to_owned()),
            16 => Reply::Priced(say(turn, &mut dice), Some(MicroUsd::new(1 + dice.roll(900_000)))),
            17 => Reply::Priced(say(turn, &mut dice), None),
            _ => Reply::Say(say(turn, &mut dice)),
        };
        if dice.once_in(3) {
            Reply::After(DurationMs::new(dice.roll(20_000)), Box::new(reply))
        } else {
            reply
        }
    })
}

fn seeded(seed: u64, dice: &mut Dice) -> Setup {
    let mut setup = Setup::seeded(seed);
    let budget = &mut setup.blueprint.spec.run_budget;
    budget.max_elapsed = DurationMs::new(60_000 * (1 + dice.roll(4)));
    budget.max_model_steps = 4 + u32::try_from(dice.roll(24)).unwrap();
    budget.max_side_effects = 2 + u32::try_from(dice.roll(16)).unwrap();
    if dice.once_in(3) {
        setup.blueprint.spec.gates[1].hidden_check = Some("hidden".parse().unwrap());
    }
    let (judge, slow) = (setup.judge, dice.roll(3) * 4_000);
    setup.judge = Box::new(move |execution: &Execution<'_>| -> Outcome {
        judge(execution).after(DurationMs::new(slow))
    });
    setup
}

/// Plans faults for one life of the control plane.
fn plan(world: &World, dice: &mut Dice) {
    world.faults.heal();
    world.sandbox.heal();
    if dice.once_in(2) {
        world.faults.crash_after(dice.roll(90));
    }
    let cuts = [
        Cut::CommitBefore,
        Cut::CommitAfter,
        Cut::StoreRead,
        Cut::LeaseRenew,
        Cut::BlobPut,
        Cut::BlobGet,
        Cut::AgentAsked,
    ];
    let faults = [Fault::Fail, Fault::NoSpace, Fault::Moved, Fault::Stolen];
    let verbs = [
        Verb::Inspect,
        Verb::Allocate,
        Verb::Write,
        Verb::Execute,
        Verb::Execute,
        Verb::Cancel,
        Verb::Destroy,
    ];
    let sandbox_faults = [
        SandboxFault::Unavailable,
        SandboxFault::Stumbles,
        SandboxFault::Hangs,
        SandboxFault::NoExit,
        SandboxFault::LosesReply,
        SandboxFault::Vanishes,
        SandboxFault::Slow(DurationMs::new(25_000)),
        SandboxFault::AnotherLife,
        SandboxFault::AnotherRun,
        SandboxFault::Remains,
    ];
    for _ in 0..dice.roll(3) {
        world.faults.plan(*dice.pick(&cuts), dice.roll(40), *dice.pick(&faults));
    }
    for _ in 0..dice.roll(3) {
        world.sandbox.plan(*dice.pick(&verbs), dice.roll(4), *dice.pick(&sandbox_faults));
    }
}

/// Somebody who leaves letters while a run goes on: decisions, cancellations and junk.
async fn write_letters(world: &World, run: &RunRef, mut dice: Dice) {
    loop {
        world.clock.pass(DurationMs::new(1_000 + dice.roll(9_000))).await;
        if world.waiting(run).await.len() > 3 {
            continue;
        }
        match dice.roll(30) {
            0 => {
                world.cancel(run).await;
            }
            1..=8 if world.question(run).await.is_some() => {
                let mut decision = world.decision(run, dice.roll(3) > 0).await;
                if dice.once_in(4) {
                    decision.expected_sequence += 1;
                }
                world.leave(run, &InboxCommand::Decide(decision)).await;
            }
            _ => {}
        }
    }
}

/// Lives of control planes until the run is over: at most so many, the last of them without a fault.
async fn live_on(
    world: &World,
    run: &RunRef,
    agent: &Arc<SimAgent>,
    dice: &mut Dice,
    told: &str,
) -> ambit_run::State {
    for life in 0..12 {
        plan(world, dice);
        if life >= 9 {
            world.faults.heal();
            world.sandbox.heal();
        }
        if let Driven::Ended(state) = world.drive(run, agent).await {
            return *state;
        }
        world.faults.heal();
        // Whatever was cut short, the records are whole and lead to a state.
        world.state(run).await;
        world.clock.pass(DurationMs::new(dice.roll(12_000))).await;
    }
    panic!("{told}: the run is not over after twelve lives");
}

fn history(seed: u64) -> String {
    let told = format!("seed {seed}");
    simulate(async {
        let mut dice = Dice::new(seed);
        let world = world(seeded(seed, &mut dice)).await;
        world.faults.shuffle(seed);
        let agent = wanderer(&world, seed ^ 0xa5a5);
        let run = world.start(&agent).await;
        let letters = write_letters(&world, &run, Dice::new(seed ^ 0x1e77));
        let state = tokio::select! {
            biased;
            state = live_on(&world, &run, &agent, &mut dice, &told) => state,
            () = letters => panic!("{told}: letters end"),
        };
        world.faults.heal();
        // A letter that came after the end is taken away by whoever looks at the run again, and changes nothing.
        world.clock.pass(DurationMs::new(10_001)).await;
        assert_eq!(world.drive(&run, &agent).await.ended(), state, "{told}: a run that is over changed");
        check_ended(&world, &run, &state, &told).await;
        state.stop_reason().unwrap().code().to_owned()
    })
}

/// How many histories are played. A failing one says its seed; `AMBIT_SEED` plays that one alone.
const HISTORIES: u64 = 240;

// proves E-P06 E-S14 E-S20 E-D12 E-C09 D7
// break crates/control-plane/orchestrator/src/drive.rs: `let _ = orchestrator.leases.release(&release).await;` -> `let _ = &release;`
#[test]
fn whatever_happens_a_run_ends_or_goes_on_and_nothing_happens_twice() {
    if let Some(seed) = std::env::var("AMBIT_SEED").ok().and_then(|seed| seed.parse().ok()) {
        println!("seed {seed}: {}", history(seed));
        return;
    }
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..HISTORIES {
        *ends.entry(history(seed)).or_default() += 1;
    }
    println!("{ends:?}");
    for reason in ["gates-passed", "budget", "policy-denied", "customer-cancelled", "infrastructure-failure"]
    {
        assert!(ends.contains_key(reason), "no history ended by {reason}: {ends:?}");
    }
}

#[test]
fn one_seed_plays_one_history() {
    let trace = |seed: u64| {
        simulate(async {
            let mut dice = Dice::new(seed);
            let world = world(seeded(seed, &mut dice)).await;
            world.faults.shuffle(seed);
            let agent = wanderer(&world, seed ^ 0xa5a5);
            let run = world.start(&agent).await;
            let state = live_on(&world, &run, &agent, &mut dice, "twice").await;
            let leaves: Vec<_> = world.links(&run).await.into_iter().map(|link| link.leaf).collect();
            (leaves, state)
        })
    };
    for seed in [3, 77] {
        assert_eq!(trace(seed), trace(seed), "seed {seed}");
    }
}
