use ambit_evidence::CredentialForm;
use ambit_evidence::signature::{VerificationKey, to_hex};
use ambit_ports::runtime::Entropy;
use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use crate::credential::{ApproverCredential, seed_of};

/// A credential under a passphrase: its seed, masked by what Argon2id (RFC 9106) makes of the passphrase and a salt of its
/// own, beside the public key. Whoever reads it can approve nothing without the passphrase, which is kept nowhere.
#[derive(Clone, Debug)]
pub struct SealedCredential {
    salt: [u8; 16],
    masked: [u8; 32],
    key: VerificationKey,
}

const PREFIX: &str = "ambit-approver-sealed-1-";
/// What a guess costs: 19 MiB and two passes, which is the least that OWASP advises.
const COST: (u32, u32) = (19 * 1024, 2);

impl SealedCredential {
    /// Reads the text of a sealed credential; `None` where it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().strip_prefix(PREFIX)?.split('-');
        let (salt, masked, key) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let salt: [u8; 16] = seed_of(salt)?;
        Some(Self { salt, masked: seed_of(masked)?, key: VerificationKey::from_hex(key)? })
    }

    /// The public half, which is no secret.
    #[must_use]
    pub const fn public_key(&self) -> &VerificationKey {
        &self.key
    }

    /// The credential, if this is its passphrase.
    #[must_use]
    pub fn open(&self, passphrase: &str) -> Option<ApproverCredential> {
        let seed = masked(&self.masked, passphrase, &self.salt)?;
        let credential = ApproverCredential::of_seed(&seed, CredentialForm::Sealed);
        (credential.public_key() == self.key).then_some(credential)
    }
}

impl ApproverCredential {
    /// The text of the credential under a passphrase.
    ///
    /// # Panics
    /// Never: the cost and the lengths are within what Argon2 takes.
    #[must_use]
    pub fn seal(&self, passphrase: &str, entropy: &dyn Entropy) -> String {
        let mut salt = [0; 16];
        entropy.fill(&mut salt);
        #[expect(clippy::expect_used, reason = "the cost is a constant, and the salt is long enough")]
        // INVARIANT: Argon2 takes 19 MiB, two passes, 16 bytes of salt and any passphrase of fewer than 4 GiB.
        let masked =
            masked(&self.seed(), passphrase, &salt).expect("a constant cost is one that Argon2 takes");
        let key = self.public_key().to_hex();
        format!("{PREFIX}{}-{}-{key}", to_hex(&salt), to_hex(masked.as_ref()))
    }
}

/// The bytes with the mask of the passphrase over them, which a second time takes off again.
fn masked(bytes: &[u8; 32], passphrase: &str, salt: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let params = Params::new(COST.0, COST.1, 1, Some(32)).ok()?;
    let mut mask = Zeroizing::new([0; 32]);
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon.hash_password_into(passphrase.as_bytes(), salt, mask.as_mut()).ok()?;
    for (masked, byte) in mask.iter_mut().zip(bytes) {
        *masked ^= byte;
    }
    Some(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    // proves E-H04
    // break crates/control-plane/projects/src/sealed.rs: `*masked ^= byte;` -> `*masked = *byte;`
    #[test]
    fn a_sealed_credential_opens_with_its_passphrase_alone_and_does_not_hold_the_seed() {
        let credential = ApproverCredential::generate(&Fixed(7));
        let text = credential.seal("correct horse battery", &Fixed(9));
        assert!(!text.contains(&"07".repeat(32)), "the seed stands in it: {text}");
        assert!(ApproverCredential::read(&text).is_err(), "it is no open credential");
        let sealed = SealedCredential::read(&format!(" {text}\n")).unwrap();
        assert_eq!(*sealed.public_key(), credential.public_key());
        assert_eq!(sealed.open("correct horse battery").unwrap().public_key(), credential.public_key());
        assert!(sealed.open("correct horse batterz").is_none());
        let forms = [credential.form(), sealed.open("correct horse battery").unwrap().form()];
        assert_eq!(forms, [CredentialForm::Open, CredentialForm::Sealed]);
        let other = credential.seal("correct horse battery", &Fixed(10));
        assert_ne!(other, text, "each seal has a salt of its own");
        for wrong in ["", PREFIX, &text[1..], &text[..text.len() - 1], &format!("{text}-00")] {
            assert!(SealedCredential::read(wrong).is_none(), "{wrong}");
        }
    }
}
