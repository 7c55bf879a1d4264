//! A run is in the hands of one process at a time, and a process that lost it does nothing more.

use std::sync::Arc;

use ambit_ids::DurationMs;
use ambit_orchestrator::Driver;
use ambit_ports::runtime::{Clock as _, Processes};
use ambit_run::State;
use ambit_simulation::{Cut, Driven, Execution, Fault, Outcome, Setup, SimSandbox, Verb, World, simulate};

use crate::invariants::check_ended;
use crate::policies::world;

/// The job of the standard setup, with commands that take fifteen seconds each: longer than a lease lasts.
fn slow() -> Setup {
    let Setup { judge, .. } = Setup::standard();
    let judge = Box::new(move |execution: &Execution<'_>| -> Outcome {
        judge(execution).after(DurationMs::new(15_000))
    });
    Setup { judge, ..Setup::standard() }
}

// proves E-S20
// break crates/control-plane/orchestrator/src/drive.rs: `if left.get() < LEASE_MS.get() * 2 / 3 {` -> `if left.get() > LEASE_MS.get() * 2 {`
#[test]
fn while_one_process_drives_a_run_another_is_refused() {
    simulate(async {
        let world = world(slow()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        let late = async {
            world.clock.pass(DurationMs::new(12_000)).await;
            let others = world.worker();
            let refused = world.orchestrator().drive(&run, others.clone(), &ambit_simulation::Quiet).await;
            assert_eq!(refused.unwrap_err().code(), "RUN_HELD", "though a lease lasts ten seconds");
            assert!(others.told().is_empty());
        };
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), late);
        let state = driven.ended();
        check_ended(&world, &run, &state, "two processes").await;
        assert_eq!(world.sandbox.executed().len(), 3);
    });
}

/// A process that knows which others are gone.
struct Neighbour(&'static str, &'static [&'static str]);

impl Processes for Neighbour {
    fn own(&self) -> String {
        self.0.to_owned()
    }

    fn is_gone(&self, name: &str) -> bool {
        self.1.contains(&name)
    }
}

// proves E-P06
// break crates/control-plane/orchestrator/src/holding.rs: `self.leases.release(&lease).await?;` -> `let _ = &lease;`
// break crates/control-plane/orchestrator/src/holding.rs: `self.processes.is_gone(process)` -> `!process.is_empty()`
#[test]
fn a_run_is_taken_over_at_once_from_a_process_that_is_gone_and_from_no_other() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        let with = |own, gone| {
            let mut orchestrator = world.orchestrator();
            orchestrator.processes = Arc::new(Neighbour(own, gone));
            orchestrator
        };
        let first = with("first", &[]);
        assert_eq!(first.driver(&run).await.unwrap(), Driver::Nobody);
        let ttl = DurationMs::new(10_000);
        first.leases.acquire(&run.stream(), "first#1", first.clock.now(), ttl).await.unwrap();
        let stranger = with("stranger", &["second", "first#1", ""]);
        assert_eq!(stranger.driver(&run).await.unwrap(), Driver::Process);
        let refused = stranger.drive(&run, agent.clone(), &ambit_simulation::Quiet).await;
        assert_eq!(refused.unwrap_err().code(), "RUN_HELD");
        let heir = with("heir", &["first"]);
        assert_eq!(heir.driver(&run).await.unwrap(), Driver::Gone);
        let state = heir.drive(&run, agent.clone(), &ambit_simulation::Quiet).await.unwrap();
        assert!(world.clock.now().since(ambit_simulation::EPOCH) < ttl, "it waited for the lease");
        check_ended(&world, &run, &state, "taken over").await;
        assert_eq!(heir.driver(&run).await.unwrap(), Driver::Nobody);
    });
}

// proves E-S20 E-P06
// break crates/control-plane/orchestrator/src/live.rs: `fence: Some(self.lease.fence),` -> `fence: None,`
#[test]
fn a_process_that_was_fenced_stops_without_a_further_effect() {
    let commits = simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        let before = world.faults.passed(Cut::CommitBefore);
        world.drive(&run, &agent).await.ended();
        world.faults.passed(Cut::CommitBefore) - before
    });
    // The last commit closes the run in its project, which needs no lease.
    for stolen in 0..commits - 1 {
        simulate(async {
            let world = world(Setup::standard()).await;
            let agent = world.worker();
            let run = world.start(&agent).await;
            world.faults.plan(Cut::CommitBefore, stolen, Fault::Stolen);
            let driven = world.drive(&run, &agent).await;
            let Driven::Failed(error) = driven else { panic!("commit {stolen}: {driven:?}") };
            assert_eq!(error.code(), "STREAM_FENCED", "commit {stolen}");
            let (executed, told) = (world.sandbox.executed().len(), agent.told().len());
            let records = world.links(&run).await.len();
            world.clock.pass(DurationMs::new(60_000)).await;
            assert_eq!(world.sandbox.executed().len(), executed, "commit {stolen}: an effect after the end");
            assert_eq!(agent.told().len(), told, "commit {stolen}: a question after the end");
            assert_eq!(world.links(&run).await.len(), records, "commit {stolen}: a record after the end");
            let (state, _) = world.settle(&run, &agent, 4).await;
            check_ended(&world, &run, &state, &format!("commit {stolen}")).await;
        });
    }
}

// proves E-S20
// break crates/control-plane/orchestrator/src/drive.rs: `self.live.lease = orchestrator.leases.renew(&self.live.lease, now, LEASE_MS).await?;` -> `self.live.lease = orchestrator.leases.renew(&self.live.lease, now, LEASE_MS).await.unwrap_or_else(|_| self.live.lease.clone());`
#[test]
fn a_process_whose_lease_was_taken_stops_while_its_gate_still_runs() {
    simulate(async {
        let world = world(slow()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        world.faults.plan(Cut::LeaseRenew, 1, Fault::Stolen);
        let driven = world.drive(&run, &agent).await;
        let Driven::Failed(error) = driven else { panic!("{driven:?}") };
        assert_eq!(error.code(), "RUN_LEASE_LOST");
        let unseen = world.sandbox.executed().len();
        assert_eq!(unseen, 1, "it stopped in the middle of the first gate");
        let (state, lives) = world.settle(&run, &agent, 2).await;
        assert_eq!(lives, 1);
        check_ended(&world, &run, &state, "a stolen lease").await;
        let kinds = world.kinds(&run).await;
        assert!(
            kinds.contains(&"tool.unknown"),
            "what the gate did is not known, and it is not run again by itself"
        );
    });
}

// proves E-P02
// break crates/control-plane/orchestrator/src/drive.rs: `let look_at = orchestrator.clock.now();` -> `let look_at = orchestrator.clock.now().saturating_add(LOOK_MS);`
#[test]
fn a_cancellation_that_waited_is_taken_before_anything_begins() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        world.cancel(&run).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().code(), "customer-cancelled");
        assert!(agent.told().is_empty(), "the agent was never asked");
        assert_eq!(world.sandbox.asked(Verb::Allocate), 0, "no sandbox was asked for");
        check_ended(&world, &run, &state, "a cancellation that waited").await;
    });
}

// proves E-A04
// break crates/control-plane/orchestrator/src/drive.rs: `if pinned.id != *agent.id() || pinned.definition != agent.definition() {` -> `if pinned.id != *agent.id() {`
#[test]
fn a_run_is_not_driven_by_another_agent_than_it_is_pinned_to() {
    struct Other(ambit_run::AgentPin);
    #[async_trait::async_trait]
    impl ambit_ports::agent::Agent for Other {
        fn id(&self) -> &ambit_ids::AgentId {
            &self.0.id
        }
        fn definition(&self) -> ambit_ids::Digest {
            self.0.definition
        }
        fn turn_quote(&self) -> ambit_ids::MicroUsd {
            ambit_ids::MicroUsd::ZERO
        }
        fn redactor(&self) -> ambit_redaction::Redactor {
            ambit_redaction::Redactor::by_rules()
        }
        async fn answer(
            &self,
            _: ambit_ports::agent::TurnOffer,
            _: ambit_ports::AbortSignal,
        ) -> Result<ambit_ports::agent::AgentAnswer, ambit_ports::agent::AgentError> {
            panic!("it is never asked")
        }
    }
    simulate(async {
        let world: World = world(Setup::standard()).await;
        let worker = world.worker();
        let run = world.start(&worker).await;
        let pinned = worker.pin();
        let another = ambit_run::AgentPin { id: "another".parse().unwrap(), ..pinned.clone() };
        let altered = ambit_run::AgentPin { definition: ambit_ids::Digest::of(b"altered"), ..pinned };
        for other in [another, altered] {
            let Driven::Failed(error) = world.drive(&run, &Arc::new(Other(other))).await else {
                panic!("it was driven")
            };
            assert_eq!(error.code(), "AGENT_MISMATCH");
            assert!(matches!(world.state(&run).await, State::Open(_)));
        }
        world.drive(&run, &worker).await.ended();
    });
}

/// Another backend could neither find nor remove what the first one made.
#[test]
fn a_run_is_not_driven_with_another_backend_than_it_is_pinned_to() {
    simulate(async {
        let mut world: World = world(Setup::standard()).await;
        let worker = world.worker();
        let started = |world: &World| {
            let (orchestrator, request) = (world.orchestrator(), world.request(&worker, Some("pinned")));
            async move { orchestrator.start(request).await }
        };
        let run = started(&world).await.unwrap().run;
        let State::Open(open) = world.state(&run).await else { panic!("it is not open") };
        assert_eq!(open.dossier.pins.backend.as_str(), "simulated");
        let other =
            SimSandbox::new(world.clock, world.faults.clone(), |_| Outcome::passes()).called("oci:crun");
        let own = std::mem::replace(&mut world.sandbox, Arc::new(other));
        let Driven::Failed(error) = world.drive(&run, &worker).await else { panic!("it was driven") };
        assert_eq!(error.code(), "BACKEND_MISMATCH");
        assert_eq!(started(&world).await.unwrap_err().code(), "RUN_NAME_TAKEN");
        assert_eq!(world.sandbox.asked(Verb::Allocate), 0);
        world.sandbox = own;
        assert!(started(&world).await.unwrap().existed);
        world.drive(&run, &worker).await.ended();
    });
}
