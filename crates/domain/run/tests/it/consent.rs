//! What ends a receipt before it is used, and what cannot be approved at all.

use ambit_ids::{ProposalId, ReceiptId, RepoPath, UnixMs};
use ambit_policy::{Capability, Fact, Verdict};
use ambit_run::{
    APPROVAL_MS, ApprovalDecision, ApprovalVerdict, AssessedCall, CallOutcome, Command, DenialCode, Event,
    Finding, HeldProposal, Inspection, Limit, Refusal, Rules, Stage, State, StopReason, Uninspectable,
    VoidReason, evolve, proposal_id,
};

use crate::world::{World, approval_call, decided, denied, digest, pins, sandbox};

const NEEDS: Verdict = Verdict::NeedsApproval(Capability::DependencyAdd);

fn facts() -> Vec<Fact> {
    let manifest = RepoPath::from_bytes(b"requirements.txt").unwrap();
    vec![Fact::DependencyAdded { manifest, name: "left-pad".to_owned() }]
}

fn held(events: &[Event]) -> Option<HeldProposal> {
    events.iter().find_map(|event| match event {
        Event::CallDecided(decided) => match &decided.outcome {
            CallOutcome::Held(held) => Some((**held).clone()),
            _ => None,
        },
        _ => None,
    })
}

fn voided(events: &[Event]) -> Vec<VoidReason> {
    let reasons = events.iter().filter_map(|event| match event {
        Event::ReceiptVoided { reason, .. } => Some(*reason),
        _ => None,
    });
    reasons.collect()
}

fn consumed(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::ApprovalConsumed { .. })).count()
}

fn decision(world: &World, receipt: &str) -> ApprovalDecision {
    let State::Open(open) = &world.state else { panic!("the run is not open") };
    let Stage::Approval { pending, .. } = &open.stage else { panic!("nobody is asked") };
    ApprovalDecision {
        proposal: pending.proposal.clone(),
        digest: pending.digest,
        expected_sequence: pending.asked_at,
        verdict: ApprovalVerdict::Approved,
        approver: "ada".parse().unwrap(),
        receipt: ReceiptId::new(receipt).unwrap(),
        evidence: digest("signed decision"),
    }
}

fn asked(world: &mut World) -> ProposalId {
    let events = world.call(decided(world.patch_call("tree-1"), NEEDS, facts()));
    let id = proposal_id(held(&events).unwrap().digest().unwrap());
    world.call(approval_call(&id, Capability::DependencyAdd));
    id
}

/// A run that holds a receipt for a patch to `tree-1`.
fn approved_under(rules: Rules) -> World {
    let mut pins = pins();
    pins.rules = rules;
    let mut world = World::planned(pins);
    asked(&mut world);
    world.later(1_000);
    let decision = decision(&world, "apr_000001");
    world.tell(Command::DecideApproval(decision)).unwrap();
    world
}

fn approved() -> World {
    approved_under(Rules::NEWEST)
}

/// The approved call as the policy allowed it, having been told of the approval at `told`.
fn allowed(world: &World, told: UnixMs) -> AssessedCall {
    let mut call = decided(world.patch_call("tree-1"), Verdict::Allow, facts());
    call.approval = world.dossier().approvals.as_fact(call.arguments, told);
    assert!(call.approval.is_some());
    call
}

// proves E-H03
// break crates/domain/run/src/step/consent.rs: `void(draft, VoidReason::BaseMoved, |receipt, dossier| receipt.target != dossier.head);` -> `void(draft, VoidReason::BaseMoved, |receipt, dossier| receipt.target != dossier.head && false);`
// break crates/domain/run/src/step/consent.rs: `void(draft, VoidReason::LeaseReplaced, |_, _| true);` -> `void(draft, VoidReason::LeaseReplaced, |_, _| false);`
// break crates/domain/run/src/step/consent.rs: `StopReason::CustomerCancelled => VoidReason::RunCancelled,` -> `StopReason::AgentStopped => VoidReason::RunCancelled,`
// break crates/domain/run/src/step/consent.rs: `|receipt, _| receipt.approver == *approver` -> `|receipt, _| receipt.approver != *approver`
// break crates/domain/run/src/step/consent.rs: `void(draft, VoidReason::PolicyChanged, |_, _| true);` -> `void(draft, VoidReason::PolicyChanged, |_, _| false);`
#[test]
fn whatever_a_receipt_was_given_for_ends_it_with_its_reason() {
    type Change = fn(&mut World) -> Vec<Event>;
    let changes: [(VoidReason, Change); 7] = [
        (VoidReason::BaseMoved, |world| world.patch("tree-other")),
        (VoidReason::LeaseReplaced, |world| {
            let incarnation = sandbox(1).incarnation;
            world.tell(Command::SandboxLost { incarnation }).unwrap()
        }),
        (VoidReason::LeaseReplaced, |world| world.tell(Command::Recover).unwrap()),
        (VoidReason::RunCancelled, |world| world.tell(Command::Cancel { by: "c".to_owned() }).unwrap()),
        (VoidReason::RunEnding, |world| {
            let turn = world.open_turn();
            world.tell(Command::AgentStopped { turn, cost: None, failure: None }).unwrap()
        }),
        (VoidReason::ApproverRevoked, |world| {
            let other = Command::RevokeApprover { approver: "bob".parse().unwrap() };
            assert_eq!(world.tell(other), Err(Refusal::NotDue), "somebody else gave nothing");
            world.tell(Command::RevokeApprover { approver: "ada".parse().unwrap() }).unwrap()
        }),
        (VoidReason::PolicyChanged, |world| world.tell(Command::WithdrawBlueprint).unwrap()),
    ];
    for (reason, change) in changes {
        let mut world = approved();
        assert_eq!(world.dossier().approvals.live().count(), 1, "the positive control");
        let events = change(&mut world);
        assert_eq!(voided(&events), [reason]);
        assert_eq!(world.dossier().approvals.live().count(), 0);
        let call = world.patch_call("tree-1");
        let again = world.dossier().approvals.as_fact(call.arguments, world.at);
        assert!(again.is_none(), "{reason}: the policy is told of nothing");
    }
    // A read moves no tree, and a receipt that was used is not ended again.
    let mut world = approved();
    let events = world.call(allowed(&world, world.at));
    assert_eq!((consumed(&events), voided(&events)), (1, vec![]));
    let mut after = world.apply();
    after.extend(world.tell(Command::Cancel { by: "c".to_owned() }).unwrap());
    assert_eq!(voided(&after), []);
}

// proves E-H03
// break crates/domain/run/src/step/consent.rs: `if dossier.approvals.as_fact(assessed.arguments, at).as_ref() == Some(told) {` -> `if told.expires.get() > 0 {`
#[test]
fn an_approval_that_ended_between_the_decision_and_the_intent_allows_nothing() {
    let expires = |world: &World| world.dossier().approvals.live().next().unwrap().expires;
    // The last millisecond of it.
    let mut world = approved();
    let call = allowed(&world, world.at);
    world.at = UnixMs::new(expires(&world).get() - 1);
    let events = world.call(call);
    assert_eq!((consumed(&events), denied(&events)), (1, None));
    // The one after it: the policy said yes a moment before.
    let mut world = approved();
    let call = allowed(&world, world.at);
    world.at = expires(&world);
    let events = world.call(call.clone());
    assert_eq!((consumed(&events), denied(&events)), (0, Some(DenialCode::ApprovalVoid)));
    assert_eq!(voided(&events), [VoidReason::Expired]);
    assert!(events.iter().any(|event| matches!(event, Event::CallDecided(decided)
        if matches!(&decided.outcome, CallOutcome::Denied(denial) if denial.detail.contains("expired")))));
    // It is no repeat of a denial, and what is void stays so whatever the clock says then.
    world.at = UnixMs::new(world.at.get() - 60_000);
    let events = world.call(decided(world.patch_call("tree-1"), NEEDS, facts()));
    assert!(held(&events).is_some(), "it is held back again");
    assert_eq!(denied(&world.call(call)), Some(DenialCode::ApprovalVoid));
}

/// A run keeps its policy, so nothing that is held back in it is of another one. A store in which it is must not help anybody.
// proves E-H03
// break crates/domain/run/src/step/consent.rs: `|receipt, dossier| receipt.policy != dossier.pins.policy);` -> `|_, _| false);`
#[test]
fn what_was_held_back_under_another_policy_is_approved_for_nothing() {
    for (policy, consumes) in [(pins().policy, 1), (digest("another policy"), 0)] {
        let mut world = World::planned(pins());
        let before = world.state.clone();
        let mut events = world.call(decided(world.patch_call("tree-1"), NEEDS, facts()));
        let mut own = held(&events).unwrap();
        own.policy = policy;
        let id = proposal_id(own.digest().unwrap());
        // The same events, as somebody would have to have written them.
        for event in &mut events {
            if let Event::CallDecided(decided) = event {
                decided.outcome = CallOutcome::Held(Box::new(own.clone()));
            }
        }
        world.state = events.iter().fold(before, evolve);
        world.call(approval_call(&id, Capability::DependencyAdd));
        let decision = decision(&world, "apr_000001");
        world.tell(Command::DecideApproval(decision)).unwrap();
        let events = world.call(allowed(&world, world.at));
        let ended = if consumes == 1 { vec![] } else { vec![VoidReason::PolicyChanged] };
        assert_eq!((consumed(&events), voided(&events)), (consumes, ended));
    }
}

#[test]
fn runs_from_before_are_judged_as_they_were() {
    let mut world = approved_under(Rules::Repeats);
    let call = allowed(&world, world.at);
    let end = world.dossier().approvals.live().next().unwrap().expires;
    world.at = end;
    let events = world.call(call);
    assert_eq!((denied(&events), voided(&events)), (None, vec![]));
    let mut world = approved_under(Rules::Repeats);
    assert_eq!(voided(&world.patch("tree-other")), []);
    assert_eq!(voided(&world.tell(Command::Cancel { by: "c".to_owned() }).unwrap()), []);
}

// proves E-H03 E-H07
// break crates/domain/run/src/approvals.rs: `now.get() < self.begins.get() || now.get() >= self.expires.get()` -> `now.get() >= self.expires.get()`
// break crates/domain/run/src/step/start.rs: `if draft.at < pending.expires && !is_before {` -> `if draft.at < pending.expires {`
#[test]
fn a_clock_that_is_put_back_makes_no_approval_longer() {
    let world = approved();
    let call = world.patch_call("tree-1");
    let at = |ms| world.dossier().approvals.as_fact(call.arguments, UnixMs::new(ms));
    assert!(at(world.at.get()).is_some());
    assert!(at(world.at.get() - 1).is_none(), "it did not begin yet");

    let mut world = World::planned(pins());
    asked(&mut world);
    let late = decision(&world, "apr_000001");
    world.at = UnixMs::new(world.at.get() - 1);
    let events = world.tell(Command::DecideApproval(late)).unwrap();
    assert!(!events.iter().any(|event| matches!(event, Event::ApprovalDecided { .. })), "{events:?}");
    assert_eq!(world.stop_code(), Some("approval-expired"));
}

// proves E-H05
// break crates/domain/run/src/step/judge.rs: `Inspection::Whole(view) => Some(*view),` -> `Inspection::Whole(_) => None,`
// break crates/domain/run/src/step/judge.rs: `return Err(Denial::new(DenialCode::ProposalUninspectable, detail).by(&assessed.decision.rules));` -> `let _ = detail; None`
#[test]
fn what_nobody_can_see_whole_is_denied_and_never_held_back() {
    let mut world = World::planned(pins());
    let mut call = decided(world.patch_call("tree-1"), NEEDS, facts());
    let events = world.call(call.clone());
    assert_eq!(held(&events).unwrap().view, Some(digest("view")), "the positive control");
    for reason in Uninspectable::ALL {
        let mut world = World::planned(pins());
        call.inspection = Inspection::Impossible(vec![*reason]);
        let events = world.call(call.clone());
        assert_eq!(denied(&events), Some(DenialCode::ProposalUninspectable), "{reason}");
        assert_eq!(world.dossier().approvals.proposals().count(), 0, "{reason}: it cannot be asked about");
    }
    // What needs nobody's approval needs nobody to see it.
    let mut world = World::planned(pins());
    call.decision.verdict = Verdict::Allow;
    assert_eq!(denied(&world.call(call)), None);
}

// proves E-H03
// break crates/domain/run/src/approvals.rs: `#[serde(skip_serializing_if = "Option::is_none", default)]` -> `#[serde(skip)]`
#[test]
fn one_bit_of_a_proposal_is_another_proposal() {
    let mut world = World::planned(pins());
    let events = world.call(decided(world.patch_call("tree-1"), NEEDS, facts()));
    let it = held(&events).unwrap();
    let flipped = |of: ambit_ids::Digest| {
        let mut hex = of.to_hex();
        let last = if hex.ends_with('0') { "1" } else { "0" };
        hex.replace_range(63.., last);
        format!("sha256:{hex}").parse().unwrap()
    };
    let mut others = vec![it.clone(); 11];
    others[0].scope.organization = "acmf".parse().unwrap();
    others[1].scope.project = "shoq".parse().unwrap();
    others[2].run = "run_000000".parse().unwrap();
    others[3].policy = flipped(it.policy);
    others[4].capability = Capability::Deploy;
    others[5].arguments = flipped(it.arguments);
    others[6].subject = flipped(it.subject);
    others[7].target = flipped(it.target);
    others[8].expected_effect = flipped(it.expected_effect);
    others[9].evidence.push(digest("more"));
    others[10].view = it.view.map(flipped);
    for (place, other) in others.into_iter().enumerate() {
        assert_ne!(other.digest().unwrap(), it.digest().unwrap(), "{place}");
    }
}

#[test]
fn of_a_cancellation_and_an_approval_the_first_counts_in_both_orders() {
    let mut world = World::planned(pins());
    asked(&mut world);
    let late = decision(&world, "apr_000001");
    world.tell(Command::Cancel { by: "c".to_owned() }).unwrap();
    assert_eq!(world.tell(Command::DecideApproval(late)), Err(Refusal::ApprovalNotAwaited));
    world.close();
    assert_eq!(world.dossier().approvals.receipts().count(), 0);

    let mut world = approved();
    let events = world.tell(Command::Cancel { by: "c".to_owned() }).unwrap();
    assert_eq!(voided(&events), [VoidReason::RunCancelled]);
    world.close();
    assert_eq!(world.stop_code(), Some("customer-cancelled"));
    assert!(world.dossier().approvals.receipts().all(|receipt| !receipt.consumed));
}

#[test]
fn nothing_that_is_asked_for_or_given_lasts_longer_than_a_quarter_of_an_hour() {
    assert_eq!(APPROVAL_MS.get(), 15 * 60_000);
    let world = approved();
    let receipt = world.dossier().approvals.live().next().unwrap();
    assert_eq!(receipt.expires.since(receipt.begins), APPROVAL_MS);
    assert_eq!(receipt.begins, world.at);
}

/// What becomes of a patch that adds a dependency and changes as many files as `changed`, under `rules`.
fn proposed(rules: Rules, changed: u32) -> (World, Vec<Event>) {
    let mut pins = pins();
    pins.rules = rules;
    let mut world = World::planned(pins);
    let mut call = decided(world.patch_call("tree-1"), NEEDS, facts());
    if let Finding::Patch(finding) = &mut call.finding {
        finding.changed_from_base = changed;
    }
    let events = world.call(call);
    (world, events)
}

// proves E-D04
// break crates/domain/run/src/step/judge.rs: `if dossier.pins.rules >= Rules::Affordable {` -> `if dossier.pins.rules > Rules::Affordable {`
#[test]
fn nobody_is_asked_for_what_no_budget_permits() {
    let limit = pins().limits.changed_files;
    let (_, events) = proposed(Rules::NEWEST, limit);
    assert!(held(&events).is_some(), "what the budget permits is asked for");

    let (world, events) = proposed(Rules::NEWEST, limit + 1);
    assert!(held(&events).is_none());
    let ended = world.state.stop_reason();
    assert_eq!(ended, Some(&StopReason::BudgetExhausted(Limit::ChangedFiles)));

    let (_, events) = proposed(Rules::Watched, limit + 1);
    assert!(held(&events).is_some(), "a run from before keeps its rules");
}

// proves E-H03
// break crates/domain/run/src/step/judge.rs: `if let Some(receipt) = dossier.approvals.in_hand(assessed.arguments, at) {` -> `if let Some(receipt) = dossier.approvals.in_hand(assessed.arguments, at).filter(|_| false) {`
#[test]
fn a_call_that_was_approved_for_one_capability_is_not_held_for_another() {
    let needs_another = |world: &mut World| {
        let call =
            decided(world.patch_call("tree-1"), Verdict::NeedsApproval(Capability::CheckSilence), facts());
        world.call(call)
    };
    let events = needs_another(&mut approved());
    assert_eq!(denied(&events), Some(DenialCode::PolicyDenied));
    let told = events.iter().find_map(|event| match event {
        Event::CallDecided(decided) => match &decided.outcome {
            CallOutcome::Denied(denial) => Some(format!("{} / {}", denial.detail, denial.instead)),
            _ => None,
        },
        _ => None,
    });
    assert!(told.unwrap().contains("check.silence is needed as well / propose each part as a patch"));

    assert!(held(&needs_another(&mut approved_under(Rules::Watched))).is_some(), "as it was before");
    let mut nothing_approved = World::planned(pins());
    assert!(held(&needs_another(&mut nothing_approved)).is_some(), "the first question is asked");
}
