//! The file of keys: who signs it, what it says, and what follows for a statement.

use ambit_attestation::key::Ed25519Key;
use ambit_attestation::predicate::{Provenance, TestResult};
use ambit_attestation::trust_root::{RoleKey, Standing, TrustedKey, Window};
use ambit_attestation::{Envelope, KeyRole, Payload as _, PayloadType, Threshold, TrustRoot, Uri};
use serde_json::{Value, json};

use crate::parties::{DEPLOYMENT, Party, moment, now, root, trusted, window};
use crate::run::{Records, envelope};

fn file(root: &TrustRoot, owner: &Party) -> Vec<u8> {
    owner.envelope(root).print().unwrap().into_bytes()
}

fn code(bytes: &[u8], roots: &Threshold) -> Option<&'static str> {
    TrustRoot::open(bytes, roots).err().map(|why| why.code())
}

#[test]
fn a_file_of_keys_counts_with_the_signatures_of_the_keys_that_were_given_for_it() {
    let owner = Party::owner();
    let roots = Threshold::one(owner.key);
    let bytes = file(&root(), &owner);
    let opened = TrustRoot::open(&bytes, &roots).unwrap();
    assert_eq!(opened, root());
    assert_eq!(opened.keys().len(), KeyRole::ALL.len());
    assert_eq!(code(&file(&root(), &Party::new("nobody")), &roots), Some("TRUST_ROOT_UNVERIFIED"));
    let two = Threshold::of(2, [owner.key, Party::new("second owner").key]).unwrap();
    assert_eq!(code(&bytes, &two), Some("TRUST_ROOT_UNVERIFIED"), "one of two");
    let second = Party::new("second owner");
    let envelope = owner.envelope(&root());
    let signature = second.sign(&envelope.pae());
    let both = envelope.countersigned(&second.key, signature).unwrap();
    assert_eq!(code(both.print().unwrap().as_bytes(), &two), None, "two of two");
    let role = Threshold::one(Party::role(KeyRole::Evaluator).key);
    let own = file(&root(), &Party::role(KeyRole::Evaluator));
    assert_eq!(code(&own, &role), Some("TRUST_ROOT_KEY_HAS_ROLE"));
    assert_eq!(code(b"{}", &roots), Some("ENVELOPE_SHAPE"));
}

/// A signature for one kind of bytes never serves another, even of the same key.
#[test]
fn a_statement_is_no_file_of_keys_and_a_file_of_keys_no_statement() {
    let owner = Party::owner();
    let roots = Threshold::one(owner.key);
    let statement = owner.envelope(&Records::read().provenance()).print().unwrap();
    assert_eq!(code(statement.as_bytes(), &roots), Some("ENVELOPE_TYPE"));
    let mut renamed: Value = serde_json::from_slice(statement.as_bytes()).unwrap();
    renamed["payloadType"] = json!(PayloadType::TRUST_ROOT.as_str());
    assert_eq!(code(&serde_json::to_vec(&renamed).unwrap(), &roots), Some("TRUST_ROOT_UNVERIFIED"));
    let bytes = file(&root(), &owner);
    assert_eq!(Envelope::parse(&bytes, PayloadType::IN_TOTO).unwrap_err().code(), "ENVELOPE_TYPE");
    let verified = Envelope::parse(&bytes, PayloadType::TRUST_ROOT).unwrap().verify(&roots).unwrap();
    let read = verified.read::<ambit_attestation::Statement<Provenance>>();
    assert_eq!(read.unwrap_err().code(), "ATTESTATION_KIND");
}

fn refused(change: impl Fn(&mut Value)) -> Option<&'static str> {
    let mut value: Value = serde_json::from_slice(root().to_bytes().unwrap().as_bytes()).unwrap();
    change(&mut value);
    let bytes = ambit_canonical::encode(&value).unwrap();
    TrustRoot::from_bytes(bytes.as_bytes()).err().map(|why| why.code())
}

#[test]
fn a_file_of_keys_that_is_almost_one_is_none() {
    assert_eq!(refused(|_| ()), None, "the control");
    let key = |at: usize, name: &'static str, to: Value| {
        move |value: &mut Value| value["keys"][at][name] = to.clone()
    };
    let shape = Some("ATTESTATION_SHAPE");
    let content = Some("ATTESTATION_CONTENT");
    let beginless = |value: &mut Value| {
        value["keys"][1].as_object_mut().unwrap().remove("validFrom");
    };
    assert_eq!(refused(beginless), shape, "a key without a beginning");
    assert_eq!(refused(key(1, "validFrom", json!(null))), shape, "a beginning of nothing");
    assert_eq!(refused(key(1, "validFrom", json!("2026-11-01"))), shape, "half a beginning");
    assert_eq!(refused(key(1, "validUntil", json!("2026-10-31T23:59:59.999Z"))), content, "an end before it");
    assert_eq!(refused(key(1, "role", json!("owner"))), shape, "a role that there is none of");
    assert_eq!(
        refused(key(1, "revokedOn", json!("2026-11-02T00:00:00.000Z"))),
        shape,
        "a member not understood"
    );
    assert_eq!(refused(key(1, "spki", json!("AAAA"))), content, "no key");
    assert_eq!(refused(key(1, "spki", json!("*"))), content, "no base64");
    assert_eq!(refused(|value| value["keys"] = json!([])), content, "no keys");
    assert_eq!(refused(|value| value["_type"] = json!("urn:ambit:trust-root:v2")), Some("ATTESTATION_KIND"));
    let doubled = |value: &mut Value| {
        let mut again = value["keys"][1].clone();
        again["role"] = json!("evaluator");
        value["keys"][3] = again;
    };
    assert_eq!(refused(doubled), content, "one key with two roles");
    let swapped = |value: &mut Value| value["keys"][0]["role"] = json!("orchestrator");
    assert_eq!(refused(swapped), content, "a log's key that signs statements");
    let bytes = root().to_bytes().unwrap();
    let spaced = [bytes.as_bytes(), b" "].concat();
    assert_eq!(TrustRoot::from_bytes(&spaced).unwrap_err().code(), "ATTESTATION_SHAPE", "a second spelling");
    let crowd = (0..65).map(|at| TrustedKey {
        role: KeyRole::Evaluator,
        key: RoleKey::P256(Party::new(&format!("k{at}")).key),
        window: window(),
    });
    assert!(TrustRoot::new(Uri::new(DEPLOYMENT).unwrap(), crowd.collect()).is_err(), "too many");
    let odd = TrustedKey {
        role: KeyRole::Evaluator,
        key: RoleKey::Ed25519(Ed25519Key::from_bytes([1; 32])),
        window: window(),
    };
    assert!(
        TrustRoot::new(Uri::new(DEPLOYMENT).unwrap(), vec![odd]).is_err(),
        "an algorithm of another role"
    );
}

fn with_window(window: Window) -> TrustRoot {
    TrustRoot::new(Uri::new(DEPLOYMENT).unwrap(), vec![trusted(KeyRole::Orchestrator, window)]).unwrap()
}

fn judged(root: &TrustRoot, at: &str) -> Option<&'static str> {
    let envelope = envelope(&Records::read().provenance());
    root.verify::<Provenance>(&envelope, moment(at)).err().map(|why| why.code())
}

/// What decides is when the statement was logged. Both ends of a window belong to it; the moment of a revocation does not.
#[test]
fn a_key_counts_within_its_window_and_until_it_is_revoked() {
    let outside = Some("ATTESTATION_KEY_WINDOW");
    let open = with_window(window());
    for (at, expected) in [
        ("2026-10-31T23:59:59.999Z", outside),
        ("2026-11-01T00:00:00.000Z", None),
        ("2026-12-31T23:59:59.999Z", None),
        ("2027-01-01T00:00:00.000Z", outside),
    ] {
        assert_eq!(judged(&open, at), expected, "{at}");
    }
    let endless = with_window(Window { until: None, ..window() });
    assert_eq!(judged(&endless, "2099-01-01T00:00:00.000Z"), None);
    let revoked = with_window(Window { revoked: Some(moment("2026-11-15T12:00:00.000Z")), ..window() });
    assert_eq!(judged(&revoked, "2026-11-15T11:59:59.999Z"), None, "what was logged before stays");
    assert_eq!(judged(&revoked, "2026-11-15T12:00:00.000Z"), Some("ATTESTATION_KEY_REVOKED"));
    assert_eq!(judged(&revoked, "2027-01-01T00:00:00.000Z"), Some("ATTESTATION_KEY_REVOKED"));
    let at_once = Window { revoked: Some(window().from), ..window() };
    assert_eq!(at_once.at(window().from), Standing::Revoked);
}

#[test]
fn a_key_of_another_role_signs_nothing_that_counts() {
    let run = Records::read();
    let root = root();
    for role in KeyRole::ALL {
        let expected = match role {
            KeyRole::Orchestrator => None,
            KeyRole::Log | KeyRole::Witness => Some("ATTESTATION_NO_KEY"),
            _ => Some("ATTESTATION_ROLE"),
        };
        let envelope = Party::role(*role).envelope(&run.provenance());
        assert_eq!(
            root.verify::<Provenance>(&envelope, now()).err().map(|why| why.code()),
            expected,
            "{role}"
        );
    }
    let stranger = Party::new("nobody").envelope(&run.provenance());
    assert_eq!(root.verify::<Provenance>(&stranger, now()).unwrap_err().code(), "ATTESTATION_NO_KEY");
    // With the right key beside it, the wrong one is not named among those that counted.
    let envelope = envelope(&run.provenance());
    let evaluator = Party::role(KeyRole::Evaluator);
    let signature = evaluator.sign(&envelope.pae());
    let both = envelope.countersigned(&evaluator.key, signature).unwrap();
    let signed = root.verify::<Provenance>(&both, now()).unwrap();
    assert_eq!(signed.signers().values().collect::<Vec<_>>(), [&KeyRole::Orchestrator]);
}

#[test]
fn a_statement_of_another_type_is_not_the_one_that_is_asked_for() {
    let run = Records::read();
    // The evaluator signs results and links: the key alone does not say which of them this is.
    let root = root();
    let evaluator = Party::role(KeyRole::Evaluator);
    let link = evaluator.envelope(&run.patch_link());
    assert_eq!(root.verify::<TestResult>(&link, now()).unwrap_err().code(), "ATTESTATION_KIND");
    let result = evaluator.envelope(&run.gate_result(true));
    assert!(root.verify::<TestResult>(&result, now()).is_ok(), "the control");
}

#[test]
fn a_key_of_one_deployment_does_not_speak_for_another() {
    let other = Uri::new("https://ambit.example.com/deployment/other").unwrap();
    let keys = root().keys().to_vec();
    let root = TrustRoot::new(other, keys).unwrap();
    assert_eq!(judged(&root, "2026-11-29T00:00:00.000Z"), Some("ATTESTATION_DEPLOYMENT"));
    assert_eq!(judged(&crate::parties::root(), "2026-11-29T00:00:00.000Z"), None, "the control");
}
