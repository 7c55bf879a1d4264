use std::fmt;
use std::sync::Arc;

use crate::Digest;

/// Bytes with the digest that they have. Nothing but hashing the bytes makes one, so whoever is handed one has no need to
/// hash them again. A clone shares the bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    digest: Digest,
    bytes: Arc<Vec<u8>>,
}

impl Content {
    /// These bytes.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { digest: Digest::of(&bytes), bytes: Arc::new(bytes) }
    }

    /// The digest of the bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes without their digest, copied only where a clone still has them.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        Arc::unwrap_or_clone(self.bytes)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {}", self.bytes.len(), self.digest)
    }
}
