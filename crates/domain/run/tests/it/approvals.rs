use ambit_ids::{ApproverId, ProposalId, ReceiptId, RepoPath};
use ambit_policy::{Capability, Fact, ToolName, Verdict};
use ambit_run::{
    APPROVAL_MS, ApprovalDecision, ApprovalVerdict, CallOutcome, Command, DenialCode, Effect, Event,
    HeldProposal, Phase, Refusal, Stage, State, pending, proposal_id,
};

use crate::world::{World, approval_call, decided, denied, digest, intended, pins};

fn dependency() -> Vec<Fact> {
    vec![Fact::DependencyAdded {
        manifest: RepoPath::from_bytes(b"requirements.txt").unwrap(),
        name: "left-pad".to_owned(),
    }]
}

/// A run that waits for a person about a patch to `tree-1`, and the proposal.
fn waiting() -> (World, ProposalId, HeldProposal) {
    let mut world = World::planned(pins());
    let call =
        decided(world.patch_call("tree-1"), Verdict::NeedsApproval(Capability::DependencyAdd), dependency());
    let events = world.call(call);
    assert_eq!(intended(&events, ToolName::ApplyProjectPatch), 0);
    let held = events
        .iter()
        .find_map(|event| match event {
            Event::CallDecided(decided) => match &decided.outcome {
                CallOutcome::Held(held) => Some((**held).clone()),
                _ => None,
            },
            _ => None,
        })
        .unwrap();
    let id = proposal_id(held.digest().unwrap());
    world.call(approval_call(&id, Capability::DependencyAdd));
    (world, id, held)
}

fn decision(world: &World, verdict: ApprovalVerdict) -> ApprovalDecision {
    let State::Open(open) = &world.state else { panic!("the run is not open") };
    let Stage::Approval { pending, .. } = &open.stage else { panic!("no approval is awaited") };
    ApprovalDecision {
        proposal: pending.proposal.clone(),
        digest: pending.digest,
        expected_sequence: pending.asked_at,
        verdict,
        approver: ApproverId::new("ada").unwrap(),
        receipt: ReceiptId::new("apr_000001").unwrap(),
        evidence: digest("signed decision"),
    }
}

fn approve(world: &mut World) {
    let decision = decision(world, ApprovalVerdict::Approved);
    world.tell(Command::DecideApproval(decision)).unwrap();
}

// proves E-H05
// break crates/domain/run/src/step/judge.rs: `(*patch, *tree)` -> `(assessed.arguments, dossier.head)`
#[test]
fn a_proposal_holds_the_exact_patch_target_effect_evidence_and_rollback() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 1, "here");
    let mut call =
        decided(world.patch_call("tree-2"), Verdict::NeedsApproval(Capability::DependencyAdd), dependency());
    call.hypothesis = Some("cause".to_owned());
    let events = world.call(call);
    let Some(Event::CallDecided(decided)) =
        events.iter().find(|event| matches!(event, Event::CallDecided(_)))
    else {
        panic!("no decision")
    };
    let CallOutcome::Held(held) = &decided.outcome else { panic!("not held: {:?}", decided.outcome) };
    assert_eq!(held.subject, digest("patch to tree-2"));
    assert_eq!(held.target, digest("tree-1"));
    assert_eq!(held.expected_effect, digest("tree-2"));
    assert_eq!(held.evidence, [world.dossier().gates.records()[0].artifact]);
    let text = String::from_utf8(held.to_canonical().unwrap().into_bytes()).unwrap();
    for field in ["subject", "target", "expectedEffect", "evidence", "rollback"] {
        assert!(text.contains(&format!("\"{field}\":")), "{field}");
    }
}

// proves E-H01 E-H02
// break crates/domain/run/src/step/judge.rs: `return Judgement::without_effect(ask(dossier, assessed, capability, at));` -> `let _ = ask(dossier, assessed, capability, at);`
#[test]
fn a_held_call_has_no_effect_and_the_run_waits_for_a_person() {
    let (world, ..) = waiting();
    assert_eq!(world.phase(), Phase::NeedsApproval);
    assert_eq!(world.dossier().head, digest("tree-0"));
    let wake = world.at.saturating_add(APPROVAL_MS);
    assert_eq!(pending(&world.state), [Effect::WakeAt(wake)]);
}

// proves E-H03
// break crates/domain/run/src/approvals.rs: `!self.consumed && self.void.is_none()` -> `self.void.is_none()`
#[test]
fn an_approval_is_for_one_exact_call_once_and_for_a_time() {
    let (mut world, ..) = waiting();
    approve(&mut world);
    assert_eq!(world.phase(), Phase::Editing);
    let call = world.patch_call("tree-1");
    let other = world.patch_call("tree-other");
    let book = &world.dossier().approvals;
    assert!(book.as_fact(other.arguments, world.at).is_none(), "another patch has no approval");
    let fact = book.as_fact(call.arguments, world.at).unwrap();
    assert_eq!((fact.capability, fact.subject), (Capability::DependencyAdd, call.arguments));
    let last = fact.expires;
    assert!(book.as_fact(call.arguments, last).is_none(), "at the millisecond of its end it is over");
    let events = world.call(decided(call.clone(), Verdict::Allow, dependency()));
    let consumed = events.iter().position(|event| matches!(event, Event::ApprovalConsumed { .. }));
    let intent = events.iter().position(|event| matches!(event, Event::CallDecided(_)));
    assert!(consumed.unwrap() < intent.unwrap(), "it is consumed together with the intent");
    assert!(world.dossier().approvals.as_fact(call.arguments, world.at).is_none(), "it is used once");
}

// proves E-H03
// break crates/domain/run/src/step/observe.rs: `|| decision.expected_sequence != pending.asked_at` -> `|| false`
#[test]
fn a_decision_counts_only_for_the_exact_question_and_only_once() {
    let (mut world, ..) = waiting();
    let right = decision(&world, ApprovalVerdict::Approved);
    let mut wrong = [right.clone(), right.clone(), right.clone()];
    wrong[0].proposal = ProposalId::new("prop_000000").unwrap();
    wrong[1].digest = digest("another content");
    wrong[2].expected_sequence += 1;
    for wrong in wrong {
        assert_eq!(world.tell(Command::DecideApproval(wrong)), Err(Refusal::ApprovalNotAwaited));
    }
    world.tell(Command::DecideApproval(right.clone())).unwrap();
    assert_eq!(world.tell(Command::DecideApproval(right)), Err(Refusal::ApprovalNotAwaited));
}

// proves E-H07 E-C08
// break crates/domain/run/src/step/start.rs: `if draft.at < pending.expires && !is_before {` -> `if draft.at <= pending.expires && !is_before {`
#[test]
fn an_approval_that_nobody_decides_ends_the_run_at_its_end() {
    let (mut world, ..) = waiting();
    world.later(APPROVAL_MS.get() - 1);
    assert_eq!(world.tell(Command::Tick), Err(Refusal::NotDue));
    world.later(1);
    let late = decision(&world, ApprovalVerdict::Approved);
    let events = world.tell(Command::DecideApproval(late)).unwrap();
    assert!(!events.iter().any(|event| matches!(event, Event::ApprovalDecided { .. })), "it came too late");
    assert_eq!(world.stop_code(), Some("approval-expired"));
    world.close();
    assert_eq!(world.phase(), Phase::Failed);
}

#[test]
fn a_rejection_is_an_answer_and_grants_nothing() {
    let (mut world, ..) = waiting();
    let rejected = decision(&world, ApprovalVerdict::Rejected);
    world.tell(Command::DecideApproval(rejected)).unwrap();
    assert_eq!(world.phase(), Phase::Editing);
    assert_eq!(world.dossier().approvals.receipts().count(), 0);
}

// proves E-H04
// break crates/domain/run/src/step/observe.rs: `Observation::ApprovalAnswered { verdict: decision.verdict, receipt: decision.receipt.clone() };` -> `Observation::ApprovalAnswered { verdict: decision.verdict, receipt: ambit_ids::ReceiptId::new(format!("apr_{}", decision.evidence.to_hex())).unwrap_or(decision.receipt.clone()) };`
#[test]
fn the_agent_sees_the_answer_and_a_receipt_id_and_nothing_else() {
    let (mut world, ..) = waiting();
    approve(&mut world);
    let seen = format!("{:?}", world.dossier().last_observation);
    assert!(seen.contains("apr_000001"), "{seen}");
    assert!(!seen.contains(&digest("signed decision").to_hex()), "{seen}");
}

#[test]
fn only_a_held_proposal_can_be_asked_about_and_only_for_what_it_needs() {
    let mut world = World::planned(pins());
    let unknown = ProposalId::new("prop_000000").unwrap();
    let events = world.call(approval_call(&unknown, Capability::DependencyAdd));
    assert_eq!(denied(&events), Some(DenialCode::ProposalUnknown));
    let call =
        decided(world.patch_call("tree-1"), Verdict::NeedsApproval(Capability::DependencyAdd), dependency());
    let events = world.call(call);
    let Some(Event::CallDecided(made)) = events.iter().find(|event| matches!(event, Event::CallDecided(_)))
    else {
        panic!("no decision")
    };
    let CallOutcome::Held(held) = &made.outcome else { panic!("not held") };
    let id = proposal_id(held.digest().unwrap());
    let events = world.call(approval_call(&id, Capability::Deploy));
    assert_eq!(denied(&events), Some(DenialCode::CapabilityMismatch));
    world.patch("tree-2");
    let events = world.call(approval_call(&id, Capability::DependencyAdd));
    assert_eq!(denied(&events), Some(DenialCode::BaseConflict), "the base moved under the proposal");
}

#[test]
fn another_patch_base_policy_or_run_is_another_proposal() {
    let (_, _, held) = waiting();
    let mut others = vec![held.clone(); 4];
    others[0].subject = digest("another patch");
    others[1].target = digest("another base");
    others[2].policy = digest("another policy");
    others[3].run = "run_000002".parse().unwrap();
    for other in others {
        assert_ne!(other.digest().unwrap(), held.digest().unwrap());
    }
}
