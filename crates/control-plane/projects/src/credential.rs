use ambit_evidence::CredentialForm;
use ambit_evidence::signature::{VerificationKey, to_hex};
use ambit_ports::runtime::Entropy;
use ed25519_dalek::{Signer, SigningKey};
use zeroize::Zeroizing;

/// What a person who may approve holds, and nobody else: the seed of an Ed25519 key (RFC 8032).
///
/// It is made once, shown once, and kept nowhere by Ambit: only its public key is recorded. Whatever holds no such text,
/// which includes every run, its agent and the whole store, cannot approve.
pub struct ApproverCredential {
    key: SigningKey,
    form: CredentialForm,
}

/// Why a text is no credential. The text is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no approver credential: it is `{PREFIX}` and 64 hexadecimal digits")]
pub struct CredentialError;

const PREFIX: &str = "ambit-approver-1-";

impl ApproverCredential {
    /// A new credential, which is open until it is sealed.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        entropy.fill(seed.as_mut());
        Self::of_seed(&seed, CredentialForm::Open)
    }

    /// Reads the text that was shown when the credential was made.
    ///
    /// # Errors
    /// [`CredentialError`].
    pub fn read(text: &str) -> Result<Self, CredentialError> {
        let digits = text.trim().strip_prefix(PREFIX).ok_or(CredentialError)?;
        let seed = Zeroizing::new(seed_of::<32>(digits).ok_or(CredentialError)?);
        Ok(Self::of_seed(&seed, CredentialForm::Open))
    }

    pub(crate) fn of_seed(seed: &[u8; 32], form: CredentialForm) -> Self {
        Self { key: SigningKey::from_bytes(seed), form }
    }

    /// The same credential, which is kept in another form from now on.
    #[must_use]
    pub fn kept(self, form: CredentialForm) -> Self {
        Self { form, ..self }
    }

    /// How it is kept: what is signed with it says so.
    #[must_use]
    pub const fn form(&self) -> CredentialForm {
        self.form
    }

    pub(crate) fn seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.key.to_bytes())
    }

    /// The text of the credential, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        let seed = Zeroizing::new(self.key.to_bytes());
        Zeroizing::new(format!("{PREFIX}{}", to_hex(seed.as_ref())))
    }

    /// The public half.
    ///
    /// # Panics
    /// Never: the public half of a signing key is a point of the curve.
    #[must_use]
    pub fn public_key(&self) -> VerificationKey {
        #[expect(clippy::expect_used, reason = "the public half of a signing key is valid")]
        // INVARIANT: a verifying key that a signing key answers decodes.
        VerificationKey::from_bytes(self.key.verifying_key().to_bytes())
            .expect("a public key is a point of the curve")
    }

    pub(crate) fn sign_hex(&self, message: &[u8]) -> String {
        to_hex(&self.key.sign(message).to_bytes())
    }
}

/// So many bytes in hexadecimal digits.
pub(crate) fn seed_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

impl std::fmt::Debug for ApproverCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApproverCredential(of {})", self.public_key().to_hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for (index, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::try_from(index).unwrap();
            }
        }
    }

    #[test]
    fn a_credential_reads_back_and_shows_itself_nowhere_else() {
        let credential = ApproverCredential::generate(&Counting);
        let text = credential.reveal();
        let read = ApproverCredential::read(&format!(" {}\n", text.as_str())).unwrap();
        assert_eq!(read.public_key(), credential.public_key());
        assert!(!format!("{credential:?}").contains(&text[PREFIX.len()..]));
        for wrong in ["", "ambit-approver-1-", "ambit-approver-1-zz", &text[1..], &text[..text.len() - 1]] {
            assert!(ApproverCredential::read(wrong).is_err(), "{wrong}");
        }
    }
}
