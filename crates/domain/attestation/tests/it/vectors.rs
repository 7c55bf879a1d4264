//! Published values and cases, read in place.

use ambit_attestation::key::PublicKey;
use ambit_attestation::predicate::Provenance;
use ambit_attestation::{Envelope, PayloadType, Predicate as _, Statement, Threshold, Verified, pae};
use ambit_ids::Digest;
use p256::ecdsa::Signature;
use serde_json::{Value, json};

use crate::cases::{directory, json};

/// The type of the published example. No statement has it.
const HELLO: PayloadType = PayloadType::of_others("http://example.com/HelloWorld");

#[test]
fn what_is_signed_is_what_the_vectors_say() {
    let Some(cases) = directory("evidence/dsse") else { return };
    let vectors = json(&cases.join("pae.json"));
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), 8);
    for vector in vectors {
        let payload = match vector["payload_b64"].as_str() {
            Some(text) => decoded(text),
            None => {
                assert_eq!(vector["payload_rule"], "\"z\"*70000");
                vec![b'z'; 70_000]
            }
        };
        let bytes = pae(vector["type"].as_str().unwrap(), &payload);
        assert_eq!(vector["pae_len"], bytes.len(), "{}", vector["id"]);
        assert_eq!(vector["pae_sha256"], Digest::of(&bytes).to_hex(), "{}", vector["id"]);
    }
}

fn decoded(text: &str) -> Vec<u8> {
    let envelope = json!({"payload": text, "payloadType": HELLO.as_str(), "signatures": [{"sig": "AAAA"}]});
    let envelope = Envelope::parse(&serde_json::to_vec(&envelope).unwrap(), HELLO).unwrap();
    let head = format!("DSSEv1 29 {} ", HELLO.as_str());
    let pae = envelope.pae();
    let rest = &pae[head.len()..];
    rest[rest.iter().position(|byte| *byte == b' ').unwrap() + 1..].to_vec()
}

/// The key of the published example, from its two numbers.
fn published_key(vector: &Value) -> PublicKey {
    let mut point = vec![4];
    for coordinate in ["x", "y"] {
        let mut bytes = [0_u8; 32];
        for digit in vector["key"][coordinate].as_str().unwrap().bytes() {
            let mut carry = u32::from(digit - b'0');
            for byte in bytes.iter_mut().rev() {
                carry += u32::from(*byte) * 10;
                *byte = (carry & 255) as u8;
                carry >>= 8;
            }
        }
        point.extend(bytes);
    }
    PublicKey::from_sec1_bytes(&point).unwrap()
}

/// The vectors hold r and s side by side; here a signature is DER.
fn in_der(mut envelope: Value) -> Value {
    let signatures = envelope.get_mut("signatures").and_then(Value::as_array_mut);
    for signature in signatures.into_iter().flatten() {
        let Some(text) = signature.get("sig").and_then(Value::as_str) else { continue };
        let padded = text.len() == 88 && text.ends_with("==");
        if padded {
            let raw = decoded(text);
            let der = Signature::from_slice(&raw).unwrap().to_der();
            let url = text.contains(['-', '_']);
            signature["sig"] = Value::String(encoded(der.as_bytes(), url));
        }
    }
    envelope
}

fn encoded(bytes: &[u8], url: bool) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    if url { URL_SAFE.encode(bytes) } else { STANDARD.encode(bytes) }
}

fn accepted(envelope: &[u8], threshold: &Threshold) -> bool {
    Envelope::parse(envelope, HELLO).is_ok_and(|envelope| {
        envelope.verify(threshold).is_ok_and(|verified| verified.payload() == b"hello world")
    })
}

#[test]
fn the_published_envelope_and_its_mutations_come_out_as_they_must() {
    let Some(cases) = directory("evidence/dsse") else { return };
    let vector = json(&cases.join("spec_vector.json"));
    let key = published_key(&vector);
    let threshold = Threshold::one(key);
    assert_eq!(pae(HELLO.as_str(), b"hello world"), vector["pae"].as_str().unwrap().as_bytes());
    let published = serde_json::to_vec(&vector["envelope"]).unwrap();
    assert!(!accepted(&published, &threshold), "r and s without their form");
    assert!(accepted(&serde_json::to_vec(&in_der(vector["envelope"].clone())).unwrap(), &threshold));
    let mutations = json(&cases.join("mutations.json"));
    let mutations = mutations.as_array().unwrap();
    assert_eq!(mutations.len(), 16);
    for mutation in mutations {
        let bytes = serde_json::to_vec(&in_der(mutation["envelope"].clone())).unwrap();
        let expected = mutation["expect"].as_str().unwrap().starts_with("accept");
        assert_eq!(accepted(&bytes, &threshold), expected, "{}", mutation["id"]);
        let twice = Threshold::of(2, [key, crate::parties::Party::new("b").key]).unwrap();
        assert!(!accepted(&bytes, &twice), "{}: one key is one key", mutation["id"]);
    }
    let doubled = std::fs::read(cases.join("dupkeys.txt")).unwrap();
    assert_eq!(Envelope::parse(&doubled, HELLO).unwrap_err().code(), "ENVELOPE_SHAPE");
}

/// The key of the certificate of a bundle: the one place where the encoding of a key of P-256 stands in it.
fn key_in(bundle: &Value) -> PublicKey {
    let certificate = decoded(bundle["verificationMaterial"]["certificate"]["rawBytes"].as_str().unwrap());
    let any = crate::parties::Party::new("any").key;
    let at = certificate.windows(26).position(|window| window == &any.spki_der()[..26]).unwrap();
    PublicKey::from_spki_der(&certificate[at..at + 91]).unwrap()
}

/// What of a bundle is an envelope. That an entry of a log is another's, an envelope cannot tell by itself.
#[test]
fn envelopes_in_bundles_of_sigstore_come_out_as_they_must() {
    let Some(cases) = directory("evidence/sigstore") else { return };
    for (case, genuine) in [
        ("happy-path-intoto-in-dsse-v3", true),
        ("dsse-mismatch-sig_fail", true),
        ("dsse-mismatch-envelope_fail", true),
        ("dsse-invalid-sig_fail", false),
    ] {
        let bundle = json(&cases.join(case).join("bundle.sigstore.json"));
        let bytes = serde_json::to_vec(&bundle["dsseEnvelope"]).unwrap();
        let envelope = Envelope::parse(&bytes, PayloadType::IN_TOTO).unwrap();
        let verified = envelope.verify(&Threshold::one(key_in(&bundle)));
        assert_eq!(verified.is_ok(), genuine, "{case}");
        // Signed, and of the right type, and still not a build that is read here.
        let read = verified.ok().map(Verified::read::<Statement<Provenance>>);
        assert!(read.is_none_or(|read| read.is_err()), "{case} {}", Provenance::TYPE);
    }
}

#[test]
fn managed_keys_of_sigstore_come_out_as_they_must() {
    let Some(cases) = directory("evidence/sigstore") else { return };
    let artifact = std::fs::read(cases.join("a.txt")).unwrap();
    let key = |case: &str| {
        let text = std::fs::read_to_string(cases.join(case).join("key.pub")).unwrap();
        PublicKey::from_pem(&text)
    };
    for case in ["managed-key-happy-path", "managed-key-and-trusted-root"] {
        let bundle = json(&cases.join(case).join("bundle.sigstore.json"));
        let signature = decoded(bundle["messageSignature"]["signature"].as_str().unwrap());
        assert!(key(case).unwrap().verifies(&artifact, &signature), "{case}");
        assert!(!key(case).unwrap().verifies(&artifact[1..], &signature), "{case}: another artifact");
        let hint = decoded(bundle["verificationMaterial"]["publicKey"]["hint"].as_str().unwrap());
        let id = key(case).unwrap().id().to_string();
        assert_eq!(Digest::from_bytes(hint.try_into().unwrap()).to_hex(), id, "{case}");
    }
    assert!(key("managed-key-wrong-key_fail").is_err(), "no key at all");
}
