//! One key, one encoding, one name.

use ambit_attestation::key::Ed25519Key;
use ambit_attestation::{KeyId, KeyRole, PredicateType, PublicKey};

use crate::parties::Party;

fn code(der: &[u8]) -> Option<&'static str> {
    PublicKey::from_spki_der(der).err().map(|why| why.code())
}

#[test]
fn a_key_has_one_encoding() {
    let party = Party::new("a");
    let der = party.key.spki_der().to_vec();
    assert_eq!(PublicKey::from_spki_der(&der).unwrap(), party.key);
    assert_eq!(code(&der[..90]), Some("KEY_FORM"), "cut");
    assert_eq!(code(&[&der[..], &[0]].concat()), Some("KEY_FORM"), "longer");
    assert_eq!(code(&[]), Some("KEY_FORM"), "empty");
    let point = party.secret.verifying_key().to_sec1_point(true);
    let compressed = [&der[..1], &[0x39], &der[2..24], &[0x22, 0], point.as_bytes()].concat();
    assert_eq!(code(&compressed), Some("KEY_FORM"), "compressed");
    for at in 0..27 {
        let mut other = der.clone();
        other[at] ^= 1;
        assert_eq!(code(&other), Some("KEY_FORM"), "byte {at}");
    }
    for at in 27..91 {
        let mut other = der.clone();
        other[at] ^= 1;
        assert_eq!(code(&other), Some("KEY_POINT"), "byte {at}");
    }
}

#[test]
fn a_text_of_a_key_has_one_spelling() {
    let key = Party::new("a").key;
    let pem = key.to_pem();
    assert_eq!(PublicKey::from_pem(&pem).unwrap(), key);
    assert_eq!(PublicKey::from_pem(pem.trim_end()).unwrap(), key);
    let body = pem.lines().nth(1).unwrap();
    for bad in [
        String::new(),
        pem.replace("PUBLIC", "PRIVATE"),
        pem.replace('\n', "\r\n"),
        pem.replace('\n', ""),
        format!(" {pem}"),
        format!("{pem}\n"),
        format!("{pem}{pem}"),
        format!("# key\n{pem}"),
        pem.replace(body, &body[1..]),
        pem.replace(body, &format!("{}\n{}", &body[..10], &body[10..])),
        pem.replace(body, &"A".repeat(2000)),
    ] {
        assert_eq!(PublicKey::from_pem(&bad).err().map(|why| why.code()), Some("KEY_PEM"), "{bad:?}");
    }
}

#[test]
fn the_name_of_a_key_is_the_digest_of_its_encoding() {
    let key = Party::new("a").key;
    assert_eq!(key.id().to_string(), ambit_ids::Digest::of(key.spki_der()).to_hex());
    assert_eq!(key.id().to_string().parse::<KeyId>().unwrap(), key.id());
    assert!(key.id().to_string().to_uppercase().parse::<KeyId>().is_err());
    assert!(format!("{key:?}").contains(&key.id().to_string()));
    let log = Ed25519Key::from_bytes([7; 32]);
    assert_eq!(Ed25519Key::from_spki_der(log.spki_der()).unwrap().bytes(), [7; 32]);
    assert!(Ed25519Key::from_spki_der(key.spki_der()).is_err());
    assert!(Ed25519Key::from_spki_der(&log.spki_der()[..43]).is_err());
    assert!(PublicKey::from_spki_der(log.spki_der()).is_err());
}

/// The table, spelled out a second time: who adds a statement says here who may sign it.
#[test]
fn each_role_signs_its_statements_and_no_other() {
    use PredicateType as Type;
    let table = [
        (Type::Provenance, &[KeyRole::Orchestrator][..]),
        (Type::TestResult, &[KeyRole::Evaluator]),
        (Type::VerificationSummary, &[KeyRole::PolicyEvaluator]),
        (Type::Link, &[KeyRole::ToolBroker, KeyRole::Evaluator]),
        (Type::ApprovalReceipt, &[KeyRole::ApprovalBroker]),
        (Type::SandboxManifest, &[KeyRole::SandboxManager]),
        (Type::DenialProbe, &[KeyRole::SandboxManager]),
        (Type::CleanupProof, &[KeyRole::SandboxManager]),
    ];
    assert_eq!(table.map(|(what, _)| what), Type::ALL);
    for (what, roles) in table {
        for role in KeyRole::ALL {
            assert_eq!(role.may_sign().contains(&what), roles.contains(role), "{role} {what}");
        }
    }
}
