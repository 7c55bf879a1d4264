//! What verifiers of others got wrong, one by one, each beside what must go right.

use ambit_attestation::predicate::{CleanupProof, Provenance, TestResult, VerificationSummary};
use ambit_attestation::trust_root::{TrustedKey, Window};
use ambit_attestation::{
    Envelope, KeyRole, Payload, PayloadType, Predicate, PublicKey, Statement, Threshold, TrustRoot, Uri, sign,
};
use ambit_canonical::{CanonicalBytes, EncodeError, encode};
use ambit_ids::Digest;
use serde_json::{Value, json};

use crate::parties::{DEPLOYMENT, Party, moment, now, root, trusted, window};
use crate::run::{Records, envelope};

/// Bytes that somebody with a key signs as if they were a statement.
struct Forged(Value);

impl Payload for Forged {
    const TYPE: PayloadType = PayloadType::IN_TOTO;

    fn to_bytes(&self) -> Result<CanonicalBytes, EncodeError> {
        encode(&self.0)
    }

    fn from_bytes(_: &[u8]) -> Result<Self, ambit_attestation::envelope::ReadError> {
        Ok(Self(Value::Null))
    }

    fn hint(key: &PublicKey) -> String {
        key.id().to_string()
    }
}

fn forged(role: KeyRole, value: Value) -> Envelope {
    Party::role(role).envelope(&Forged(value))
}

fn written<P: Predicate>(statement: &Statement<P>) -> Value {
    serde_json::from_slice(statement.to_bytes().unwrap().as_bytes()).unwrap()
}

fn refusal<P: Predicate>(envelope: &Envelope) -> Option<&'static str> {
    root().verify::<P>(envelope, now()).err().map(|why| why.code())
}

/// CVE-2026-39395: a payload that is signed and cannot be read was a success.
#[test]
fn what_is_signed_and_cannot_be_read_is_not_verified() {
    let run = Records::read();
    assert_eq!(
        refusal::<Provenance>(&forged(KeyRole::Orchestrator, written(&run.provenance()))),
        None,
        "the control"
    );
    for value in [json!(null), json!([]), json!({}), json!("statement"), json!(7), json!({"_type": 1})] {
        let code = refusal::<Provenance>(&forged(KeyRole::Orchestrator, value.clone()));
        assert!(matches!(code, Some("ATTESTATION_SHAPE" | "ATTESTATION_KIND")), "{value}: {code:?}");
    }
    let party = Party::role(KeyRole::Orchestrator);
    let text = String::from_utf8(run.provenance().to_bytes().unwrap().into_bytes()).unwrap();
    let doubled = text.replacen("\"name\":", "\"name\":\"a\",\"name\":", 1);
    for (called, bytes) in [
        ("no JSON", &b"\xff\xfe"[..]),
        ("nothing", b""),
        ("two values", b"{}{}"),
        (
            "a number that readers round",
            br#"{"_type":"https://in-toto.io/Statement/v1","n":9007199254740993}"#,
        ),
        ("a member twice", doubled.as_bytes()),
    ] {
        let pae = ambit_attestation::pae(PayloadType::IN_TOTO.as_str(), bytes);
        let envelope = raw(bytes, &party.sign(&pae));
        assert!(envelope.verify(&Threshold::one(party.key)).is_ok(), "{called}: it is signed");
        let code = refusal::<Provenance>(&envelope);
        assert!(matches!(code, Some("ATTESTATION_SHAPE" | "ATTESTATION_KIND")), "{called}: {code:?}");
    }
}

/// A reader that keeps the last of two members says that nothing is left; one that keeps the first says that something is.
#[test]
fn what_two_readers_would_read_differently_is_refused() {
    let run = Records::read();
    let party = Party::role(KeyRole::SandboxManager);
    let genuine = String::from_utf8(run.cleanup().to_bytes().unwrap().into_bytes()).unwrap();
    let judged = |text: &str| {
        let pae = ambit_attestation::pae(PayloadType::IN_TOTO.as_str(), text.as_bytes());
        refusal::<CleanupProof>(&raw(text.as_bytes(), &party.sign(&pae)))
    };
    assert_eq!(judged(&genuine), None, "the control");
    for (called, to) in [
        ("a surface twice", r#""remaining":{"files":1,"#),
        ("a surface twice, in another spelling", r#""remaining":{"\u0066iles":1,"#),
        ("a number that readers round", r#""note":9007199254740993,"remaining":{"#),
        ("a number with a fraction", r#""note":0.1,"remaining":{"#),
    ] {
        let text = genuine.replacen(r#""remaining":{"#, to, 1);
        assert_ne!(text, genuine);
        assert_eq!(judged(&text), Some("ATTESTATION_SHAPE"), "{called}");
    }
}

fn raw(payload: &[u8], signature: &[u8]) -> Envelope {
    use base64::Engine as _;
    let base64 = |bytes| base64::engine::general_purpose::STANDARD.encode(bytes);
    let text = json!({
        "payload": base64(payload),
        "payloadType": PayloadType::IN_TOTO.as_str(),
        "signatures": [{"sig": base64(signature)}],
    });
    Envelope::parse(&serde_json::to_vec(&text).unwrap(), PayloadType::IN_TOTO).unwrap()
}

/// CVE-2022-35929: an attestation of another type was taken for the one asked for.
#[test]
fn a_right_key_and_a_wrong_type_do_not_make_a_statement() {
    let run = Records::read();
    let mut claimed = written(&run.gate_result(true));
    claimed["predicateType"] = json!(VerificationSummary::TYPE.as_str());
    let evaluator = forged(KeyRole::PolicyEvaluator, claimed);
    assert_eq!(
        refusal::<VerificationSummary>(&evaluator),
        Some("ATTESTATION_SHAPE"),
        "a result as a summary"
    );
    assert_eq!(refusal::<VerificationSummary>(&envelope(&run.gate_result(true))), Some("ATTESTATION_ROLE"));
    assert_eq!(refusal::<VerificationSummary>(&envelope(&run.summary(true))), None, "the control");
}

/// CVE-2022-36056, CVE-2026-22703: what proves something about anything proved it about this.
#[test]
fn a_genuine_statement_about_another_revision_is_not_about_this_one() {
    let run = Records::read();
    let signed = root().verify::<TestResult>(&envelope(&run.gate_result(true)), now()).unwrap();
    assert!(signed.statement().is_about(&run.revision()), "the control");
    let mut later = run.revision();
    later.sha256 = Digest::of(b"what the next patch made");
    later.git_tree = None;
    assert!(!signed.statement().is_about(&later));
    later = run.revision();
    later.git_tree = Some("0".repeat(40).parse().unwrap());
    assert!(!signed.statement().is_about(&later), "the digest of one and the tree of another");
}

/// CVE-2026-49834: one key that signed twice met a threshold of two.
#[test]
fn one_key_is_one_key_under_any_hint() {
    let run = Records::read();
    let (one, two) = (Party::role(KeyRole::Orchestrator), Party::new("two"));
    let threshold = Threshold::of(2, [one.key, two.key]).unwrap();
    let envelope = one.envelope(&run.provenance());
    let pae = envelope.pae();
    let mut text: Value = serde_json::from_slice(envelope.print().unwrap().as_bytes()).unwrap();
    let mut second = text["signatures"][0].clone();
    second["keyid"] = json!(two.key.id());
    text["signatures"].as_array_mut().unwrap().push(second);
    let claimed = Envelope::parse(&serde_json::to_vec(&text).unwrap(), PayloadType::IN_TOTO).unwrap();
    assert_eq!(claimed.verify(&threshold).unwrap_err().found, 1);
    let both = envelope.countersigned(&two.key, two.sign(&pae)).unwrap();
    assert!(both.verify(&threshold).is_ok(), "the control");
}

/// CVE-2026-54787, CVE-2026-24122: a time was not held against the time of the key, or was where a log was asked and
/// otherwise not. There is no way to ask without a time.
#[test]
fn a_statement_of_a_time_at_which_the_key_did_not_count_is_refused() {
    let run = Records::read();
    let envelope = envelope(&run.provenance());
    let at = |text: &str| root().verify::<Provenance>(&envelope, moment(text)).err().map(|why| why.code());
    assert_eq!(at("2026-11-29T23:59:59.999Z"), None, "the control");
    assert_eq!(at("2026-10-01T00:00:00.000Z"), Some("ATTESTATION_KEY_WINDOW"));
    assert_eq!(at("2027-10-01T00:00:00.000Z"), Some("ATTESTATION_KEY_WINDOW"));
    let revoked = Window { revoked: Some(moment("2026-11-20T00:00:00.000Z")), ..window() };
    let keys: Vec<TrustedKey> = KeyRole::ALL
        .iter()
        .map(|role| trusted(*role, if *role == KeyRole::Orchestrator { revoked } else { window() }))
        .collect();
    let root = TrustRoot::new(Uri::new(DEPLOYMENT).unwrap(), keys).unwrap();
    let code = root.verify::<Provenance>(&envelope, now()).unwrap_err().code();
    assert_eq!(code, "ATTESTATION_KEY_REVOKED");
}

/// CVE-2024-45395, CVE-2024-29902, CVE-2024-29903, CVE-2026-48702: lists without an end, and work without a measure.
#[test]
fn nothing_is_read_without_a_measure() {
    let run = Records::read();
    let party = Party::role(KeyRole::Orchestrator);
    let mut statement = written(&run.provenance());
    statement["subject"] = json!(vec![statement["subject"][0].clone(); 8_000]);
    let many = sign(&Forged(statement), &party.key, |pae| Ok::<_, std::fmt::Error>(party.sign(pae)));
    assert_eq!(many.unwrap_err().code(), "ENVELOPE_TOO_LARGE");
    let mut deep = json!({});
    for _ in 0..20 {
        deep = json!([deep]);
    }
    let mut text = envelope(&run.provenance()).print().unwrap().into_bytes();
    text.truncate(text.len() - 1);
    text.extend(format!(",\"more\":{deep}}}").as_bytes());
    assert_eq!(Envelope::parse(&text, PayloadType::IN_TOTO).unwrap_err().code(), "ENVELOPE_SHAPE");
}

/// GHSA-pmwq-pjrm-6p5r: a negated class meant one thing to one verifier and another to the next.
#[test]
fn a_pattern_on_which_verifiers_disagree_is_none() {
    use ambit_attestation::layout::Pattern;
    assert!("src/*.rs".parse::<Pattern>().is_ok(), "the control");
    for pattern in ["[!a]", "[^a]", "src/[!.]*"] {
        assert!(pattern.parse::<Pattern>().is_err(), "{pattern}");
    }
}

/// A statement that would be true if it were a gate's says so by the key of whoever ran the gate, not by its words.
#[test]
fn a_stolen_key_of_one_role_makes_no_whole_story() {
    let run = Records::read();
    let root = root();
    for thief in KeyRole::ALL.iter().filter(|role| !role.is_of_a_log()) {
        let party = Party::role(*thief);
        let told = [
            root.verify::<Provenance>(&party.envelope(&run.provenance()), now()).is_ok(),
            root.verify::<TestResult>(&party.envelope(&run.gate_result(true)), now()).is_ok(),
            root.verify::<VerificationSummary>(&party.envelope(&run.summary(true)), now()).is_ok(),
        ];
        assert!(told.iter().filter(|believed| **believed).count() <= 1, "{thief} tells {told:?}");
    }
}
