//! The signatures of envelopes, in Python and in Node.

use std::path::Path;
use std::process::Command;

use ambit_attestation::{Envelope, PublicKey};
use serde_json::{Value, json};

use super::{ACCEPTED, hold, packages, python, scripts, verdicts, write, write_cases};
use crate::parties::Party;
use crate::run::Records;
use crate::tampered::{Tampered, genuine, other_signature, party, tampered};

fn key(key: &PublicKey) -> Value {
    json!({"id": key.id(), "pem": key.to_pem()})
}

/// Every statement of the run and every tampered envelope, each in a file and a case.
fn all(folder: &Path, case: impl Fn(&str, &str, &PublicKey) -> Value) -> (Vec<Value>, Vec<String>) {
    let mut cases = Vec::new();
    let mut genuine = Vec::new();
    let run = Records::read();
    for (called, role, envelope) in run.envelopes() {
        let file = format!("{called}.json");
        write(folder, &file, envelope.print().unwrap().as_bytes());
        cases.push(case(called, &file, &Party::role(role).key));
        genuine.push(called.to_owned());
    }
    for (at, Tampered { called, bytes, .. }) in tampered().into_iter().enumerate() {
        let file = format!("tampered-{at}.json");
        write(folder, &file, &bytes);
        cases.push(case(called, &file, &party().key));
    }
    (cases, genuine)
}

fn expected<'a>(
    genuine: &'a [String],
    refusals: &'a [(&'static str, &'a str)],
    usual: &'static str,
) -> Vec<(&'a str, &'a str)> {
    let mut expected: Vec<(&str, &str)> = genuine.iter().map(|called| (called.as_str(), ACCEPTED)).collect();
    for Tampered { called, .. } in tampered() {
        let named = refusals.iter().find(|(name, _)| *name == called);
        expected.push((called, named.map_or(usual, |(_, begins)| *begins)));
    }
    expected
}

#[test]
fn securesystemslib_accepts_what_is_made_here_and_nothing_that_was_tampered_with() {
    let Some(packages) = packages("python") else { return };
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let (mut cases, mut genuine_names) =
        all(folder, |name, file, of| json!({"name": name, "file": file, "keys": [key(of)], "threshold": 1}));
    // Of two keys, both must have signed, and one that signed twice is one.
    let (one, two) = (party(), Party::new("two"));
    let keys = json!([key(&one.key), key(&two.key)]);
    let pae = genuine().pae();
    let sign = |by: &Party, signature: Vec<u8>| genuine().countersigned(&by.key, signature).unwrap();
    let mut add = |name: &str, envelope: Envelope| {
        let file = format!("{name}.json");
        write(folder, &file, envelope.print().unwrap().as_bytes());
        cases.push(json!({"name": name, "file": file, "keys": keys, "threshold": 2}));
    };
    add("two of two", sign(&two, two.sign(&pae)));
    add("one of two", genuine());
    add("one twice", sign(&one, other_signature(&pae, &one)));
    write_cases(folder, &cases);
    genuine_names.push("two of two".to_owned());
    let verdicts = verdicts(python(&packages).arg(scripts().join("judge.py")).arg("envelopes").arg(folder));
    let threshold = "VerificationError: Accepted signatures do not match threshold, Found: ";
    let refusals = [
        ("a signature that is no base64", "Error: Only base64 data is allowed"),
        ("a payload that is no base64", "Error: Only base64 data is allowed"),
        ("no text for a payload", "AttributeError: 'dict' object has no attribute"),
    ];
    let mut expected = expected(&genuine_names, &refusals, threshold);
    expected.push(("one of two", threshold));
    expected.push(("one twice", "ValueError: Multiple signatures found for keyid"));
    hold(&verdicts, &expected);
}

#[test]
fn a_client_of_sigstore_accepts_what_is_made_here_and_nothing_that_was_tampered_with() {
    let Some(packages) = packages("node") else { return };
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let case = |name: &str, file: &str, of: &PublicKey| json!({"name": name, "file": file, "hint": of.id(), "keys": [key(of)]});
    let (mut cases, genuine_names) = all(folder, case);
    cases.push(json!({"name": "no key", "file": "provenance.json", "hint": party().key.id(), "keys": []}));
    let stranger = Party::new("nobody").key;
    let mut wrong = key(&stranger);
    wrong["id"] = json!(party().key.id());
    cases.push(
        json!({"name": "another key", "file": "provenance.json", "hint": party().key.id(), "keys": [wrong]}),
    );
    write_cases(folder, &cases);
    let mut node = Command::new("node");
    let verdicts =
        verdicts(node.arg(scripts().join("judge.mjs")).arg(folder).env("AMBIT_JUDGES_NODE", &packages));
    let unsigned = "SIGNATURE_ERROR: signature verification failed";
    let envelope = "Error: invalid bundle content.dsseEnvelope.";
    let (payload, signatures) = (format!("{envelope}payload"), format!("{envelope}signatures"));
    let refusals = [
        ("no signature", signatures.as_str()),
        ("an empty signature", &signatures),
        ("a signature that is no base64", &signatures),
        ("a payload that is no base64", &payload),
        ("no text for a payload", "ERR_INVALID_ARG_TYPE: "),
    ];
    let mut expected = expected(&genuine_names, &refusals, unsigned);
    expected.extend([("no key", "NO_KEY: no key"), ("another key", unsigned)]);
    hold(&verdicts, &expected);
}
