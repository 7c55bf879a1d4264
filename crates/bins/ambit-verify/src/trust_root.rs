//! The keys that a verifier trusts, as a file that it has from elsewhere than the bundle.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use ambit_canonical::{decode, encode};
use ambit_ids::UnixMs;
use ambit_ports::signer::{KeyRole, PublicKey};
use ambit_verify_trace::{LogKey, LogKeys};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The most bytes of the file.
const LIMIT: usize = 64 << 10;
/// The most keys in it.
const KEYS: usize = 64;

/// The kind and version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrustRootKind {
    /// The first version.
    #[serde(rename = "TrustRoot/v1")]
    V1,
}

/// What a key may sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The heads of streams.
    Log,
}

/// A key with its role, and when it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustRootKey {
    /// What it may sign.
    pub role: Role,
    /// The 32 bytes of an Ed25519 key in hexadecimal digits.
    pub public_key: String,
    /// The first moment at which it counts; without it, it counts from the beginning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_ms: Option<UnixMs>,
    /// The last moment at which it counts; without it, no end is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until_ms: Option<UnixMs>,
    /// From this moment on others may have it, and it counts no more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revoked_ms: Option<UnixMs>,
}

/// The keys that a verifier trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustRoot {
    /// The kind and version.
    pub kind: TrustRootKind,
    /// The keys.
    pub keys: Vec<TrustRootKey>,
}

impl TrustRoot {
    /// A root that trusts one log key, without an end.
    #[must_use]
    pub fn of_log(key: &PublicKey) -> Self {
        let key = TrustRootKey {
            role: Role::Log,
            public_key: key.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            from_ms: None,
            until_ms: None,
            revoked_ms: None,
        };
        Self { kind: TrustRootKind::V1, keys: vec![key] }
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // INVARIANT: words, digits and times have canonical bytes.
        encode(self).map(ambit_canonical::CanonicalBytes::into_bytes).unwrap_or_default()
    }

    fn log_keys(&self) -> Result<LogKeys, String> {
        let mut keys = Vec::new();
        for key in &self.keys {
            let bytes = from_hex(&key.public_key).ok_or("a key is not 64 lower-case hexadecimal digits")?;
            let key_of_log = PublicKey { role: KeyRole::Log, bytes };
            if keys.iter().any(|known: &LogKey| known.key == key_of_log) {
                return Err("a key stands in it twice".to_owned());
            }
            let (from, until, revoked) = (key.from_ms, key.until_ms, key.revoked_ms);
            keys.push(LogKey { key: key_of_log, from, until, revoked });
        }
        if keys.is_empty() || keys.len() > KEYS {
            return Err(format!("it has {} keys, and there must be 1 to {KEYS}", keys.len()));
        }
        Ok(LogKeys::new(keys))
    }
}

/// The keys by which heads are verified, from the file of the trust root. The only place that knows its form.
pub(crate) fn read(path: &Path) -> Result<LogKeys, Refusal> {
    let unreadable = |error: std::io::Error| {
        let help = "name the file of keys that you have from whoever runs Ambit, by a way that you trust";
        Refusal::of("TRUST_ROOT_UNREADABLE", &Unusable(path.display().to_string(), error.to_string()), help)
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LIMIT as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let keys = decode::<TrustRoot>(&bytes, LIMIT).map_err(|error| error.to_string());
    keys.and_then(|root| root.log_keys()).map_err(|why| {
        let help = "no key of it was used; it must be the canonical JSON of a `TrustRoot/v1`";
        Refusal::of("TRUST_ROOT_MALFORMED", &Unusable(path.display().to_string(), why), help)
    })
}

#[derive(Debug, thiserror::Error)]
#[error("the trust root {0} cannot be used: {1}")]
struct Unusable(String, String);

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 64 || !text.bytes().all(is_hex) {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
