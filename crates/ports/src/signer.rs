//! Signatures by keys that lie outside of the store.

use ambit_ids::Digest;
use async_trait::async_trait;

/// What a key is for. One key has one role, so that no single stolen key can tell a whole story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyRole {
    /// Signs the heads of streams.
    Log,
}

impl KeyRole {
    /// Every role.
    pub const ALL: [Self; 1] = [Self::Log];

    /// The role as files and records spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
        }
    }
}

/// An Ed25519 signature (RFC 8032) with the key that made it.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature {
    /// The digest of the 32 bytes of the public key. A hint for finding the key, never a reason to trust it.
    pub key: Digest,
    /// R || S.
    pub bytes: [u8; 64],
}

impl std::fmt::Debug for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signature(by {})", self.key.short())
    }
}

/// A public Ed25519 key with its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// What it is for.
    pub role: KeyRole,
    /// The 32 bytes of RFC 8032.
    pub bytes: [u8; 32],
}

impl PublicKey {
    /// The digest of the 32 bytes.
    #[must_use]
    pub fn id(&self) -> Digest {
        Digest::of(&self.bytes)
    }
}

/// Signs messages. Private keys never leave the implementation.
///
/// Every message MUST begin with a context of its own, so that a signature for one purpose never serves another.
#[async_trait]
pub trait Signer: Send + Sync {
    /// The public key of a role.
    async fn public_key(&self, role: KeyRole) -> Result<PublicKey, SignerError>;

    /// Signs exactly `message` with the key of `role`.
    async fn sign(&self, role: KeyRole, message: &[u8]) -> Result<Signature, SignerError>;
}

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// No key of this role.
    #[error("there is no {} key", .0.as_str())]
    NoKey(KeyRole),
    /// Others can read the key, or it is not a key.
    #[error("the {} key is unusable: {why}", .role.as_str())]
    Unusable {
        /// The role.
        role: KeyRole,
        /// What is wrong with it, and the mend.
        why: String,
    },
    /// The key could not be reached.
    #[error("the {} key could not be read", .role.as_str())]
    Io {
        /// The role.
        role: KeyRole,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl SignerError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoKey(_) => "SIGNING_KEY_ABSENT",
            Self::Unusable { .. } => "SIGNING_KEY_UNUSABLE",
            Self::Io { .. } => "SIGNING_KEY_UNREADABLE",
        }
    }
}
