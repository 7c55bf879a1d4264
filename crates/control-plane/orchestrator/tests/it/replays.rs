//! What users of other platforms ran into, played again where it concerns the run and not the sandbox itself.

use ambit_gates::Ending;
use ambit_ids::DurationMs;
use ambit_run::{Event, Observation};
use ambit_simulation::{Outcome, Reply, SandboxFault, Setup, Verb, World, simulate};

use crate::policies::world;

async fn gates(world: &World) -> (Vec<Ending>, String) {
    let agent = world.worker();
    let run = world.start(&agent).await;
    let state = world.drive(&run, &agent).await.ended();
    let mut endings = Vec::new();
    for link in world.links(&run).await {
        if let Event::CallObserved { observation: Observation::GateFinished(record), .. } =
            link.record.event().unwrap()
        {
            endings.push(record.ending);
        }
    }
    (endings, state.stop_reason().unwrap().to_string())
}

/// A gate that says nothing for most of its time is not ended for that.
#[test]
fn silence_alone_ends_no_gate() {
    simulate(async {
        let mut setup = Setup::standard();
        setup.judge =
            Box::new(|_| Outcome { stdout: Vec::new(), ..Outcome::passes() }.after(DurationMs::new(19_500)));
        let (endings, reason) = gates(&world(setup).await).await;
        assert!(endings.iter().all(|ending| ending.is_success()), "{endings:?}");
        assert_eq!(reason, "gates-passed");
    });
}

/// A gate over its limit is one verdict of a run that goes on.
#[test]
fn a_gate_over_its_limit_is_one_verdict() {
    simulate(async {
        let world = world(Setup::standard()).await;
        world.sandbox.plan(Verb::Execute, 0, SandboxFault::Slow(DurationMs::new(21_000)));
        let (endings, reason) = gates(&world).await;
        assert_eq!(endings[0].to_string(), "stopped at the timeout limit");
        assert!(endings[1..].iter().all(|ending| ending.is_success()), "{endings:?}");
        assert_eq!(reason, "gates-passed");
    });
}

/// A backend that stumbles twice on its first call is asked again, and there is one sandbox and one effect of each call.
#[test]
fn a_bad_gateway_right_after_the_start_costs_nothing() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        for (verb, skip) in [(Verb::Allocate, 0), (Verb::Allocate, 1), (Verb::Write, 0), (Verb::Write, 1)] {
            world.sandbox.plan(verb, skip, SandboxFault::Unreachable);
        }
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().to_string(), "gates-passed");
        assert_eq!(state.dossier().unwrap().allocations, 1);
        assert_eq!(world.sandbox.asked(Verb::Allocate), 3);
        let executed = world.sandbox.executed();
        let mut effects: Vec<_> = executed.iter().map(|it| it.effect.to_string()).collect();
        effects.dedup();
        assert_eq!(effects.len(), executed.len(), "no command ran twice");
    });
}

/// A gate call that asks for limits of its own is denied before anything of it begins.
#[test]
fn a_gate_call_with_limits_of_its_own_begins_nothing() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|turn| {
            if !turn.is_planned() {
                return Reply::Say(turn.plan(&["AC-1", "AC-2"]));
            }
            let mut call = turn.gate("unit", "k-1");
            call["input"]["timeoutMs"] = (-1).into();
            if turn.proposals() > 3 { Reply::Finished } else { Reply::Say(call) }
        });
        let run = world.start(&agent).await;
        world.drive(&run, &agent).await.ended();
        assert_eq!(world.sandbox.executed(), []);
        assert!(world.kinds(&run).await.contains(&"proposal.rejected"), "{:?}", world.kinds(&run).await);
        assert!(world.sandbox.live().is_empty());
    });
}
