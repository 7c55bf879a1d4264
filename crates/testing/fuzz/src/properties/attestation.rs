use ambit_attestation::layout::{Layout, LinkFile};
use ambit_attestation::predicate::{
    ApprovalReceipt, CleanupProof, DenialProbe, Link, Provenance, SandboxManifest, TestResult,
    VerificationSummary,
};
use ambit_attestation::{Envelope, Payload, PayloadType, PublicKey, Statement, Threshold, TrustRoot};

/// The key of somebody who signed none of the inputs: its secret is kept nowhere.
const STRANGER: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAExRRST79+PsrRBnGAI4cMu6Omz2Jh
fwlMW+gIutNKVRaMyS4rQKvgngc5p8UbLj55pVHhIoAxi/SRgURZI0J3Xw==
-----END PUBLIC KEY-----
";

/// Bytes are an envelope of one type, and then print as one that reads as the same and is not signed by a stranger; or they are
/// refused.
pub fn envelope(input: &[u8]) {
    let read = [PayloadType::IN_TOTO, PayloadType::TRUST_ROOT]
        .map(|payload_type| Envelope::parse(input, payload_type));
    assert!(read.iter().filter(|read| read.is_ok()).count() <= 1, "an envelope of two types");
    let Ok(stranger) = PublicKey::from_pem(STRANGER) else { panic!("the stranger has no key") };
    for (read, payload_type) in read.into_iter().zip([PayloadType::IN_TOTO, PayloadType::TRUST_ROOT]) {
        let Ok(envelope) = read else { continue };
        let Ok(printed) = envelope.print() else { panic!("an envelope was read and cannot be printed") };
        let again = Envelope::parse(printed.as_bytes(), payload_type);
        assert!(again.is_ok_and(|again| again == envelope), "what is printed reads as something else");
        assert!(envelope.verify(&Threshold::one(stranger)).is_err(), "a stranger signed it");
    }
}

/// Signed bytes are one kind of statement, layout, link or file of keys, and then are written as bytes that read as the same; or they
/// are refused.
pub fn statement(input: &[u8]) {
    let kinds = [
        one_spelling::<Statement<Provenance>>(input),
        one_spelling::<Statement<TestResult>>(input),
        one_spelling::<Statement<VerificationSummary>>(input),
        one_spelling::<Statement<Link>>(input),
        one_spelling::<Statement<ApprovalReceipt>>(input),
        one_spelling::<Statement<SandboxManifest>>(input),
        one_spelling::<Statement<DenialProbe>>(input),
        one_spelling::<Statement<CleanupProof>>(input),
        one_spelling::<Layout>(input),
        one_spelling::<LinkFile>(input),
        one_spelling::<TrustRoot>(input),
    ];
    assert!(kinds.into_iter().filter(|is_one| *is_one).count() <= 1, "the same bytes say two things");
}

/// Whether the bytes are a `T`.
fn one_spelling<T: Payload + PartialEq>(input: &[u8]) -> bool {
    let Ok(value) = T::from_bytes(input) else { return false };
    let Ok(written) = value.to_bytes() else { panic!("what was read cannot be written") };
    let again = T::from_bytes(written.as_bytes());
    assert!(again.is_ok_and(|again| again == value), "what is written reads as something else");
    true
}
