//! Whoever asks for the run of another tenant is answered as for one that never existed.

use std::fmt::Debug;

use ambit_ids::{RunId, Scope};
use ambit_orchestrator::{InboxCommand, RunRef};
use ambit_ports::store::{Store as _, StreamId};
use ambit_simulation::{Quiet, Setup, simulate};

use crate::policies::world;

/// An answer, with the id of the run that was asked for made unrecognisable.
fn blind(answer: &impl Debug, run: &RunId) -> String {
    format!("{answer:?}").replace(run.as_str(), "run_?")
}

// proves E-A10 D13
// break crates/testing/simulation/src/store/tables.rs: `self.streams.get(stream).map(|(_, head)| head.clone())` -> `self.streams.iter().find(|(of, _)| of.run() == stream.run()).map(|(_, (_, head))| head.clone())`
#[test]
fn another_tenant_is_answered_as_if_the_run_had_never_been() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        world.drive(&run, &agent).await.ended();
        let records = world.links(&run).await.len();
        let never: RunId = "run_never-was-here".parse().unwrap();
        let strangers = [
            Scope { organization: "bolt".parse().unwrap(), project: world.scope.project.clone() },
            Scope { organization: world.scope.organization.clone(), project: "site".parse().unwrap() },
        ];
        for scope in strangers {
            let mut answers = Vec::new();
            for id in [&run.run, &never] {
                let asked = RunRef { scope: scope.clone(), run: id.clone() };
                let orchestrator = world.orchestrator();
                let state = orchestrator.state(&asked).await;
                assert_eq!(state.as_ref().unwrap_err().code(), "RUN_NOT_FOUND");
                let driven = orchestrator.drive(&asked, agent.clone(), &Quiet).await;
                let project = orchestrator.project(&scope).await;
                let left = world.leave(&asked, &InboxCommand::Cancel { by: "eve".to_owned() }).await;
                world.store.dismiss(&asked.stream(), left).await.unwrap();
                let mut request = world.request(&agent, None);
                request.scope = scope.clone();
                let started = orchestrator.start(request).await.map_err(|error| error.code());
                answers.push([
                    blind(&state, id),
                    blind(&driven, id),
                    blind(&project, id),
                    blind(&started, id),
                ]);
            }
            assert_eq!(answers[0], answers[1], "{scope}");
            let owner = (&scope.organization, Some(&scope.project));
            let leased = world.store.leased();
            let theirs = |lease: &ambit_ports::leases::StreamLease| {
                (lease.stream.organization(), lease.stream.project()) == owner
            };
            assert!(!leased.iter().any(theirs), "{scope}: asking leaves nothing behind");
        }
        assert_eq!(world.links(&run).await.len(), records, "the run is untouched");
        assert!(world.waiting(&run).await.is_empty(), "nothing waits for its owner");
        assert!(world.orchestrator().state(&run).await.is_ok(), "who owns it sees it");
    });
}

// proves E-A12
// break crates/ports/src/sandbox/lease.rs: `let digest = Digest::of(format!("ambit.lease/v1\n{scope}\n{run}\n").as_bytes());` -> `let digest = Digest::of(format!("ambit.lease/v1\n{scope}\n{}\n", run.as_str().len()).as_bytes());`
#[test]
fn two_runs_never_share_a_sandbox() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|_| ambit_simulation::Reply::Silent);
        let mut runs = Vec::new();
        for _ in 0..3 {
            runs.push(world.start(&agent).await);
        }
        let drive = |index: usize| {
            let (orchestrator, run, agent) = (world.orchestrator(), runs[index].clone(), agent.clone());
            async move { orchestrator.drive(&run, agent, &Quiet).await.unwrap() }
        };
        let look = async {
            world.clock.pass(ambit_ids::DurationMs::new(1_000)).await;
            let live = world.sandbox.live();
            let mut owners: Vec<&RunId> = live.iter().map(|lease| &lease.run).collect();
            owners.sort();
            owners.dedup();
            assert_eq!((live.len(), owners.len()), (3, 3), "one sandbox a run, one run a sandbox");
            for run in &runs {
                world.cancel(run).await;
            }
        };
        tokio::join!(drive(0), drive(1), drive(2), look);
        assert!(world.sandbox.live().is_empty());
        assert!(matches!(runs[0].stream(), StreamId::Run(..)));
    });
}
