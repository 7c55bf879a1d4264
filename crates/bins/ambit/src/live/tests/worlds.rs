//! Simulated runs, as whoever looks on is told of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ambit_blueprint::{Document, PolicyRules, ToolRule, builtin};
use ambit_ids::{Digest, DurationMs, Scope, UnixMs};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::{Policies, PolicyEngine, PolicyUnusable};
use ambit_ports::runtime::Clock as _;
use ambit_run::{Event, State};
use ambit_simulation::{Execution, Outcome, Reply, Setup, Turn, Watch, World, edit, simulate, work};
use async_trait::async_trait;

use crate::live::state::LiveState;

/// The rules that come along, for every policy set.
struct Rules(Vec<ToolRule>, Mutex<BTreeMap<Digest, Arc<RuleEngine>>>);

#[async_trait]
impl Policies for Rules {
    async fn engine(&self, _: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let mut engines = self.1.lock().unwrap();
        let made = || Arc::new(RuleEngine::new(policy, &self.0).unwrap());
        Ok(engines.entry(policy).or_insert_with(made).clone())
    }
}

pub(super) async fn world(setup: Setup) -> World {
    let Document::Bundle(bundle) = builtin::GENERATION_TOOLS_V2.parse().unwrap() else { panic!("no bundle") };
    let PolicyRules::ToolRules(rules) = bundle.spec else { panic!("no tool rules") };
    World::build(setup, Arc::new(Rules(rules, Mutex::default()))).await
}

/// What was told at a moment: the state, and the events that led to it.
pub(super) type Told = (UnixMs, State, Vec<Event>);

/// A run from its first record on.
pub(super) struct Story {
    pub(super) begins: LiveState,
    pub(super) told: Vec<Told>,
}

impl Story {
    /// What is seen when a state looks like this for the first time.
    pub(super) fn when(&self, looks: impl Fn(&State, &[Event]) -> bool) -> (LiveState, UnixMs) {
        let mut live = self.begins.clone();
        for (at, state, events) in &self.told {
            live.told(*at, state, events);
            if looks(state, events) {
                return (live, *at);
            }
        }
        panic!("it never looks like this")
    }
}

/// Plays a run of an agent that says what `says` says, and cancels it after a while if `until` says so.
pub(super) fn play(
    says: impl Fn(&Turn, &str) -> Reply + Send + Sync + 'static,
    until: Option<DurationMs>,
) -> Story {
    simulate(async {
        let mut setup = Setup::standard();
        let judge = setup.judge;
        setup.judge = Box::new(move |execution: &Execution<'_>| -> Outcome {
            judge(execution).after(DurationMs::new(7_000))
        });
        let world = world(setup).await;
        let base = world.base_tree.digest().to_string();
        let agent =
            world.agent(move |turn| Reply::After(DurationMs::new(2_000), Box::new(says(turn, &base))));
        let run = world.start(&agent).await;
        let begins = LiveState::of(&world.links(&run).await).unwrap();
        let told: Mutex<Vec<Told>> = Mutex::default();
        let clock = world.clock;
        let watch = Watch(|state: &State, events: &[Event]| {
            told.lock().unwrap().push((clock.now(), state.clone(), events.to_vec()));
        });
        let cancelling = async {
            if let Some(until) = until {
                world.clock.pass(until).await;
                world.cancel(&run).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            driven = world.drive_watched(&run, &agent, &watch) => drop(driven.ended()),
            () = cancelling => {}
        }
        let told = std::mem::take(&mut *told.lock().unwrap());
        Story { begins, told }
    })
}

/// A worker that reads what it must not, and then does its job, wrongly first.
pub(super) fn worker(turn: &Turn, base: &str) -> Reply {
    Reply::Say(if turn.number() == 2 { turn.read_of("ledger", "src/word.txt") } else { work(turn, base) })
}

/// An agent that wants a dependency, and asks for it.
pub(super) fn asking(turn: &Turn, _: &str) -> Reply {
    Reply::Say(match turn.number() {
        1 => turn.plan(&["AC-1", "AC-2"]),
        2 => turn.patch(&edit("requirements.txt", "attrs==25.3.0\n", "attrs==25.3.0\nrequests==2.32.0\n")),
        _ => turn.ask(),
    })
}

/// An agent that gives up once it has a plan.
pub(super) fn giving_up(turn: &Turn, _: &str) -> Reply {
    if turn.is_planned() { Reply::Finished } else { Reply::Say(turn.plan(&["AC-1"])) }
}
