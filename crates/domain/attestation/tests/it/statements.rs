//! What statements say, and that they say it in one way.

use ambit_attestation::envelope::ReadError;
use ambit_attestation::predicate::{
    ApprovalReceipt, CleanupProof, DenialProbe, Link, Provenance, SandboxManifest, TestResult,
    VerificationSummary,
};
use ambit_attestation::{Payload, Predicate, Statement};
use serde_json::{Value, json};

use crate::parties::{Party, now, root};
use crate::run::{Records, envelope, signer};

fn comes_back<P: Predicate + PartialEq + std::fmt::Debug>(statement: &Statement<P>) {
    let bytes = statement.to_bytes().unwrap();
    assert_eq!(&Statement::<P>::from_bytes(bytes.as_bytes()).unwrap(), statement);
    let signed = root().verify::<P>(&envelope(statement), now()).unwrap();
    assert_eq!(signed.statement(), statement);
    assert_eq!(signed.payload(), bytes.as_bytes());
    let party = Party::role(signer::<P>());
    assert_eq!(signed.signers().iter().collect::<Vec<_>>(), [(&party.key.id(), &signer::<P>())]);
}

#[test]
fn every_statement_of_a_run_comes_back_as_it_was_from_the_key_whose_role_it_is() {
    let run = Records::read();
    comes_back(&run.provenance());
    comes_back(&run.gate_result(true));
    comes_back(&run.gate_result(false));
    comes_back(&run.summary(true));
    comes_back(&run.summary(false));
    comes_back(&run.patch_link());
    comes_back(&run.receipt());
    comes_back(&run.sandbox());
    comes_back(&run.denial());
    comes_back(&run.cleanup());
}

#[test]
fn every_statement_about_the_revision_names_it_by_the_same_digests() {
    let run = Records::read();
    let revision = run.revision();
    assert!(run.provenance().is_about(&revision));
    assert!(run.gate_result(true).is_about(&revision));
    assert!(run.summary(true).is_about(&revision));
    let mut other = revision.clone();
    other.git_tree = Some("0".repeat(40).parse().unwrap());
    assert!(!run.provenance().is_about(&other), "another tree of git");
    other.git_tree = None;
    assert!(run.provenance().is_about(&other), "no tree of git to compare with");
    other.sha256 = ambit_ids::Digest::of(b"another");
    assert!(!run.provenance().is_about(&other), "another tree");
    assert!(!run.patch_link().is_about(&revision), "it is about a file too");
}

/// The JSON of a statement with one part changed.
fn changed<P: Predicate>(statement: &Statement<P>, pointer: &str, to: Option<Value>) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(statement.to_bytes().unwrap().as_bytes()).unwrap();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match to {
        Some(to) => parent.insert(last.to_owned(), to),
        None => parent.remove(last),
    };
    serde_json::to_vec(&value).unwrap()
}

fn refused<P: Predicate>(statement: &Statement<P>, changes: &[(&str, Option<Value>, &str)]) {
    let bytes = statement.to_bytes().unwrap();
    assert!(Statement::<P>::from_bytes(bytes.as_bytes()).is_ok(), "the control");
    for (pointer, to, code) in changes {
        let bytes = changed(statement, pointer, to.clone());
        let found = Statement::<P>::from_bytes(&bytes).err().map(|why: ReadError| why.code());
        assert_eq!(found, Some(*code), "{pointer} {to:?}");
    }
}

const SHAPE: &str = "ATTESTATION_SHAPE";
const KIND: &str = "ATTESTATION_KIND";
const CONTENT: &str = "ATTESTATION_CONTENT";

#[test]
fn a_statement_that_is_almost_one_is_none() {
    let run = Records::read();
    let digest = "/subject/0/digest/sha256";
    let array = |statement: &Statement<Provenance>| {
        let mut value: Value = serde_json::from_slice(statement.to_bytes().unwrap().as_bytes()).unwrap();
        let subject = value["subject"][0].clone();
        value["subject"] = json!([subject.clone(), subject]);
        serde_json::to_vec(&value).unwrap()
    };
    refused(
        &run.provenance(),
        &[
            ("/_type", Some(json!("https://in-toto.io/Statement/v0.1")), KIND),
            ("/_type", None, KIND),
            ("/predicateType", Some(json!("https://slsa.dev/provenance/v0.2")), KIND),
            ("/predicateType", Some(json!("https://slsa.dev/provenance/v1 ")), KIND),
            ("/predicateType", Some(json!("https://slsa.dev/verification_summary/v1")), KIND),
            ("/predicateType", None, KIND),
            ("/predicate", None, SHAPE),
            ("/predicate", Some(json!(null)), SHAPE),
            ("/predicate", Some(json!({})), SHAPE),
            ("/subject", Some(json!([])), CONTENT),
            ("/subject", Some(json!({})), SHAPE),
            ("/subject", None, SHAPE),
        ],
    );
    for (to, what) in [
        (json!("ABCD".repeat(16)), "upper case"),
        (json!("ab"), "too short"),
        (json!(""), "empty"),
        (json!(null), "null"),
    ] {
        let mut value: Value =
            serde_json::from_slice(run.provenance().to_bytes().unwrap().as_bytes()).unwrap();
        *value.pointer_mut(digest).unwrap() = to;
        let bytes = serde_json::to_vec(&value).unwrap();
        let found = Statement::<Provenance>::from_bytes(&bytes).err().map(|why| why.code());
        assert_eq!(found, Some(SHAPE), "{what}");
    }
    let twice = Statement::<Provenance>::from_bytes(&array(&run.provenance())).err().map(|why| why.code());
    assert_eq!(twice, Some(CONTENT), "a name twice");
    let text = String::from_utf8(run.provenance().to_bytes().unwrap().into_bytes()).unwrap();
    let doubled = text.replacen("\"predicateType\":", "\"predicateType\":\"x\",\"predicateType\":", 1);
    assert_eq!(
        Statement::<Provenance>::from_bytes(doubled.as_bytes()).err().map(|why| why.code()),
        Some(SHAPE)
    );
}

#[test]
fn a_statement_that_contradicts_itself_is_none() {
    let run = Records::read();
    let at = "/predicate/runDetails/metadata/finishedOn";
    let external = "/predicate/buildDefinition/externalParameters/shell";
    refused::<Provenance>(
        &run.provenance(),
        &[
            (at, Some(json!("2020-01-01T00:00:00.000Z")), CONTENT),
            (at, Some(json!("2026-11-30T00:00:00Z")), SHAPE),
            ("/predicate/buildDefinition/buildType", Some(json!("urn:other:v1")), CONTENT),
            (external, Some(json!("make")), SHAPE),
            ("/predicate/buildDefinition/resolvedDependencies", Some(json!([{"name": "x"}])), CONTENT),
        ],
    );
    refused::<TestResult>(
        &run.gate_result(true),
        &[
            ("/predicate/failedTests", Some(json!(["unit"])), CONTENT),
            ("/predicate/warnedTests", Some(json!(["unit"])), CONTENT),
            ("/predicate/passedTests", Some(json!([])), CONTENT),
            ("/predicate/result", Some(json!("passed")), SHAPE),
        ],
    );
    refused::<VerificationSummary>(
        &run.summary(true),
        &[
            ("/predicate/verificationResult", Some(json!("FAILED")), CONTENT),
            ("/predicate/verifiedLevels", Some(json!([])), CONTENT),
            ("/predicate/verifiedLevels", Some(json!(["SLSA_SOURCE_LEVEL_3"])), SHAPE),
            ("/predicate/verifiedLevels", Some(json!(["ORG_SOURCE_PREVIEW_READY", "FAILED"])), CONTENT),
            ("/predicate/policy/digest", None, CONTENT),
            ("/predicate/inputAttestations", Some(json!([{"uri": "a:b"}])), CONTENT),
        ],
    );
    let twice = json!([{"name": "a", "digest": {"sha256": "0".repeat(64)}}, {"name": "a", "digest": {"sha256": "1".repeat(64)}}]);
    refused::<Link>(&run.patch_link(), &[("/predicate/materials", Some(twice), CONTENT)]);
    refused::<ApprovalReceipt>(
        &run.receipt(),
        &[
            ("/predicate/uses", Some(json!(2)), CONTENT),
            ("/predicate/expiresAt", Some(json!("2026-11-30T00:14:59.999Z")), CONTENT),
            ("/predicate/expiresAt", Some(json!("2026-11-30T00:30:00.000Z")), CONTENT),
            ("/predicate/decision", Some(json!("allowed")), SHAPE),
            ("/predicate/audience", Some(json!("anybody")), SHAPE),
        ],
    );
    refused::<SandboxManifest>(
        &run.sandbox(),
        &[("/predicate/probesPassed", Some(json!(0)), CONTENT), ("/predicate/lacks", None, SHAPE)],
    );
    refused::<DenialProbe>(&run.denial(), &[("/predicate/probes", Some(json!([])), CONTENT)]);
    refused::<CleanupProof>(
        &run.cleanup(),
        &[
            ("/predicate/remaining", Some(json!({})), CONTENT),
            ("/predicate/remaining", Some(json!({"files": 1, "mounts": 0})), CONTENT),
        ],
    );
}

#[test]
fn what_is_not_known_adds_nothing_and_takes_nothing_away() {
    let run = Records::read();
    for pointer in ["/note", "/predicate/note", "/predicate/verifier/note"] {
        let bytes = changed(&run.summary(true), pointer, Some(json!({"verificationResult": "FAILED"})));
        assert_eq!(
            Statement::<VerificationSummary>::from_bytes(&bytes).unwrap(),
            run.summary(true),
            "{pointer}"
        );
    }
}

#[test]
fn a_result_says_of_a_gate_what_the_record_says() {
    let run = Records::read();
    let gate = run.gate.gate.clone();
    assert!(run.gate_result(true).predicate().says_passed(&gate));
    assert!(!run.gate_result(true).predicate().says_passed(&"lint".parse().unwrap()), "another gate");
    assert!(!run.gate_result(false).predicate().says_passed(&gate), "a failure");
    assert!(run.summary(true).predicate().says_preview_ready());
    assert!(!run.summary(false).predicate().says_preview_ready());
    let mut denial = run.denial().predicate().clone();
    assert!(denial.says_denied());
    denial.probes[1].control = false;
    assert!(!denial.says_denied(), "a tool that does not work is denied everything");
    denial.probes[1].control = true;
    denial.probes[1].denied = false;
    assert!(!denial.says_denied(), "something was let through");
}
