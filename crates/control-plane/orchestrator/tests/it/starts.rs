//! A start that nothing refuses: what the run is pinned to, and who may approve.

use std::sync::{Arc, Mutex};

use ambit_blueprint::BudgetCeilings;
use ambit_ids::{DurationMs, MicroUsd};
use ambit_ports::runtime::{Clock as _, IdGenerator};
use ambit_run::{Limit, State};
use ambit_simulation::{Reply, Setup, SimAgent, World, simulate};

use crate::policies::world;

fn idle(world: &World) -> Arc<SimAgent> {
    world.agent(|_| Reply::Finished)
}

// proves E-A04 E-A06 E-G01
// break crates/control-plane/orchestrator/src/check.rs: `ceilings: self.command.ceilings,` -> `ceilings: ambit_blueprint::BudgetCeilings::default(),`
#[test]
fn a_run_is_pinned_to_the_least_of_blueprint_profile_and_command() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = idle(&world);
        let ceilings = BudgetCeilings::of_start_command(Some(5), Some(MicroUsd::new(70_000))).unwrap();
        let mut request = world.request(&agent, Some("bounded"));
        request.ceilings = BudgetCeilings { max_changed_files: Some(1_000), ..ceilings };
        let run = world.orchestrator().start(request).await.unwrap().run;

        let State::Open(open) = world.state(&run).await else { panic!("the run is not open") };
        let pins = &open.dossier.pins;
        assert_eq!((pins.limits.model_steps, pins.limits.tool_cost), (5, MicroUsd::new(70_000)));
        assert_eq!(pins.limits.changed_files, 3, "a ceiling raises nothing");
        assert_eq!(pins.limits.elapsed, DurationMs::new(1_800_000), "the blueprint's own");
        assert_eq!(pins.scope, world.scope);
        assert_eq!(
            (&pins.blueprint.id, pins.blueprint.digest),
            (&world.blueprint.metadata.name, world.digest)
        );
        assert_eq!((pins.base.id, pins.base.tree), (world.base, world.base_tree.digest()));
        assert_eq!(pins.revision.to_string(), "rev-1", "a fresh revision");
        assert_eq!(
            pins.gates.iter().map(|gate| gate.id.as_str()).collect::<Vec<_>>(),
            ["unit", "integration"]
        );
        assert_eq!(pins.paths, world.blueprint.spec.scope.paths);
        for digest in [pins.policy, pins.catalog, pins.profile.digest, pins.blueprint.digest] {
            assert!(world.blob(digest).is_some(), "whoever verifies the run finds what it is pinned to");
        }
        let first = world.links(&run).await;
        let origin = world.project_links().await.last().unwrap().leaf;
        assert_eq!(first[0].record.prev, origin, "the run follows what its project was when it was admitted");
    });
}

/// The identifiers that are in it, one after the other.
struct Fixed(Mutex<Vec<&'static str>>);

impl IdGenerator for Fixed {
    fn next(&self) -> String {
        self.0.lock().unwrap().remove(0).to_owned()
    }
}

// proves E-A08 E-A09
// break crates/control-plane/orchestrator/src/start.rs: `RunId::new(format!("run_{}", self.ids.next()))` -> `RunId::new(format!("run_0{}", self.ids.next()))`
#[test]
fn run_id_prefix() {
    simulate(async {
        let ids: Arc<dyn IdGenerator> = Arc::new(Fixed(Mutex::new(vec!["first-id", "an-owner"])));
        let world = world(Setup { ids: Some(ids), ..Setup::standard() }).await;
        let run = world.start(&idle(&world)).await;
        assert_eq!(run.run.as_str(), "run_first-id");
        let State::Open(open) = world.state(&run).await else { panic!("the run is not open") };
        let began = ambit_simulation::EPOCH;
        assert_eq!(world.clock.now(), began, "nothing waits for a clock");
        assert_eq!(open.dossier.ledger.deadline().since(began), DurationMs::new(1_800_000));
    });
}

// proves E-A05
// break crates/domain/evidence/src/project.rs: `self.approved.insert((blueprint.clone(), *digest), approver.clone());` -> `let _ = &mut self.approved;`
#[test]
fn an_approval_in_the_projects_stream_lets_a_run_start() {
    simulate(async {
        let world = world(Setup { approved: false, ..Setup::standard() }).await;
        let agent = idle(&world);
        let refused = world.orchestrator().start(world.request(&agent, None)).await.unwrap_err();
        assert_eq!(refused.code(), "BLUEPRINT_NOT_APPROVED");
        world.projects().approve(&world.scope, &world.blueprint, &world.credential).await.unwrap();
        world.start(&agent).await;
    });
}

#[test]
fn what_is_left_of_every_limit_is_shown() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let run = world.start(&idle(&world)).await;
        let state = world.state(&run).await;
        let view = ambit_orchestrator::view(&state, world.clock.now()).unwrap();
        assert_eq!(view.remaining_budget.len(), Limit::ALL.len());
        assert!(view.remaining_budget.iter().all(|limit| limit.left == limit.of), "nothing is used yet");
        assert_eq!((view.phase.as_str(), view.awaiting.as_str()), ("queued", "sandbox"));
    });
}
