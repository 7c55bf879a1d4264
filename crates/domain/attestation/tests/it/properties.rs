//! What holds for every input.

use ambit_attestation::predicate::Provenance;
use ambit_attestation::{Envelope, PayloadType, PublicKey, Threshold, pae};
use proptest::prelude::*;

use crate::parties::{Party, now, root};
use crate::tampered::{genuine, party};

proptest! {
    /// No two pairs of a type and bytes are signed as the same bytes.
    #[test]
    fn what_is_signed_is_one_type_and_one_payload(
        one in ("[a-z 0-9]{0,12}", prop::collection::vec(any::<u8>(), 0..24)),
        other in ("[a-z 0-9]{0,12}", prop::collection::vec(any::<u8>(), 0..24)),
    ) {
        prop_assert_eq!(pae(&one.0, &one.1) == pae(&other.0, &other.1), one == other);
    }

    #[test]
    fn bytes_are_an_envelope_or_refused_and_what_is_read_prints_and_reads_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(envelope) = Envelope::parse(&bytes, PayloadType::IN_TOTO) {
            let printed = envelope.print().unwrap();
            prop_assert_eq!(Envelope::parse(printed.as_bytes(), PayloadType::IN_TOTO).unwrap(), envelope);
        }
    }

    #[test]
    fn a_key_is_read_from_what_it_writes_and_from_nothing_else(scalar in any::<[u8; 32]>(), at in 0_usize..91, bit in 0_u32..8) {
        prop_assume!(p256::ecdsa::SigningKey::from_slice(&scalar).is_ok());
        let key = Party::of_scalar(&scalar).key;
        prop_assert_eq!(PublicKey::from_pem(&key.to_pem()), Ok(key));
        let mut der = key.spki_der().to_vec();
        der[at] ^= 1 << bit;
        prop_assert!(PublicKey::from_spki_der(&der).is_err());
    }
}

/// Every byte of a signed envelope, one bit of each: it is refused, or it says and is signed by exactly what it was.
#[test]
fn an_altered_byte_of_an_envelope_is_refused_or_changes_nothing_that_is_signed() {
    let (envelope, root) = (genuine(), root());
    let printed = envelope.print().unwrap().into_bytes();
    let threshold = Threshold::one(party().key);
    let expected = envelope.verify(&threshold).unwrap();
    let mut same = 0;
    // Verifying takes its time without optimisations: every seventh byte is enough to meet each part many times.
    for at in (0..printed.len()).step_by(7) {
        let mut altered = printed.clone();
        altered[at] ^= 1;
        let Ok(read) = Envelope::parse(&altered, PayloadType::IN_TOTO) else { continue };
        let Ok(signed) = root.verify::<Provenance>(&read, now()) else { continue };
        assert_eq!(signed.payload(), expected.payload(), "byte {at}");
        same += 1;
    }
    // The hint at the key, and the name of the member that holds it, are signed by nobody.
    assert!((1..=15).contains(&same), "{same} changes are of no effect");
}
