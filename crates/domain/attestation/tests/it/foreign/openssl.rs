//! A person with nothing but openssl.

use std::path::Path;
use std::process::Command;

use ambit_attestation::{Envelope, PublicKey, pae};

use super::write;
use crate::parties::Party;
use crate::run::Records;
use crate::tampered::{genuine, other_signature, party};

/// What openssl answers of a message, a signature and a key.
fn answer(folder: &Path, message: &[u8], signature: &[u8], pem: &str) -> String {
    write(folder, "message", message);
    write(folder, "signature", signature);
    write(folder, "key.pem", pem.as_bytes());
    let words = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message"];
    let output = Command::new("openssl").args(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert_eq!(output.status.success(), said == OK, "{said}");
    if said.is_empty() { String::from_utf8_lossy(&output.stderr).into_owned() } else { said }
}

/// What happens to what was signed: the message, the signature, the key, and how openssl refuses it.
type Hand<'a> = (&'static str, &'a [u8], &'a [u8], &'a str, &'static str);

const OK: &str = "Verified OK";
const FAILED: &str = "Verification failure";
const ABSENT: &str = "Error reading signature file";
const MALFORMED: &str = "Error verifying data";

fn signature(envelope: &Envelope) -> Vec<u8> {
    use base64::Engine as _;
    let value = crate::tampered::value(envelope);
    let text = value["signatures"][0]["sig"].as_str().unwrap().to_owned();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn openssl_accepts_what_is_signed_here_and_nothing_that_was_tampered_with() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!(
            "skipped: NO_OPENSSL openssl_accepts_what_is_signed_here_and_nothing_that_was_tampered_with"
        );
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    for (called, role, envelope) in Records::read().envelopes() {
        let pem = Party::role(role).key.to_pem();
        assert_eq!(answer(folder, &envelope.pae(), &signature(&envelope), &pem), OK, "{called}");
    }
    let (envelope, party) = (genuine(), party());
    let (message, good) = (envelope.pae(), signature(&envelope));
    let pem = party.key.to_pem();
    assert_eq!(answer(folder, &message, &other_signature(&message, &party), &pem), OK, "the other signature");
    let altered = |at: usize| {
        let mut altered = message.clone();
        altered[at] ^= 1;
        altered
    };
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let payload = message[message.iter().position(|byte| *byte == b'{').unwrap()..].to_vec();
    let other = pae("application/json", &payload);
    let stranger = Party::new("nobody").key.to_pem();
    let zero = [0x30, 6, 2, 1, 0, 2, 1, 0];
    let cases: [Hand<'_>; 12] = [
        ("a bit of the head", &altered(0), &good, &pem, FAILED),
        ("a bit of the type", &altered(12), &good, &pem, FAILED),
        ("a bit of the payload", &altered(message.len() - 9), &good, &pem, FAILED),
        ("a byte less", &message[..message.len() - 1], &good, &pem, FAILED),
        ("a byte more", &[&message[..], b" "].concat(), &good, &pem, FAILED),
        ("the payload alone", &payload, &good, &pem, FAILED),
        ("the payload as something else", &other, &good, &pem, FAILED),
        ("a bit of the signature", &message, &flipped, &pem, FAILED),
        ("another key", &message, &good, &stranger, FAILED),
        ("r and s of zero", &message, &zero, &pem, FAILED),
        ("half of the signature", &message, &good[..20], &pem, MALFORMED),
        ("no signature", &message, b"", &pem, ABSENT),
    ];
    for (called, message, signature, pem, expected) in cases {
        let said = answer(folder, message, signature, pem);
        assert!(said.starts_with(expected), "{called}: {said}");
        let key = PublicKey::from_pem(pem).unwrap();
        assert!(!key.verifies(message, signature), "{called}: and here");
    }
}

/// A key that openssl made is read, and what it signs verifies here.
#[test]
fn what_openssl_signs_is_verified_here() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!("skipped: NO_OPENSSL what_openssl_signs_is_verified_here");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let openssl = |words: &[&str]| {
        let status = Command::new("openssl").args(words).current_dir(folder).output().unwrap().status;
        assert!(status.success(), "{words:?}");
    };
    openssl(&["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "secret.pem"]);
    openssl(&["pkey", "-in", "secret.pem", "-pubout", "-out", "key.pem"]);
    let key = PublicKey::from_pem(&std::fs::read_to_string(folder.join("key.pem")).unwrap()).unwrap();
    let statement = Records::read().provenance();
    let sign = |message: &[u8]| {
        write(folder, "message", message);
        openssl(&["dgst", "-sha256", "-sign", "secret.pem", "-out", "signature", "message"]);
        std::fs::read(folder.join("signature"))
    };
    let envelope = ambit_attestation::sign(&statement, &key, sign).unwrap();
    let threshold = ambit_attestation::Threshold::one(key);
    assert!(envelope.verify(&threshold).is_ok());
    openssl(&["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "secret.pem"]);
    openssl(&["pkey", "-in", "secret.pem", "-pubout", "-out", "key.pem"]);
    let other = std::fs::read_to_string(folder.join("key.pem")).unwrap();
    assert!(PublicKey::from_pem(&other).is_err(), "a key of another curve");
}
