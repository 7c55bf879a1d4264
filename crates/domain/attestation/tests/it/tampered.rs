//! One genuine envelope, and what becomes of it in other hands.

use std::sync::LazyLock;

use ambit_attestation::envelope::{PAYLOAD_BYTES, SIGNATURES};
use ambit_attestation::predicate::Provenance;
use ambit_attestation::{Envelope, KeyRole, PayloadType, Threshold, pae};
use p256::ecdsa::Signature;
use serde_json::{Value, json};

use crate::parties::{Party, now, root};
use crate::run::{Records, envelope};

/// An envelope that must be refused, and the code with which we refuse it.
pub(crate) struct Tampered {
    pub(crate) called: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) code: &'static str,
}

/// Signing and checking takes its time without optimisations.
static GENUINE: LazyLock<Envelope> = LazyLock::new(|| envelope(&Records::read().provenance()));

pub(crate) fn genuine() -> Envelope {
    GENUINE.clone()
}

pub(crate) fn party() -> Party {
    Party::role(KeyRole::Orchestrator)
}

pub(crate) fn value(envelope: &Envelope) -> Value {
    serde_json::from_slice(envelope.print().unwrap().as_bytes()).unwrap()
}

fn base64(bytes: &[u8]) -> Value {
    // The printer of envelopes is not what writes the altered ones.
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { char::from(digit) } else { '=' });
        }
    }
    Value::String(text)
}

fn payload(envelope: &Envelope) -> Vec<u8> {
    let pae = envelope.pae();
    let start = pae.iter().position(|byte| *byte == b'{').unwrap();
    pae[start..].to_vec()
}

/// With another signature in the place of the genuine one.
fn resigned(signature: &[u8]) -> Value {
    let mut value = value(&genuine());
    value["signatures"][0]["sig"] = base64(signature);
    value
}

pub(crate) fn with(pointer: &str, to: Value) -> Value {
    let mut value = value(&genuine());
    *value.pointer_mut(pointer).unwrap() = to;
    value
}

/// The same signature written another way: what ECDSA allows anybody to do.
pub(crate) fn other_signature(message: &[u8], party: &Party) -> Vec<u8> {
    let signature = Signature::from_der(&party.sign(message)).unwrap();
    let (r, s) = signature.split_scalars();
    Signature::from_scalars(r.to_bytes(), (-s).to_bytes()).unwrap().to_der().as_bytes().to_vec()
}

/// Each way in which an envelope is no more what it was, one change at a time.
pub(crate) fn tampered() -> Vec<Tampered> {
    let (envelope, party) = (genuine(), party());
    let (pae_bytes, payload) = (envelope.pae(), payload(&envelope));
    let signature = party.sign(&pae_bytes);
    let der = Signature::from_der(&signature).unwrap();
    let mut flipped = signature.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut altered = payload.clone();
    *altered.iter_mut().rev().nth(5).unwrap() ^= 1;
    let other = crate::run::envelope(&Records::read().gate_result(true));
    let zero = [0x30, 6, 2, 1, 0, 2, 1, 0];
    let unsigned = "ATTESTATION_NO_KEY";
    let json_type = pae("application/json", &payload);
    let row =
        |called, value: Value, code| Tampered { called, bytes: serde_json::to_vec(&value).unwrap(), code };
    vec![
        row("a bit of the payload", with("/payload", base64(&altered)), unsigned),
        row("a byte more", with("/payload", base64(&[&payload[..], b" "].concat())), unsigned),
        row("the payload of another", with("/payload", value(&other)["payload"].clone()), unsigned),
        row("the signature of another", with("/signatures", value(&other)["signatures"].clone()), unsigned),
        row("a bit of the signature", resigned(&flipped), unsigned),
        row("half of the signature", resigned(&signature[..signature.len() / 2]), unsigned),
        row("a byte behind the signature", resigned(&[&signature[..], &[0]].concat()), unsigned),
        row("r and s without their form", resigned(&der.to_bytes()), unsigned),
        row("r and s of zero", resigned(&zero), unsigned),
        row("a key of nobody", resigned(&Party::new("nobody").sign(&pae_bytes)), unsigned),
        row("the payload without what it is", resigned(&party.sign(&payload)), unsigned),
        row("the payload as something else", resigned(&party.sign(&json_type)), unsigned),
        row("another type", with("/payloadType", json!("application/json")), "ENVELOPE_TYPE"),
        row("no signature", with("/signatures", json!([])), "ENVELOPE_UNSIGNED"),
        row("an empty signature", with("/signatures/0/sig", json!("")), "ENVELOPE_UNSIGNED"),
        row("a signature that is no base64", with("/signatures/0/sig", json!("***")), "ENVELOPE_BASE64"),
        row("a payload that is no base64", with("/payload", json!("{}")), "ENVELOPE_BASE64"),
        row("no text for a payload", with("/payload", json!({"a": 1})), "ENVELOPE_SHAPE"),
    ]
}

fn refusal(bytes: &[u8]) -> Option<&'static str> {
    match Envelope::parse(bytes, PayloadType::IN_TOTO) {
        Err(why) => Some(why.code()),
        Ok(envelope) => root().verify::<Provenance>(&envelope, now()).err().map(|why| why.code()),
    }
}

#[test]
fn an_envelope_in_other_hands_is_no_envelope() {
    assert_eq!(refusal(genuine().print().unwrap().as_bytes()), None, "the control");
    for Tampered { called, bytes, code } in tampered() {
        assert_eq!(refusal(&bytes), Some(code), "{called}");
    }
}

#[test]
fn what_is_not_signed_may_be_written_another_way() {
    let (envelope, party) = (genuine(), party());
    let text = |value: &Value| serde_json::to_vec(value).unwrap();
    let url_safe =
        value(&envelope)["signatures"][0]["sig"].as_str().unwrap().replace('+', "-").replace('/', "_");
    let mut more = value(&envelope);
    more["note"] = json!("nobody signed this");
    let mut spaced = serde_json::to_vec_pretty(&value(&envelope)).unwrap();
    spaced.push(b'\n');
    for (called, bytes) in [
        ("the alphabet of URLs", text(&with("/signatures/0/sig", json!(url_safe)))),
        ("a hint that lies", text(&with("/signatures/0/keyid", json!(Party::new("nobody").key.id())))),
        ("no hint", text(&with("/signatures/0/keyid", json!(null)))),
        ("an empty hint", text(&with("/signatures/0/keyid", json!("")))),
        ("the other signature of ECDSA", text(&resigned(&other_signature(&envelope.pae(), &party)))),
        ("a member that nobody knows", text(&more)),
        ("another layout", spaced),
    ] {
        assert_eq!(refusal(&bytes), None, "{called}");
    }
}

#[test]
fn an_envelope_has_bounds() {
    let text = |value: &Value| serde_json::to_vec(value).unwrap();
    let signature = value(&genuine())["signatures"][0].clone();
    let many = |count: usize| text(&with("/signatures", json!(vec![signature.clone(); count])));
    assert_eq!(refusal(&many(SIGNATURES)), None, "the control");
    let big = vec![b'x'; PAYLOAD_BYTES + 1];
    for (called, bytes) in [
        ("one signature too many", many(SIGNATURES + 1)),
        ("a payload that is too long", text(&with("/payload", base64(&big)))),
        ("a signature that is too long", text(&resigned(&[0; 1025]))),
        ("a hint that is too long", text(&with("/signatures/0/keyid", json!("k".repeat(257))))),
        ("an envelope that is too long", [&text(&value(&genuine()))[..], &vec![b' '; 2 << 20]].concat()),
    ] {
        assert_eq!(refusal(&bytes), Some("ENVELOPE_TOO_LARGE"), "{called}");
    }
    let deep = format!("{}{}", "[".repeat(20), "]".repeat(20));
    let mut nested = text(&value(&genuine()));
    nested.truncate(nested.len() - 1);
    nested.extend(format!(",\"deep\":{deep}}}").as_bytes());
    assert_eq!(refusal(&nested), Some("ENVELOPE_SHAPE"), "too deep");
}

/// One signature by one key stays one, however often and in whatever form it stands there.
#[test]
fn keys_are_counted_and_signatures_are_not() {
    let (one, two, three) = (party(), Party::new("two"), Party::new("three"));
    let keys = [one.key, two.key, three.key];
    let two_of_three = Threshold::of(2, keys).unwrap();
    let alone = genuine();
    let pae = alone.pae();
    let both = alone.clone().countersigned(&two.key, two.sign(&pae)).unwrap();
    assert_eq!(both.verify(&two_of_three).unwrap().signers().len(), 2, "the control");
    let again = alone.clone().countersigned(&one.key, other_signature(&pae, &one)).unwrap();
    let copied = alone.clone().countersigned(&one.key, one.sign(&pae)).unwrap();
    let strange = Party::new("nobody");
    let stranger = alone.clone().countersigned(&strange.key, strange.sign(&pae)).unwrap();
    for (called, envelope) in
        [("alone", alone), ("again", again), ("copied", copied), ("a stranger", stranger)]
    {
        let why = envelope.verify(&two_of_three).unwrap_err();
        assert_eq!((why.found, why.needed), (1, 2), "{called}");
    }
    for (needed, keys) in [(0, vec![one.key]), (2, vec![one.key]), (2, vec![one.key, one.key]), (1, vec![])] {
        assert!(Threshold::of(needed, keys.clone()).is_err(), "{needed} of {keys:?}");
    }
    let crowd = (0..65).map(|at| Party::new(&format!("k{at}")).key);
    assert!(Threshold::of(1, crowd).is_err(), "too many to try");
}

#[test]
fn what_is_no_signature_of_these_bytes_is_not_kept() {
    let run = Records::read();
    let party = party();
    let sign = |signature: Vec<u8>| {
        ambit_attestation::sign(&run.provenance(), &party.key, |_| Ok::<_, std::fmt::Error>(signature))
    };
    let pae = genuine().pae();
    assert!(sign(party.sign(&pae)).is_ok(), "the control");
    for signature in [party.sign(b"another"), Party::new("nobody").sign(&pae), Vec::new()] {
        assert_eq!(sign(signature).unwrap_err().code(), "SIGNATURE_WRONG");
    }
    let absent = ambit_attestation::sign(&run.provenance(), &party.key, |_| Err(std::fmt::Error));
    assert_eq!(absent.unwrap_err().code(), "SIGNATURE_ABSENT");
    let full = (1..SIGNATURES)
        .fold(genuine(), |envelope, _| envelope.countersigned(&party.key, party.sign(&pae)).unwrap());
    assert_eq!(full.countersigned(&party.key, party.sign(&pae)).unwrap_err().code(), "ENVELOPE_TOO_LARGE");
}
