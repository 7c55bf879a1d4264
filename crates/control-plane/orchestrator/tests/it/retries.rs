//! What is tried again by itself, and what is not.

use ambit_run::{Event, Observation, State};
use ambit_simulation::{Cut, Fault, Faults, Reply, Setup, Turn, World, edit, simulate};

use crate::invariants::check_ended;
use crate::policies::world;

/// Drives a run of a plan and one call, and lets a read of a blob fail within the call.
async fn with_fault(
    call: fn(&Turn) -> serde_json::Value,
    plan: fn(&Faults),
) -> (World, State, Vec<Observation>) {
    let world = world(Setup::standard()).await;
    let faults = world.faults.clone();
    let agent = world.agent(move |turn| match turn.proposals() {
        0 => Reply::Say(turn.plan(&["AC-1"])),
        1 => {
            plan(&faults);
            Reply::Say(call(turn))
        }
        _ => {
            faults.heal();
            Reply::Finished
        }
    });
    let run = world.start(&agent).await;
    let state = world.drive(&run, &agent).await.ended();
    check_ended(&world, &run, &state, "a fault").await;
    let seen = world
        .links(&run)
        .await
        .into_iter()
        .filter_map(|link| match link.record.event() {
            Ok(Event::CallObserved { observation, .. }) => Some(observation),
            _ => None,
        })
        .collect();
    (world, state, seen)
}

// proves E-D11
// break crates/control-plane/broker/src/perform.rs: `&& flight.call.tool().side_effect() == SideEffect::None` -> `&& true`
// break crates/control-plane/broker/src/perform.rs: `&& tries < TRIES => {}` -> `&& tries > TRIES => {}`
#[test]
fn a_read_that_stumbles_is_tried_again_and_a_patch_is_not() {
    let failed = || Observation::Failed { code: "BLOB_STORE_FAILED".to_owned() };
    simulate(async {
        let once: fn(&Faults) = |faults| faults.plan(Cut::BlobGet, 0, Fault::Fail);
        let (world, _, seen) = with_fault(|turn| turn.read("src/word.txt"), once).await;
        assert!(matches!(seen[..], [Observation::FileRead { .. }]), "{seen:?}");
        assert!(world.faults.passed(Cut::BlobGet) > 0);

        let always: fn(&Faults) = |faults| faults.plan_always(Cut::BlobGet, Fault::Fail);
        let (_, _, seen) = with_fault(|turn| turn.read("src/word.txt"), always).await;
        assert_eq!(seen, [failed()], "not for ever");

        let full: fn(&Faults) = |faults| faults.plan(Cut::BlobGet, 0, Fault::NoSpace);
        let (_, _, seen) = with_fault(|turn| turn.read("src/word.txt"), full).await;
        assert_eq!(
            seen,
            [Observation::Failed { code: "STORAGE_FULL".to_owned() }],
            "a full disk is no stumble"
        );

        // The content is read to assess the patch; the patch itself is read to perform it.
        let second: fn(&Faults) = |faults| faults.plan(Cut::BlobGet, 1, Fault::Fail);
        let patch: fn(&Turn) -> serde_json::Value =
            |turn| turn.patch(&edit("src/word.txt", "undone\n", "right\n"));
        let (world, state, seen) = with_fault(patch, second).await;
        assert_eq!(seen, [failed()]);
        assert_eq!(state.dossier().unwrap().head, world.base_tree.digest(), "nothing was applied");

        let later: fn(&Faults) = |faults| faults.plan(Cut::BlobGet, 50, Fault::Fail);
        let (_, _, seen) = with_fault(patch, later).await;
        assert!(matches!(seen[..], [Observation::PatchApplied(_)]), "{seen:?}");
    });
}

// proves E-P06 E-S14
// break crates/control-plane/orchestrator/src/drive.rs: `pilot.tell(observer, Command::Recover, Vec::new()).await?;` -> `let _ = Command::Recover;`
#[test]
fn a_drive_that_gave_up_is_gone_on_with_by_the_next() {
    let faults: [(Cut, Fault, &str); 7] = [
        (Cut::CommitBefore, Fault::Fail, "STORE_FAILED"),
        (Cut::CommitBefore, Fault::NoSpace, "STORAGE_FULL"),
        (Cut::CommitBefore, Fault::Moved, "STREAM_MOVED"),
        (Cut::CommitAfter, Fault::Fail, "STORE_FAILED"),
        (Cut::StoreRead, Fault::Fail, "STORE_FAILED"),
        (Cut::LeaseRenew, Fault::Fail, "STORE_FAILED"),
        (Cut::LeaseRenew, Fault::NoSpace, "STORAGE_FULL"),
    ];
    for (cut, fault, code) in faults {
        for skip in [0, 1, 5, 9, 14] {
            simulate(async {
                let mut setup = Setup::standard();
                let judge = setup.judge;
                let takes = ambit_ids::DurationMs::new(20_000);
                setup.judge = Box::new(move |execution| judge(execution).after(takes));
                let world = world(setup).await;
                let agent = world.worker();
                let run = world.start(&agent).await;
                world.faults.plan(cut, skip, fault);
                let told = format!("{fault:?} at {cut:?} after {skip}");
                let driven = world.drive(&run, &agent).await;
                let ambit_simulation::Driven::Failed(error) = driven else { panic!("{told}: {driven:?}") };
                assert_eq!(error.code(), code, "{told}");
                let (state, _) = world.settle(&run, &agent, 3).await;
                assert_eq!(state.stop_reason().unwrap().code(), "gates-passed", "{told}");
                check_ended(&world, &run, &state, &told).await;
            });
        }
    }
}
