//! Somebody approves, and may approve no more before the approval is used.

use std::sync::Arc;

use ambit_ids::{ApproverId, DurationMs};
use ambit_orchestrator::{InboxCommand, RunRef};
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
    world.projects().add_approver(&world.scope, &name, &bob.public_key(), &world.credential).await.unwrap();
    wait_for_question(world, run).await;
    world.leave(run, &InboxCommand::Decide(world.decision(run, true).await)).await;
    while world.question(run).await.is_some() {
        world.clock.pass(DurationMs::new(1)).await;
    }
    world.projects().revoke_approver(&world.scope, &world.approver, &bob).await.unwrap();
}

// proves E-H03
// break crates/control-plane/orchestrator/src/live.rs: `givers.map(|receipt| revocation_key(&receipt.approver)).collect()` -> `givers.map(|receipt| receipt.id.to_string()).collect()`
#[test]
fn who_was_revoked_before_the_approval_is_used_has_approved_nothing() {
    // The agent answers long after the next look, and before it: then only the commit itself can tell.
    for after in [200, 3] {
        simulate(async {
            let world = world(Setup::standard()).await;
            let agent = slow_asker(&world, after);
            let run = world.start(&agent).await;
            let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
                approve_and_be_revoked(&world, &run).await;
                wait_for_question(&world, &run).await;
                world.cancel(&run).await;
            });
            let state = driven.ended();
            let told = format!("revoked {after} ms before");
            check_ended(&world, &run, &state, &told).await;
            let kinds = world.kinds(&run).await;
            assert_eq!(
                (count(&kinds, "approval.decided"), count(&kinds, "receipt.voided")),
                (1, 1),
                "{kinds:?}"
            );
            assert_eq!(
                (count(&kinds, "approval.consumed"), count(&kinds, "patch.applied")),
                (0, 0),
                "{told}"
            );
            let void = state.dossier().unwrap().approvals.receipts().next().unwrap().void;
            assert_eq!(void, Some(ambit_run::VoidReason::ApproverRevoked), "{told}");
            let heard = agent.heard();
            let void_told = heard.iter().any(|last| last["denied"]["code"] == "APPROVAL_VOID");
            assert!(void_told, "the policy had said yes: {heard:?}");
        });
    }
}

#[test]
fn an_approver_who_stands_is_not_in_the_way() {
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
