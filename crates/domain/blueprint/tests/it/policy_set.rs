use std::collections::BTreeMap;

use ambit_blueprint::{
    Document, DocumentKind, ExecutionCapabilityProfile, PolicyKey, PolicyRef, PolicySet, PolicySetError,
    PolicySubject, builtin,
};
use ambit_ids::Digest;

use crate::page::{edited, sample};

fn known() -> BTreeMap<PolicyKey, Digest> {
    let mut documents = builtin::parse_all().unwrap();
    let catalog = sample(DocumentKind::NamedCommandCatalog);
    documents.push(Document::parse("catalog.yaml", catalog.as_bytes()).unwrap());
    let key = |document: &Document| Some((document.policy_key()?, document.digest().unwrap()));
    documents.iter().filter_map(key).collect()
}

fn profile(text: &str) -> ExecutionCapabilityProfile {
    ExecutionCapabilityProfile::parse("profile.yaml", text.as_bytes()).unwrap()
}

fn tool_rules() -> PolicyRef {
    "policy://generation-tools/v2".parse().unwrap()
}

#[test]
fn every_reference_is_resolved_to_the_digest_of_its_document() {
    let known = known();
    let secure = profile(builtin::SECURE_GENERATION_V1.text);
    let set = PolicySet::resolve(&secure, &tool_rules(), &known).unwrap();
    assert_eq!(set.network.digest, builtin::GENERATION_EGRESS_V5.parse().unwrap().digest().unwrap());
    assert_eq!(set.tool_rules.digest, builtin::GENERATION_TOOLS_V2.parse().unwrap().digest().unwrap());
    assert_eq!(set.profile_digest, secure.digest().unwrap());
    assert_eq!(set.commands.reference, secure.spec.policy_refs.commands);
    assert_eq!(set.digest().unwrap(), set.to_canonical().unwrap().digest());
}

#[test]
fn another_content_of_any_part_is_another_policy() {
    let known = known();
    let secure = profile(builtin::SECURE_GENERATION_V1.text);
    let mut digests = vec![PolicySet::resolve(&secure, &tool_rules(), &known).unwrap().digest().unwrap()];
    for key in known.keys() {
        let mut other = known.clone();
        other.insert(key.clone(), Digest::of(b"another content"));
        digests.push(PolicySet::resolve(&secure, &tool_rules(), &other).unwrap().digest().unwrap());
    }
    let laptop = profile(builtin::LAPTOP_V1.text);
    digests.push(PolicySet::resolve(&laptop, &tool_rules(), &known).unwrap().digest().unwrap());
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!((digests.len(), count), (7, 8), "the first rules for tools are no part of it, all others are");
}

#[test]
fn a_reference_that_names_nothing_is_told() {
    let known = known();
    let text = builtin::SECURE_GENERATION_V1.text;
    for (from, to, wanted) in [
        ("named-commands/v3", "named-commands/v4", PolicySubject::Commands),
        ("generation-egress/v5", "generation-egres/v5", PolicySubject::Egress),
        // Known, but about something else.
        ("generation-egress/v5", "run-evidence-retention/v2", PolicySubject::Egress),
        ("secret-broker/v4", "secret-broker/v3", PolicySubject::Secrets),
        ("run-evidence-retention/v2", "secret-broker/v4", PolicySubject::Retention),
    ] {
        let asked = profile(&edited(text, from, to));
        match PolicySet::resolve(&asked, &tool_rules(), &known) {
            Err(error @ PolicySetError::Unresolved { .. }) => {
                assert_eq!(error.code(), "POLICY_UNRESOLVED");
                let message = error.to_string();
                assert!(
                    message.starts_with(&format!("policy://{to} names no known {wanted} document")),
                    "{message}"
                );
            }
            other => panic!("{to}: {other:?}"),
        }
    }
    let secure = profile(text);
    let absent: PolicyRef = "policy://generation-tools/v3".parse().unwrap();
    assert!(PolicySet::resolve(&secure, &absent, &known).is_err());
    assert!(PolicySet::resolve(&secure, &tool_rules(), &known).is_ok());
}

#[test]
fn a_set_reads_back_from_its_canonical_bytes() {
    let known = known();
    for text in [builtin::SECURE_GENERATION_V1.text, builtin::LAPTOP_V1.text] {
        let set = PolicySet::resolve(&profile(text), &tool_rules(), &known).unwrap();
        let bytes = set.to_canonical().unwrap();
        let read = PolicySet::read(bytes.as_bytes()).unwrap();
        assert_eq!((&read, read.digest().unwrap()), (&set, bytes.digest()));
    }
}

#[test]
fn bytes_of_another_shape_version_or_spelling_are_no_set() {
    let set = PolicySet::resolve(&profile(builtin::LAPTOP_V1.text), &tool_rules(), &known()).unwrap();
    let bytes = set.to_canonical().unwrap();
    let text = String::from_utf8(bytes.into_bytes()).unwrap();
    let digest = set.profile_digest.to_string();
    let changed = [
        format!("{text}\n"),
        text.replace("\":\"", "\": \""),
        edited(&text, "\"kind\":\"PolicySet\"", "\"kind\":\"PolicyBundle\""),
        edited(&text, "enterprise/v1", "enterprise/v2"),
        edited(&text, "\"kind\":\"PolicySet\",", "\"kind\":\"PolicySet\",\"more\":1,"),
        edited(&text, "\"kind\":\"PolicySet\",", "\"kind\":\"PolicySet\",\"kind\":\"PolicySet\","),
        edited(&text, "\"commands\":{", "\"commands\":{\"also\":true,"),
        edited(&text, "\"profileDigest\":", "\"profileDigests\":"),
        edited(&text, &digest, &digest.to_uppercase()),
        edited(&text, "policy://generation-tools/v2", "policy://generation-tools/v02"),
        edited(&text, "\"kind\":\"PolicySet\"", "\"kind\":\"\\u0050olicySet\""),
        text[..text.len() - 1].to_owned(),
        String::new(),
        "null".to_owned(),
    ];
    for other in changed {
        let error = PolicySet::read(other.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "POLICY_SET_MALFORMED", "{other}");
    }
    assert!(PolicySet::read(text.as_bytes()).is_ok());
}

#[test]
fn a_set_with_any_byte_replaced_is_refused_or_another_set() {
    let set = PolicySet::resolve(&profile(builtin::LAPTOP_V1.text), &tool_rules(), &known()).unwrap();
    let bytes = set.to_canonical().unwrap().into_bytes();
    let mut others = 0;
    for at in 0..bytes.len() {
        for byte in [b'0', b'b', b'"', b' ', b'}', 0xff] {
            let mut changed = bytes.clone();
            changed[at] = byte;
            let Ok(read) = PolicySet::read(&changed) else { continue };
            assert_eq!(read.to_canonical().unwrap().as_bytes(), changed, "byte {at}");
            others += usize::from(read != set);
        }
    }
    assert!(others > 0);
}
