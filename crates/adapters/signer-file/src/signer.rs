use std::collections::BTreeMap;
use std::path::Path;

use ambit_ports::signer::{KeyRole, PublicKey, Signature, Signer, SignerError};
use async_trait::async_trait;
use ed25519_dalek::{Signer as _, SigningKey};

use crate::key_file::{self, KeyDirectory};

/// The keys of a directory, read once and erased from memory when dropped. It has no text form.
pub struct FileSigner(BTreeMap<KeyRole, SigningKey>);

impl FileSigner {
    /// Reads the keys of `directory`. A role without a key is refused when it is asked to sign.
    ///
    /// # Errors
    /// [`SignerError::Unusable`] where a key or the directory is open to others, or a file is not a key.
    pub fn open(directory: &Path) -> Result<Self, SignerError> {
        let mut keys = BTreeMap::new();
        for role in KeyRole::ALL {
            let Some(directory) = KeyDirectory::open(directory, role)? else { continue };
            if let Some(key) = key_file::read(&directory, role)? {
                keys.insert(role, key);
            }
        }
        Ok(Self(keys))
    }

    /// Reads the keys of `directory`, and makes the directory and every key that is missing. Of several processes that
    /// do so at once, all get the key of the one that was first.
    ///
    /// # Errors
    /// As [`open`](Self::open), and where a file cannot be written.
    pub fn create_if_absent(directory: &Path) -> Result<Self, SignerError> {
        let mut keys = BTreeMap::new();
        for role in KeyRole::ALL {
            let directory = KeyDirectory::open_or_make(directory, role)?;
            keys.insert(role, key_file::read_or_make(&directory, role)?);
        }
        Ok(Self(keys))
    }

    fn key(&self, role: KeyRole) -> Result<&SigningKey, SignerError> {
        self.0.get(&role).ok_or(SignerError::NoKey(role))
    }
}

#[async_trait]
impl Signer for FileSigner {
    async fn public_key(&self, role: KeyRole) -> Result<PublicKey, SignerError> {
        Ok(PublicKey { role, bytes: self.key(role)?.verifying_key().to_bytes() })
    }

    async fn sign(&self, role: KeyRole, message: &[u8]) -> Result<Signature, SignerError> {
        let key = self.key(role)?;
        let public = PublicKey { role, bytes: key.verifying_key().to_bytes() };
        Ok(Signature { key: public.id(), bytes: key.sign(message).to_bytes() })
    }
}
