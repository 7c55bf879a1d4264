use ambit_ports::signer::{KeyRole, PublicKey, Signature, Signer, SignerError};
use async_trait::async_trait;
use ed25519_dalek::{Signer as _, SigningKey};

/// Keys that a seed makes: one for every role.
pub struct SimSigner {
    log: SigningKey,
}

impl SimSigner {
    /// The keys of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [7; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self { log: SigningKey::from_bytes(&bytes) }
    }

    const fn key(&self, role: KeyRole) -> &SigningKey {
        match role {
            KeyRole::Log => &self.log,
        }
    }
}

#[async_trait]
impl Signer for SimSigner {
    async fn public_key(&self, role: KeyRole) -> Result<PublicKey, SignerError> {
        Ok(PublicKey { role, bytes: self.key(role).verifying_key().to_bytes() })
    }

    async fn sign(&self, role: KeyRole, message: &[u8]) -> Result<Signature, SignerError> {
        let bytes = self.key(role).sign(message).to_bytes();
        Ok(Signature { key: self.public_key(role).await?.id(), bytes })
    }
}
