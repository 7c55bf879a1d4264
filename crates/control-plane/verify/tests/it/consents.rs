//! Approvals that end before they are used, and stories in which they would not have.

use ambit_evidence::CredentialForm;
use ambit_evidence::signature::{approval_decision_message, to_hex};
use ambit_ids::RunId;
use ambit_run::ApprovalVerdict;
use ambit_verify_trace::{CheckId, Verdict};
use serde_json::{Value, json};

use crate::attack::{Target, chained};
use crate::forger::{Forger, nth};
use crate::honest::told;
use crate::world::scope;

/// A story of the run in which something is otherwise, in chains and heads that fit, is refuted for this reason.
async fn refuted(
    forger: &Forger,
    run: &RunId,
    check: CheckId,
    why: &str,
    write: impl FnOnce(&mut Vec<Value>, &mut Vec<Value>),
) {
    forger.rewrite(run, write).await;
    let report = forger.site.verifier().await.verify_run(&forger.site.run(run)).await;
    for id in [CheckId::ProjectChain, CheckId::ProjectHead, CheckId::RunChain, CheckId::RunHead] {
        assert!(report.check(id).unwrap().findings.is_empty(), "the chains fit\n{}", told(&report));
    }
    let findings = &report.check(check).unwrap().findings;
    let says = findings.iter().any(|finding| finding.refutes && finding.why.contains(why));
    assert!(report.verdict == Verdict::Refuted && says, "{why} must be told\n{}", told(&report));
    forger.attacker.restore();
}

/// The salt of the project's record before the nth of a kind.
fn before(project: &[Value], wanted: &str) -> Value {
    project[nth(project, wanted, 0) - 1]["salt"].clone()
}

fn moved(project: &mut Vec<Value>, wanted: &str, to: usize) {
    let record = project.remove(nth(project, wanted, 0));
    project.insert(to.min(project.len()), record);
}

// proves E-H03 E-A15
// break crates/control-plane/verify/src/steps.rs: `Event::ReceiptVoided { reason: VoidReason::PolicyChanged, .. } => vec![Command::WithdrawBlueprint],` -> `Event::ReceiptVoided { reason: VoidReason::PolicyChanged, .. } => Vec::new(),`
#[tokio::test]
async fn approvals_that_were_used_or_ended_as_they_had_to_are_proved() {
    let (forger, runs) = Forger::of_consents();
    for (run, kind, reason) in [
        (&runs.used, "approval.consumed", None),
        (&runs.revoked, "receipt.voided", Some("approver-revoked")),
        (&runs.withdrawn, "receipt.voided", Some("policy-changed")),
    ] {
        let records = forger.attacker.values(&Target::run(run));
        let record = &records[nth(&records, kind, 0)];
        assert_eq!(record["body"]["reason"].as_str(), reason);
        assert!(record["precondition"]["project"].is_string(), "it says what was known: {record}");
        let used = records.iter().filter(|it| it["kind"] == "approval.consumed").count();
        assert_eq!(used, usize::from(reason.is_none()));
        let verified = async || forger.site.verifier().await.verify_run(&forger.site.run(run)).await;
        let report = verified().await;
        assert_eq!(report.verdict, Verdict::Proved, "{}", told(&report));
        // Written anew without a change, it is proved all the same.
        forger.rewrite(run, |_, _| {}).await;
        let report = verified().await;
        assert_eq!(report.verdict, Verdict::Proved, "{}", told(&report));
        forger.attacker.restore();
    }
}

// proves E-H03 E-A15
// break crates/control-plane/verify/src/approvals.rs: `VoidReason::ApproverRevoked if known()?.may_approve(&receipt.approver).is_some() => {` -> `VoidReason::ApproverRevoked if known()?.may_approve(&receipt.approver).is_some() && false => {`
// break crates/control-plane/verify/src/approvals.rs: `Event::ReceiptVoided { receipt, reason } => ended(trace, at, pins, receipt, *reason, &span),` -> `Event::ReceiptVoided { .. } => Ok(()),`
#[tokio::test]
async fn an_approval_that_ended_by_a_revocation_that_was_not_there_is_refuted() {
    let (forger, runs) = Forger::of_consents();
    let gone = "which is no record of the project from before the run's end";
    for (run, cause, unfounded) in [
        (&runs.revoked, "approver.revoked", "nobody had revoked bob by then"),
        (&runs.withdrawn, "blueprint.withdrawn", "bp-1 was not withdrawn by then"),
    ] {
        let voided = |records: &[Value]| nth(records, "receipt.voided", 0);
        refuted(&forger, run, CheckId::Approvals, gone, |_, project| {
            project.remove(nth(project, cause, 0));
        })
        .await;
        refuted(&forger, run, CheckId::Approvals, unfounded, |records, project| {
            let at = voided(records);
            records[at]["precondition"]["project"] = before(project, cause);
            project.remove(nth(project, cause, 0));
        })
        .await;
        // After the end of the run, which the project binds in.
        refuted(&forger, run, CheckId::Approvals, gone, |_, project| moved(project, cause, usize::MAX)).await;
        refuted(&forger, run, CheckId::Approvals, unfounded, |records, project| {
            let at = voided(records);
            records[at]["precondition"]["project"] = before(project, cause);
            moved(project, cause, usize::MAX);
        })
        .await;
        // Where the record does not say what was known, as in earlier versions, everything before the end of the run counts.
        refuted(&forger, run, CheckId::Approvals, unfounded, |records, project| {
            let at = voided(records);
            records[at]["precondition"].as_object_mut().unwrap().remove("project");
            moved(project, cause, usize::MAX);
        })
        .await;
    }
}

// proves E-H03 E-A15
// break crates/control-plane/verify/src/approvals.rs: `if known.may_approve(&receipt.approver).is_none() {` -> `if false {`
// break crates/control-plane/verify/src/approvals.rs: `if known.is_withdrawn(&pins.blueprint.id, pins.blueprint.digest) {` -> `if false {`
#[tokio::test]
async fn a_receipt_that_was_used_after_it_ended_or_twice_is_refuted() {
    let (forger, runs) = Forger::of_consents();
    let late = "bob could approve no more when the receipt was used";
    refuted(&forger, &runs.used, CheckId::Approvals, late, |records, project| {
        let (to, at) = (nth(project, "approver.added", 0) + 1, nth(records, "approval.consumed", 0));
        moved(project, "approver.revoked", to);
        records[at]["precondition"]["project"] = project[to]["salt"].clone();
    })
    .await;
    // A use that shows itself from before the revocation must fit the place of the run in the project.
    let early = "is from before the run";
    refuted(&forger, &runs.used, CheckId::Approvals, early, |records, project| {
        let at = nth(records, "approval.consumed", 0);
        records[at]["precondition"]["project"] = project[0]["salt"].clone();
    })
    .await;
    refuted(
        &forger,
        &runs.used,
        CheckId::Approvals,
        "was withdrawn when the receipt was used",
        |records, project| {
            let to = nth(project, "run.closed", 0);
            let withdrawn = project[nth(project, "blueprint.withdrawn", 0)]["salt"].clone();
            moved(project, "blueprint.withdrawn", to);
            let at = nth(records, "approval.consumed", 0);
            records[at]["precondition"]["project"] = withdrawn;
        },
    )
    .await;
    // What ended was used all the same.
    refuted(&forger, &runs.revoked, CheckId::Approvals, late, |records, _| {
        let at = nth(records, "receipt.voided", 0);
        records[at]["kind"] = "approval.consumed".into();
        let body = records[at]["body"].as_object_mut().unwrap();
        body.remove("reason");
        body.insert("turn".to_owned(), 4.into());
    })
    .await;
    refuted(&forger, &runs.used, CheckId::Steps, "the run does not go on like this", |records, _| {
        let at = nth(records, "approval.consumed", 0);
        let again = records[at].clone();
        records.insert(at + 1, again);
    })
    .await;
}

// proves E-H03 E-A15
// break crates/control-plane/verify/src/approvals.rs: `if !signed.is_genuine(scope, project) {` -> `if false {`
#[tokio::test]
async fn a_decision_that_somebody_else_signed_or_kept_otherwise_is_refuted() {
    let (forger, runs) = Forger::of_consents();
    let records = forger.attacker.values(&Target::run(&runs.revoked));
    let at = nth(&records, "approval.decided", 0);
    let genuine = forger.kept(&records[at]["body"]["evidence"]).await;
    assert_eq!(genuine["credential"], "open", "the decision says how the credential was kept");
    let message = approval_decision_message(
        &scope(),
        &genuine["proposal"].as_str().unwrap().parse().unwrap(),
        genuine["digest"].as_str().unwrap().parse().unwrap(),
        genuine["expectedSequence"].as_u64().unwrap(),
        ApprovalVerdict::Approved,
        Some(CredentialForm::Open),
    );
    let other = ed25519_dalek::SigningKey::from_bytes(&[9; 32]);
    let theirs = to_hex(&ed25519_dalek::Signer::sign(&other, &message).to_bytes());
    for (member, value) in [
        ("signature", json!(theirs)),
        ("approver", json!("alice")),
        ("credential", json!("sealed")),
        ("expectedSequence", json!(1)),
    ] {
        let mut signed = genuine.clone();
        signed[member] = value;
        let evidence = forger.keep(&signed).await.to_string();
        let why = "its evidence is signed by no approver of the project";
        refuted(&forger, &runs.revoked, CheckId::Approvals, why, |records, _| {
            records[at]["body"]["evidence"] = evidence.into();
        })
        .await;
    }
}

// proves E-N02 E-A15
// break crates/domain/evidence/src/project.rs: `!self.is_withdrawn(blueprint, *digest)` -> `true`
#[tokio::test]
async fn an_approval_of_a_blueprint_that_is_shown_again_after_the_withdrawal_approves_nothing() {
    let (forger, _) = Forger::of_consents();
    let project = Target::project();
    let mut records = forger.attacker.values(&project);
    let mut again = records[nth(&records, "blueprint.approved", 0)].clone();
    again["salt"] = records[0]["salt"].clone();
    records.push(again);
    forger.sign(&project, &chained(records, 0)).await;
    let report = forger.site.verifier().await.verify_project(&scope()).await;
    let findings = &report.check(CheckId::ProjectApprovals).unwrap().findings;
    assert!(
        findings.iter().any(|it| it.refutes && it.why.contains("withdrawn before, which is final")),
        "{}",
        told(&report)
    );
}
