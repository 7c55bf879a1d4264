//! One name is one run, however often and by however many it is asked for.

use std::sync::Arc;

use ambit_blueprint::BudgetCeilings;
use ambit_orchestrator::{StartRun, Started};
use ambit_ports::store::Store as _;
use ambit_run::Phase;
use ambit_simulation::{Reply, Setup, World, simulate};
use tokio::task::JoinSet;

use crate::policies::world;

async fn runs(world: &World) -> usize {
    world.store.runs(&world.scope, None, 1_000).await.unwrap().len()
}

/// Starts one request by fifty control planes at once, in an order that the seed decides.
async fn storm(world: &Arc<World>, request: &StartRun) -> Vec<Started> {
    let mut starts = JoinSet::new();
    for _ in 0..50 {
        let (orchestrator, request) = (world.orchestrator(), request.clone());
        starts.spawn(async move { orchestrator.start(request).await.unwrap() });
    }
    starts.join_all().await
}

// proves E-S13 D1 E-D12
// break crates/control-plane/orchestrator/src/start.rs: `.extend(pins.name.iter().map(|name| Claim { key: name_key(name), value: pins.run.to_string() }));` -> `.extend(pins.name.iter().take(0).map(|name| Claim { key: name_key(name), value: pins.run.to_string() }));`
#[test]
fn fifty_starts_under_one_name_are_one_run() {
    for seed in 0..6 {
        simulate(async {
            let world = Arc::new(world(Setup::seeded(seed)).await);
            world.faults.shuffle(seed);
            let agent = world.worker();
            let started = storm(&world, &world.request(&agent, Some("nightly"))).await;
            let fresh = started.iter().filter(|started| !started.existed).count();
            assert_eq!((fresh, runs(&world).await), (1, 1), "seed {seed}");
            let run = started[0].run.clone();
            assert!(started.iter().all(|started| started.run == run), "seed {seed}: everybody learns of it");

            let mut drives = JoinSet::new();
            for _ in 0..50 {
                let (world, run, agent) = (world.clone(), run.clone(), agent.clone());
                let orchestrator = world.orchestrator();
                drives.spawn(async move { orchestrator.drive(&run, agent, &ambit_simulation::Quiet).await });
            }
            let drives = drives.join_all().await;
            let held =
                drives.iter().filter(|drive| drive.as_ref().is_err_and(|error| error.code() == "RUN_HELD"));
            assert!(held.count() >= 1, "seed {seed}: nobody was refused, so nothing was tried");
            assert_eq!(world.state(&run).await.phase(), Some(Phase::Completed));
            assert_eq!(world.sandbox.executed().len(), 3, "seed {seed}: the work was done once");
            crate::invariants::check_ended(&world, &run, &world.state(&run).await, &format!("seed {seed}"))
                .await;
        });
    }
}

#[test]
fn fifty_starts_without_a_name_are_fifty_runs_with_a_revision_each() {
    simulate(async {
        let world = Arc::new(world(Setup::standard()).await);
        world.faults.shuffle(7);
        let agent = world.agent(|_| Reply::Finished);
        let started = storm(&world, &world.request(&agent, None)).await;
        assert!(started.iter().all(|started| !started.existed));
        assert_eq!(runs(&world).await, 50);
        let mut revisions = Vec::new();
        for started in &started {
            revisions.push(world.state(&started.run).await.dossier().unwrap().pins.revision);
        }
        revisions.sort();
        assert_eq!(revisions, (1..=50).map(ambit_ids::RevisionId::new).collect::<Vec<_>>());
    });
}

/// A change that makes another request of a request.
type Change = fn(&mut StartRun);

// proves D1
// break crates/control-plane/orchestrator/src/check.rs: `let same = pins.blueprint.id == command.blueprint` -> `let same = true || pins.blueprint.id == command.blueprint`
// break crates/control-plane/orchestrator/src/check.rs: `Ok(policy == pins.policy && Limits::from(&budget) == pins.limits)` -> `Ok(policy == pins.policy)`
#[test]
fn a_name_that_another_request_has_is_refused() {
    let others: [(&str, Change); 4] = [
        ("another base", |it| it.base = "rev-1".parse().unwrap()),
        ("other bounds", |it| {
            it.ceilings = BudgetCeilings { max_model_steps: Some(2), ..BudgetCeilings::default() };
        }),
        ("another agent", |it| it.agent.id = "another".parse().unwrap()),
        ("another profile", |it| it.profile = "laptop-v1".parse().unwrap()),
    ];
    simulate(async {
        let world = world(Setup::standard()).await;
        world.import(&[("src/word.txt".to_owned(), b"another\n".to_vec())]).await;
        let agent = world.agent(|_| Reply::Finished);
        let request = world.request(&agent, Some("nightly"));
        let first = world.orchestrator().start(request.clone()).await.unwrap();
        for (what, change) in others {
            let mut other = request.clone();
            change(&mut other);
            let refused = world.orchestrator().start(other.clone()).await.expect_err(what);
            assert_eq!(refused.code(), "RUN_NAME_TAKEN", "{what}");
            other.name = None;
            assert!(
                !world.orchestrator().start(other).await.unwrap().existed,
                "{what}: without the name it is a run"
            );
        }
        let again = world.orchestrator().start(request).await.unwrap();
        assert_eq!(again, Started { run: first.run, existed: true });
    });
}

// proves E-S13
// break crates/control-plane/orchestrator/src/start.rs: `return Ok(Some(Started { run, existed: true }));` -> `return Ok(Some(Started { run, existed: false }));`
#[test]
fn a_name_answers_its_run_when_that_is_over_too() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let request = world.request(&agent, Some("nightly"));
        let first = world.orchestrator().start(request.clone()).await.unwrap();
        let state = world.drive(&first.run, &agent).await.ended();
        let again = world.orchestrator().start(request).await.unwrap();
        assert_eq!(again, Started { run: first.run.clone(), existed: true });
        assert_eq!(world.drive(&again.run, &agent).await.ended(), state);
        assert_eq!(world.sandbox.executed().len(), 3, "nothing is done again");
    });
}
