//! The suite of [`Signer`](ambit_ports::signer::Signer).

use ambit_ports::signer::{KeyRole, Signer};
use ed25519_dalek::{Signature, VerifyingKey};

/// Runs every check. `open` must answer a signer that has a key for every role; a name that was opened before has the
/// same keys.
pub async fn suite<S, F>(open: F)
where
    S: Signer,
    F: Fn(&str) -> S,
{
    a_signature_verifies(&open).await;
    a_key_stays(&open).await;
}

/// A signature verifies strictly (RFC 8032, canonical and of full order) over exactly its message.
pub async fn a_signature_verifies<S: Signer>(open: &impl Fn(&str) -> S) {
    let signer = open("verifies");
    for role in KeyRole::ALL {
        let public = signer.public_key(role).await.unwrap();
        assert_eq!(public.role, role);
        let key = VerifyingKey::from_bytes(&public.bytes).unwrap();
        for message in [&b""[..], b"a head", &[0xff; 100_000]] {
            let signature = signer.sign(role, message).await.unwrap();
            assert_eq!(signature.key, public.id());
            let bytes = Signature::from_bytes(&signature.bytes);
            key.verify_strict(message, &bytes).unwrap();
            let other = [message, b"."].concat();
            assert!(key.verify_strict(&other, &bytes).is_err(), "of another message");
            assert_eq!(signer.sign(role, message).await.unwrap(), signature, "Ed25519 has no chance in it");
        }
    }
}

/// A restart has the same key, and another place another one.
pub async fn a_key_stays<S: Signer>(open: &impl Fn(&str) -> S) {
    for role in KeyRole::ALL {
        let first = open("stays").public_key(role).await.unwrap();
        assert_eq!(open("stays").public_key(role).await.unwrap(), first);
        assert_ne!(open("elsewhere").public_key(role).await.unwrap(), first);
    }
}
