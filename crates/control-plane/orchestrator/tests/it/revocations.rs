//! Somebody approves, and before the approval is used may approve no more, or the blueprint is approved no more.

use std::sync::Arc;

use ambit_ids::{ApproverId, DurationMs};
use ambit_orchestrator::{InboxCommand, RunRef};
use ambit_run::VoidReason;
use ambit_simulation::{ApproverCredential, Reply, Setup, SimAgent, SimEntropy, World, simulate};

use crate::approvals::{ask_and_work, count, leave, wait_for_question};
use crate::invariants::check_ended;
use crate::policies::world;

/// Plans, asks, and proposes what was approved so many milliseconds after the answer.
fn slow_asker(world: &World, after: u64) -> Arc<SimAgent> {
    let base = world.base_tree.digest().to_string();
    world.agent(move |turn| match ask_and_work(turn, &base) {
        reply if turn.last()["decision"] == "approved" => {
            Reply::After(DurationMs::new(after), Box::new(reply))
        }
        reply => reply,
    })
}

/// Lets bob approve too, and has ada approve what is asked; then bob revokes ada at once.
async fn approve_and_be_revoked(world: &World, run: &RunRef) {
    let bob = ApproverCredential::generate(&SimEntropy::new(77));
    let name = ApproverId::new("bob").unwrap();
    let (key, form) = (bob.public_key(), bob.form());
    world.projects().add_approver(&world.scope, &name, &key, form, &world.credential).await.unwrap();
    wait_for_question(world, run).await;
    world.leave(run, &InboxCommand::Decide(world.decision(run, true).await)).await;
    while world.question(run).await.is_some() {
        world.clock.pass(DurationMs::new(1)).await;
    }
    world.projects().revoke_approver(&world.scope, &world.approver, &bob).await.unwrap();
}

/// Has ada approve what is asked, and at once withdraw the blueprint under which the run works.
async fn approve_and_withdraw(world: &World, run: &RunRef) {
    wait_for_question(world, run).await;
    world.leave(run, &InboxCommand::Decide(world.decision(run, true).await)).await;
    while world.question(run).await.is_some() {
        world.clock.pass(DurationMs::new(1)).await;
    }
    let (projects, blueprint) = (world.projects(), &world.blueprint.metadata.name);
    projects.withdraw(&world.scope, blueprint, world.digest, &world.credential).await.unwrap();
}

/// Drives a run whose approval ends `after` so many milliseconds before it is used, and holds that it was used for nothing.
async fn assert_ended(after: u64, reason: VoidReason, end: impl AsyncFnOnce(&World, &RunRef)) {
    let world = world(Setup::standard()).await;
    let agent = slow_asker(&world, after);
    let run = world.start(&agent).await;
    let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
        end(&world, &run).await;
        wait_for_question(&world, &run).await;
        world.cancel(&run).await;
    });
    let state = driven.ended();
    let told = format!("{reason} {after} ms before");
    check_ended(&world, &run, &state, &told).await;
    let kinds = world.kinds(&run).await;
    assert_eq!((count(&kinds, "approval.decided"), count(&kinds, "receipt.voided")), (1, 1), "{kinds:?}");
    assert_eq!((count(&kinds, "approval.consumed"), count(&kinds, "patch.applied")), (0, 0), "{told}");
    let void = state.dossier().unwrap().approvals.receipts().next().unwrap().void;
    assert_eq!(void, Some(reason), "{told}");
    let heard = agent.heard();
    let void_told = heard.iter().any(|last| last["denied"]["code"] == "APPROVAL_VOID");
    assert!(void_told, "the policy had said yes: {heard:?}");
    let links = world.links(&run).await;
    let ended = links.iter().find(|link| link.record.kind() == "receipt.voided").unwrap();
    let newest = world.project_links().await;
    let known = newest.iter().position(|link| Some(link.leaf) == ended.record.precondition.project);
    let cause = newest
        .iter()
        .position(|link| ["approver.revoked", "blueprint.withdrawn"].contains(&link.record.kind()));
    assert!(known >= cause && cause.is_some(), "{told}: the record names the project as it was known");
}

// proves E-H03
// break crates/control-plane/orchestrator/src/live.rs: `givers.map(|receipt| revocation_key(&receipt.approver)).collect()` -> `givers.map(|receipt| receipt.id.to_string()).collect()`
#[test]
fn who_was_revoked_before_the_approval_is_used_has_approved_nothing() {
    // The agent answers long after the next look, and before it: then only the commit itself can tell.
    for after in [200, 3] {
        simulate(assert_ended(after, VoidReason::ApproverRevoked, approve_and_be_revoked));
    }
}

// proves E-H03
// break crates/control-plane/orchestrator/src/live.rs: `keys.push(withdrawal_key(&dossier.pins.blueprint.id, dossier.pins.blueprint.digest));` -> `keys.push(String::from("nothing"));`
// break crates/control-plane/orchestrator/src/drive/letters.rs: `if project.is_withdrawn(&blueprint.id, blueprint.digest) {` -> `if false {`
#[test]
fn what_was_approved_under_a_blueprint_that_is_withdrawn_before_it_is_used_is_approved_no_more() {
    for after in [200, 3] {
        simulate(assert_ended(after, VoidReason::PolicyChanged, approve_and_withdraw));
    }
}

#[test]
fn an_approver_and_a_blueprint_that_stand_are_not_in_the_way() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = slow_asker(&world, 200);
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            leave(&world, &run, world.decision(&run, true).await).await;
        });
        let state = driven.ended();
        check_ended(&world, &run, &state, "an approver who stands").await;
        assert_eq!(count(&world.kinds(&run).await, "patch.applied"), 1);
    });
}
