//! Who signs: key names, key ids, and the keys that verify, as the signed notes of C2SP spell them.

use std::fmt;
use std::str::FromStr;

use ambit_ids::Digest;
use ed25519_dalek::{Signature, VerifyingKey};

use crate::spelling::{base64, unbase64};

/// The longest key name and the longest origin: what a cosignature's message has room for.
pub const NAME_BYTES: usize = 255;

/// The length of a public key for [`SignatureKind::SubtreeCosignature`] (ML-DSA-44).
const ML_DSA_44_BYTES: usize = 1312;

/// Why a text is no key name or no verifier key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// No name: empty, too long, with a space, a plus or a control character in it.
    #[error(
        "a key name has 1 to {NAME_BYTES} bytes without spaces, plus signs and control characters; the key is not used. Correct the name"
    )]
    Name,
    /// Not `name+id+key` with eight hexadecimal digits and base64.
    #[error("this is no verifier key `name+id+key`; it is not used. Copy it again from its owner")]
    Form,
    /// A kind of signature that this reader does not name.
    #[error("keys of type {0:#04x} are not known; the key is not used. Ask its owner for an Ed25519 key")]
    Kind(u8),
    /// Not the bytes of a public key of that kind, or of one that others can sign for.
    #[error("these are no bytes of a good public key; it is not used. Copy it again from its owner")]
    PublicKey,
    /// The id is not that of the key.
    #[error("the key's id is not that of its name and bytes; it is not used. Copy it again from its owner")]
    Id,
}

impl KeyError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Name => "LOG_KEY_NAME",
            Self::Form => "LOG_KEY_FORM",
            Self::Kind(_) => "LOG_KEY_KIND",
            Self::PublicKey => "LOG_KEY_BYTES",
            Self::Id => "LOG_KEY_ID",
        }
    }
}

/// The name of a key: usually an address without a scheme.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyName(String);

impl KeyName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let fits = !text.is_empty() && text.len() <= NAME_BYTES;
        let plain = !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+');
        if fits && plain { Ok(Self(text.to_owned())) } else { Err(KeyError::Name) }
    }
}

/// The number that finds a key: short, and no proof of anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyId(pub u32);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// What kind of signature a key makes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SignatureKind {
    /// `0x01`: Ed25519 over the text of a note.
    Ed25519,
    /// `0x04`: Ed25519 over a checkpoint and the time at which it was seen.
    Cosignature,
    /// `0x06`: ML-DSA-44 over a subtree. It is known by name and not verified: it never counts.
    SubtreeCosignature,
}

impl SignatureKind {
    /// The byte that stands for it.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Ed25519 => 0x01,
            Self::Cosignature => 0x04,
            Self::SubtreeCosignature => 0x06,
        }
    }

    const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0x01 => Some(Self::Ed25519),
            0x04 => Some(Self::Cosignature),
            0x06 => Some(Self::SubtreeCosignature),
            _ => None,
        }
    }
}

/// A public key with its name and the kind of signature that it makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierKey {
    name: KeyName,
    id: KeyId,
    kind: SignatureKind,
    public: Vec<u8>,
}

impl VerifierKey {
    /// The key of this name.
    ///
    /// # Errors
    /// [`KeyError::PublicKey`] where the bytes are no key of that kind, or one under which a signature proves nothing.
    pub fn new(name: KeyName, kind: SignatureKind, public: &[u8]) -> Result<Self, KeyError> {
        let good = match kind {
            SignatureKind::Ed25519 | SignatureKind::Cosignature => {
                ed25519(public).is_some_and(|key| !key.is_weak())
            }
            SignatureKind::SubtreeCosignature => public.len() == ML_DSA_44_BYTES,
        };
        if !good {
            return Err(KeyError::PublicKey);
        }
        let id = key_id(&name, kind, public);
        Ok(Self { name, id, kind, public: public.to_vec() })
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// What kind of signature it makes.
    #[must_use]
    pub const fn kind(&self) -> SignatureKind {
        self.kind
    }

    /// The bytes of the public key.
    #[must_use]
    pub fn public_bytes(&self) -> &[u8] {
        &self.public
    }

    /// Whether these 64 bytes are an Ed25519 signature of `message` by this key. Strict: no second form of a signature.
    pub(crate) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = <[u8; 64]>::try_from(signature) else { return false };
        self.kind != SignatureKind::SubtreeCosignature
            && ed25519(&self.public)
                .is_some_and(|key| key.verify_strict(message, &Signature::from_bytes(&signature)).is_ok())
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material = [&[self.kind.byte()], self.public.as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, self.id, base64(&material))
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        // The last part may hold plus signs of its own.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(KeyError::Form);
        };
        let name = name.parse()?;
        let digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if id.len() != 8 || !id.bytes().all(digit) || key.len() > 2 * ML_DSA_44_BYTES {
            return Err(KeyError::Form);
        }
        let material = unbase64(key).ok_or(KeyError::Form)?;
        let (kind, public) = material.split_first().ok_or(KeyError::Form)?;
        let kind = SignatureKind::from_byte(*kind).ok_or(KeyError::Kind(*kind))?;
        let key = Self::new(name, kind, public)?;
        if key.id.to_string() == id { Ok(key) } else { Err(KeyError::Id) }
    }
}

fn ed25519(public: &[u8]) -> Option<VerifyingKey> {
    VerifyingKey::from_bytes(public.try_into().ok()?).ok()
}

fn key_id(name: &KeyName, kind: SignatureKind, public: &[u8]) -> KeyId {
    let digest = Digest::of_parts(&[name.as_str().as_bytes(), b"\n", &[kind.byte()], public]);
    let [a, b, c, d, ..] = *digest.as_bytes();
    KeyId(u32::from_be_bytes([a, b, c, d]))
}
