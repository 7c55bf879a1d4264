//! The stored trace of a run that goes well.

use ambit_evidence::v1::ActorKind;
use ambit_ids::Digest;
use ambit_orchestrator::view;
use ambit_ports::runtime::Clock as _;
use ambit_run::{Event, Phase, State};
use ambit_simulation::{Setup, simulate};

use crate::invariants::check_ended;
use crate::policies::world;

/// What one turn of the agent leaves in the trace before what it proposes.
const TURN: [&str; 2] = ["turn.opened", "budget.charged"];

fn expected() -> Vec<&'static str> {
    let turns: [&[&str]; 6] = [
        &["plan.accepted"],
        &["tool.decided", "patch.applied"],
        &["tool.decided", "gate.finished"],
        &["hypothesis.recorded", "tool.decided", "patch.applied"],
        &["tool.decided", "gate.finished"],
        &["tool.decided", "gate.finished"],
    ];
    let mut kinds = vec!["run.admitted", "lease.allocated"];
    for turn in turns {
        kinds.extend(TURN);
        kinds.extend(turn);
    }
    kinds.extend(["run.stopping", "process.terminated", "artifact.exported", "sandbox.destroyed"]);
    kinds.extend(["revision.eligible", "run.terminal"]);
    kinds
}

// proves E-C01 E-C06 E-C11 E-F09 E-F10 E-F11 E-A16 E-M03 E-B06
// break crates/control-plane/orchestrator/src/live.rs: `Event::Ended { phase: Phase::Completed, .. } => {` -> `Event::Ended { phase: Phase::Cancelled, .. } => {`
// break crates/domain/run/src/evolve.rs: `dossier.unexplained = (!record.passed()).then(|| FailedGate {` -> `dossier.unexplained = (record.passed()).then(|| FailedGate {`
#[test]
fn a_run_that_goes_well_alternates_to_its_end_and_is_preview_ready() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(world.kinds(&run).await, expected());
        check_ended(&world, &run, &state, "a run that goes well").await;
        let State::Ended(ended) = &state else { panic!("the run is not over") };
        assert_eq!((ended.phase, ended.preview_ready), (Phase::Completed, true));

        let records = ended.dossier.gates.records();
        let trees: Vec<Digest> = ended.dossier.patches.iter().map(|patch| patch.tree).collect();
        let passed: Vec<bool> = records.iter().map(|record| record.ending.is_success()).collect();
        assert_eq!(passed, [false, true, true], "the first failure is kept");
        assert_eq!([records[0].tree, records[1].tree, records[2].tree], [trees[0], trees[1], trees[1]]);
        let kept = world.blob(records[0].artifact).unwrap();
        assert!(String::from_utf8_lossy(&kept).contains("the word is wrong"), "and can be inspected");

        let view = view(&state, world.clock.now()).unwrap();
        let completion = view.completion.unwrap();
        assert_eq!(completion.claim, "preview-ready");
        assert!(completion.not.contains("not deployed"));
    });
}

// proves E-M01 E-O01 E-H08 E-E13
// break crates/domain/evidence/src/v1/write.rs: `service("evaluator")` -> `service("broker")`
#[test]
fn every_record_names_who_acted_in_which_scope_on_what_and_where() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        world.drive(&run, &agent).await.ended();
        for link in world.links(&run).await {
            let record = &link.record;
            let actor = match record.kind() {
                "plan.accepted" | "hypothesis.recorded" => run.run.as_str(),
                "tool.decided" => "policy",
                "patch.applied" => "broker",
                "gate.finished" => "evaluator",
                "lease.allocated" | "process.terminated" | "sandbox.destroyed" => "sandboxes",
                _ => "orchestrator",
            };
            assert_eq!(record.actor.id, actor, "{}", record.kind());
            let kind = if actor == run.run.as_str() { ActorKind::Run } else { ActorKind::Service };
            assert_eq!(record.actor.kind, kind);
            assert_eq!(
                (&record.org, record.project.as_ref()),
                (&run.scope.organization, Some(&run.scope.project))
            );
            assert_eq!(record.environment.blueprint, Some(world.digest), "{}", record.kind());
            let is_first = record.seq == 0;
            assert_eq!(record.precondition.phase.is_none(), is_first, "{}", record.kind());
            let is_material = matches!(record.kind(), "tool.decided" | "patch.applied" | "gate.finished");
            assert!(!is_material || record.artifact.is_some(), "{}", record.kind());
            assert!(record.ts.ends_with('Z') && !record.salt.is_empty());
        }
    });
}

// proves E-M07 E-J11 E-J15 E-I04
// break crates/control-plane/orchestrator/src/effects.rs: `blob.write(&row.bytes).await.map_err(keep)?;` -> `blob.write(b"").await.map_err(keep)?;`
#[test]
fn the_trace_so_far_is_kept_before_the_sandbox_is_removed() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        world.drive(&run, &agent).await.ended();
        let links = world.links(&run).await;
        let place = |kind| links.iter().position(|link| link.record.kind() == kind).unwrap();
        let (exported, destroyed) = (place("artifact.exported"), place("sandbox.destroyed"));
        assert!(exported < destroyed);
        let rows = world.journal().rows(&run.stream()).await.unwrap();
        let expected: Vec<u8> =
            rows[..exported].iter().flat_map(|row| [row.bytes.as_slice(), b"\n"].concat()).collect();
        let kept = world.blob(links[exported].record.artifact.unwrap()).unwrap();
        assert_eq!(kept, expected, "the records so far, byte for byte");

        let Ok(Event::SandboxAllocated(held)) = links[place("lease.allocated")].record.event() else {
            panic!("no sandbox")
        };
        let manifest = world.blob(held.manifest).unwrap();
        assert!(String::from_utf8_lossy(&manifest).contains("denied.network"), "what was measured is kept");
        for record in links[1..=destroyed].iter().map(|link| &link.record) {
            let held_then = record.seq > 0 && record.seq < destroyed as u64;
            assert_eq!(record.environment.manifest, held_then.then_some(held.manifest), "{}", record.kind());
        }
        for kind in ["process.terminated", "sandbox.destroyed"] {
            let receipt = links[place(kind)].record.artifact.unwrap();
            assert!(world.blob(receipt).is_some(), "the receipt of {kind} is kept");
        }
    });
}
