//! Questions to a person and their answers, through the inbox of the run.

use std::sync::Arc;

use ambit_evidence::CredentialForm;
use ambit_ids::{ApproverId, Digest, DurationMs, Scope};
use ambit_orchestrator::{InboxCommand, RunRef, SignedDecision};
use ambit_ports::runtime::Clock as _;
use ambit_ports::store::Store as _;
use ambit_run::{Event, State};
use ambit_simulation::{
    ApproverCredential, Cut, Driven, Fault, Reply, Setup, SimAgent, SimEntropy, Turn, World, edit, simulate,
};
use serde_json::Value;

use crate::invariants::check_ended;
use crate::policies::world;

const REQUIREMENTS: &str = "requirements.txt";

fn dependency() -> String {
    edit(REQUIREMENTS, "attrs==25.3.0\n", "attrs==25.3.0\nrequests==2.32.0\n")
}

/// Plans, asks for a dependency until somebody has decided, proposes it again, and does the job.
pub(crate) fn ask_and_work(turn: &Turn, base: &str) -> Reply {
    if !turn.is_planned() {
        return Reply::Say(turn.plan(&["AC-1", "AC-2"]));
    }
    let held = &turn.last()["needsApproval"];
    if !held.is_null() {
        assert_eq!(held["detail"], "requirements.txt adds the dependency requests", "{held}");
        assert_eq!(held["rules"].as_array().map(Vec::len), Some(1), "{held}");
        assert!(
            held["instead"].as_str().is_some_and(|instead| instead.contains("or ask a person")),
            "{held}"
        );
        return Reply::Say(turn.ask());
    }
    if turn.head() == base {
        return Reply::Say(turn.patch(&dependency()));
    }
    Reply::Finished
}

fn asker(world: &World) -> Arc<SimAgent> {
    let base = world.base_tree.digest().to_string();
    world.agent(move |turn| ask_and_work(turn, &base))
}

fn second() -> DurationMs {
    DurationMs::new(1_000)
}

/// What a person does while a run waits for somebody.
pub(crate) async fn wait_for_question(world: &World, run: &RunRef) {
    for _ in 0..1_000 {
        if world.question(run).await.is_some() {
            return;
        }
        world.clock.pass(second()).await;
    }
    panic!("nobody is asked anything");
}

pub(crate) async fn leave(world: &World, run: &RunRef, decision: SignedDecision) {
    world.leave(run, &InboxCommand::Decide(decision)).await;
    world.clock.pass(second()).await;
    assert!(world.waiting(run).await.is_empty(), "a decision that was looked at waits no more");
}

pub(crate) fn count(kinds: &[&str], kind: &str) -> usize {
    kinds.iter().filter(|seen| **seen == kind).count()
}

// proves E-H03 E-H04 E-H05 E-H08 E-E05 E-D05
// break crates/control-plane/orchestrator/src/turn.rs: `approval: dossier.approvals.as_fact(assessment.arguments, orchestrator.clock.now()),` -> `approval: None,`
// break crates/domain/run/src/step/propose.rs: `draft.push(Event::ApprovalConsumed { turn, receipt });` -> `let _ = receipt;`
#[test]
fn an_approved_proposal_is_performed_once_by_the_broker() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = asker(&world);
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            let question = world.question(&run).await.unwrap();
            let content = question.content.as_ref().unwrap();
            assert_eq!(content.digest().unwrap(), question.digest, "what is shown is what is decided about");
            assert_eq!(content.subject, Digest::of(dependency().as_bytes()), "the exact patch");
            assert_eq!(content.target, world.base_tree.digest(), "the exact tree");
            leave(&world, &run, world.decision(&run, true).await).await;
        });
        let state = driven.ended();
        check_ended(&world, &run, &state, "an approved proposal").await;
        let kinds = world.kinds(&run).await;
        for kind in ["approval.requested", "approval.decided", "approval.consumed", "patch.applied"] {
            assert_eq!(count(&kinds, kind), 1, "{kind}: {kinds:?}");
        }
        let links = world.links(&run).await;
        let decided = links.iter().find(|link| link.record.kind() == "approval.decided").unwrap();
        assert_eq!(decided.record.actor.id, "ada", "a person decided");
        assert!(world.blob(decided.record.artifact.unwrap()).is_some(), "the signed decision is kept");
        let Ok(Event::ApprovalDecided { decision, .. }) = decided.record.event() else {
            panic!("no decision")
        };
        let claim = world.store.claim(&world.scope, &format!("receipt/{}", decision.receipt)).await.unwrap();
        assert!(claim.is_some(), "a receipt is used once in the whole project");
        let heard: Vec<Value> = agent.heard();
        assert!(heard.iter().any(|last| last["decision"] == "approved" && last["receiptId"].is_string()));
        let secret = world.credential.reveal();
        assert!(!heard.iter().any(|last| last.to_string().contains(secret.as_str())), "never the credential");
    });
}

/// A way to make a decision that does not count out of one that does.
type Forge = fn(&World, SignedDecision) -> SignedDecision;

fn forged_signature(_: &World, mut decision: SignedDecision) -> SignedDecision {
    let first = if decision.signature.starts_with('0') { "1" } else { "0" };
    decision.signature.replace_range(..1, first);
    decision
}

const FORGERIES: [(&str, Forge); 8] = [
    ("a forged signature", forged_signature),
    ("no signature", |_, it| SignedDecision { signature: String::new(), ..it }),
    ("another digest", |_, it| SignedDecision { digest: Digest::of(b"another"), ..it }),
    ("another question", |_, it| SignedDecision { expected_sequence: it.expected_sequence + 1, ..it }),
    ("another proposal", |_, it| SignedDecision { proposal: "prop_0123456789abcdef".parse().unwrap(), ..it }),
    ("a rejection turned round", |_, it| SignedDecision { approved: !it.approved, ..it }),
    ("another keeping", |_, it| SignedDecision { credential: Some(CredentialForm::Sealed), ..it }),
    ("an unknown approver", |_, it| SignedDecision { approver: ApproverId::new("eve").unwrap(), ..it }),
];

// proves E-H03 E-A05
// break crates/domain/evidence/src/signature.rs: `from_hex::<64>(signature).is_some_and(|signature| self.verifies(message, &signature))` -> `from_hex::<64>(signature).is_some_and(|_| !message.is_empty())`
// break crates/control-plane/orchestrator/src/drive/letters.rs: `if !decision.counts(scope, &project) {` -> `if decision.counts(scope, &project) && false {`
#[test]
fn a_decision_that_nobody_may_make_has_no_effect_and_does_not_wait() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = asker(&world);
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            let records = world.links(&run).await.len();
            let question = world.question(&run).await;
            for (what, forge) in FORGERIES {
                let genuine = world.decision(&run, what != "a rejection turned round").await;
                leave(&world, &run, forge(&world, genuine)).await;
                assert_eq!(world.question(&run).await, question, "{what}");
                assert_eq!(world.links(&run).await.len(), records, "{what}");
            }
            leave(&world, &run, another_key(&world, &run).await).await;
            assert_eq!(world.links(&run).await.len(), records, "signed by somebody else");
            let elsewhere = Scope { project: "site".parse().unwrap(), ..world.scope.clone() };
            let theirs = another_projects_decision(&world, &elsewhere, &run).await;
            leave(&world, &run, theirs).await;
            assert_eq!(world.links(&run).await.len(), records, "signed for another project");
            leave(&world, &run, world.decision(&run, true).await).await;
        });
        let state = driven.ended();
        check_ended(&world, &run, &state, "forged decisions").await;
        assert_eq!(count(&world.kinds(&run).await, "approval.decided"), 1, "the genuine one");
    });
}

/// A decision with exactly the same words, signed by the approver of a world in which somebody else is called `ada`.
async fn another_key(here: &World, run: &RunRef) -> SignedDecision {
    let genuine = here.decision(run, true).await;
    let there = world(Setup::seeded(99)).await;
    let theirs =
        there.signed(&genuine.proposal, genuine.digest, genuine.expected_sequence, genuine.approved).await;
    assert_ne!(theirs.signature, genuine.signature);
    theirs
}

/// A decision with the same words, signed by the same person for another project.
async fn another_projects_decision(world: &World, scope: &Scope, run: &RunRef) -> SignedDecision {
    let genuine = world.decision(run, true).await;
    let projects = world.projects();
    let (key, form) = (world.credential.public_key(), world.credential.form());
    projects.register_approver(scope, &world.approver, &key, form).await.unwrap();
    let (proposal, digest, place) = (&genuine.proposal, genuine.digest, genuine.expected_sequence);
    projects
        .sign_decision(scope, proposal, digest, place, genuine.verdict(), &world.credential)
        .await
        .unwrap()
}

// proves E-H03
// break crates/domain/run/src/approvals.rs: `!self.consumed && self.void.is_none()` -> `self.void.is_none()`
#[test]
fn an_approval_is_used_once_even_where_its_effect_failed() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = asker(&world);
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            let decision = world.decision(&run, true).await;
            // The evidence, the proposed patch and the request are kept; the canonical patch is not.
            world.faults.plan(Cut::BlobPut, 3, Fault::NoSpace);
            leave(&world, &run, decision.clone()).await;
            wait_for_question(&world, &run).await;
            let records = world.links(&run).await.len();
            leave(&world, &run, decision).await;
            assert_eq!(world.links(&run).await.len(), records, "the same decision does not count again");
            leave(&world, &run, world.decision(&run, true).await).await;
        });
        let state = driven.ended();
        check_ended(&world, &run, &state, "an approval that was used").await;
        let kinds = world.kinds(&run).await;
        assert_eq!(
            (count(&kinds, "approval.consumed"), count(&kinds, "approval.requested")),
            (2, 2),
            "{kinds:?}"
        );
        let effects = (count(&kinds, "tool.effect"), count(&kinds, "patch.applied"));
        assert_eq!(effects, (3, 1), "two answers, an effect that failed and one that did not: {kinds:?}");
    });
}

// proves E-H07 E-C08
// break crates/domain/run/src/step/start.rs: `draft.stop(StopReason::ApprovalExpired);` -> `draft.stop(StopReason::CustomerCancelled);`
#[test]
fn a_question_that_nobody_answers_in_time_ends_the_run() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = asker(&world);
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().code(), "approval-expired");
        let waited = world.clock.now().since(ambit_simulation::EPOCH);
        assert_eq!(waited.get() / 60_000, 15, "{waited}");
        check_ended(&world, &run, &state, "an expired question").await;
        assert!(world.kinds(&run).await.contains(&"approval.voided"));
        let before = world.links(&run).await.len();
        let late = world.signed(&"prop_0123456789abcdef".parse().unwrap(), Digest::of(b""), 0, true).await;
        world.leave(&run, &InboxCommand::Decide(late)).await;
        assert_eq!(world.drive(&run, &agent).await.ended(), state);
        assert_eq!(world.links(&run).await.len(), before);
    });
}

// proves E-H03
// break crates/domain/run/src/approvals.rs: `now.get() < self.begins.get() || now.get() >= self.expires.get()` -> `now.get() < self.begins.get()`
#[test]
fn a_receipt_ends_with_its_time_and_is_judged_when_it_is_used() {
    simulate(async {
        let mut setup = Setup::standard();
        setup.blueprint.spec.run_budget.max_elapsed = DurationMs::new(60 * 60_000);
        let world = world(setup).await;
        let base = world.base_tree.digest().to_string();
        let late = DurationMs::new(15 * 60_000);
        let agent = world.agent(move |turn| match ask_and_work(turn, &base) {
            reply if turn.last()["decision"].is_string() => Reply::After(late, Box::new(reply)),
            reply => reply,
        });
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            leave(&world, &run, world.decision(&run, true).await).await;
        });
        let state = driven.ended();
        check_ended(&world, &run, &state, "a receipt that ended").await;
        let kinds = world.kinds(&run).await;
        assert_eq!(
            (count(&kinds, "approval.decided"), count(&kinds, "approval.consumed")),
            (1, 0),
            "{kinds:?}"
        );
        assert_eq!(count(&kinds, "patch.applied"), 0);
        assert_eq!(
            state.stop_reason().unwrap().code(),
            "approval-expired",
            "it was held back and asked for again"
        );
    });
}

#[test]
fn a_rejection_is_told_to_the_agent_and_changes_nothing() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent =
            world.script([|turn| turn.plan(&["AC-1"]), |turn| turn.patch(&dependency()), |turn| turn.ask()]);
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            leave(&world, &run, world.decision(&run, false).await).await;
        });
        let state = driven.ended();
        assert_eq!(state.dossier().unwrap().head, world.base_tree.digest());
        assert_eq!(state.stop_reason().unwrap().code(), "agent-stopped");
        assert_eq!(agent.heard().last().unwrap()["decision"], "rejected");
        check_ended(&world, &run, &state, "a rejection").await;
    });
}

// proves E-H03 E-P06
// break crates/domain/evidence/src/v1/read.rs: `RunBody::ApprovalConsumed { turn, receipt } => Event::ApprovalConsumed { turn, receipt },` -> `RunBody::ApprovalConsumed { turn, .. } => Event::CancelRequested { by: turn.to_string() },`
#[test]
fn an_approval_outlives_a_crash_and_is_still_used_once() {
    // At every boundary between the decision and the end.
    for boundary in 0..40 {
        simulate(async {
            let world = world(Setup::standard()).await;
            let agent = asker(&world);
            let run = world.start(&agent).await;
            let told = format!("boundary {boundary}");
            let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
                wait_for_question(&world, &run).await;
                world.faults.crash_after(boundary);
                world.leave(&run, &InboxCommand::Decide(world.decision(&run, true).await)).await;
            });
            let state = match driven {
                Driven::Ended(state) => *state,
                _ => {
                    world.clock.pass(DurationMs::new(11_000)).await;
                    world
                        .settle_with(&run, &agent, 4, async |world| answer_questions(world, &run).await)
                        .await
                }
            };
            check_ended(&world, &run, &state, &told).await;
            let kinds = world.kinds(&run).await;
            let (applied, consumed) = (count(&kinds, "patch.applied"), count(&kinds, "approval.consumed"));
            assert!(applied <= 1 && consumed <= count(&kinds, "approval.decided"), "{told}: {kinds:?}");
            assert!(matches!(state, State::Ended(_)));
        });
    }
}

/// Approves whatever is asked, for as long as the run goes on.
async fn answer_questions(world: &World, run: &RunRef) {
    loop {
        world.clock.pass(second()).await;
        if world.question(run).await.is_some() && world.waiting(run).await.is_empty() {
            world.leave(run, &InboxCommand::Decide(world.decision(run, true).await)).await;
        }
    }
}

// proves E-H03
// break crates/control-plane/orchestrator/src/drive/letters.rs: `let Ok(evidence) = blobs.put(scope, bytes.into_bytes().into()).await else {` -> `let Ok(evidence) = blobs.put(scope, bytes.into_bytes().into()).await else { if true { return Ok(Letter::Void); }`
#[test]
fn a_decision_that_cannot_be_kept_for_a_moment_is_not_lost() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = asker(&world);
        let run = world.start(&agent).await;
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            wait_for_question(&world, &run).await;
            world.faults.plan(Cut::BlobPut, 0, Fault::NoSpace);
            world.faults.plan(Cut::BlobPut, 1, Fault::Fail);
            leave(&world, &run, world.decision(&run, true).await).await;
        });
        let state = driven.ended();
        check_ended(&world, &run, &state, "a full disk").await;
        assert_eq!(count(&world.kinds(&run).await, "patch.applied"), 1);
    });
}

#[test]
fn a_credential_of_nobody_in_the_project_signs_nothing() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let stranger = ApproverCredential::generate(&SimEntropy::new(5));
        let refused = world
            .projects()
            .sign_decision(
                &world.scope,
                &"prop_0123456789abcdef".parse().unwrap(),
                Digest::of(b""),
                0,
                ambit_run::ApprovalVerdict::Approved,
                &stranger,
            )
            .await;
        assert_eq!(refused.unwrap_err().code(), "CREDENTIAL_REFUSED");
    });
}
