use ambit_canonical::{CanonicalBytes, EncodeError, decode, encode};
use serde::{Deserialize, Serialize};

use super::{RoleKey, TrustRoot, TrustedKey, Window};
use crate::base64_text;
use crate::envelope::{PAYLOAD_BYTES, Payload, PayloadType, ReadError};
use crate::key::{Ed25519Key, KeyRole, PublicKey};
use crate::wording::{Moment, Uri};

/// What the file says it is.
const KIND: &str = "urn:ambit:trust-root:v1";

/// The file. Nothing in it is passed over: a member that is not understood may be one that takes a key its trust.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "_type")]
    kind: String,
    deployment: Uri,
    keys: Vec<WrittenKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenKey {
    role: KeyRole,
    /// The DER of its `SubjectPublicKeyInfo`, in base64.
    spki: String,
    valid_from: Moment,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    valid_until: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    revoked_at: Option<Moment>,
}

impl Payload for TrustRoot {
    const TYPE: PayloadType = PayloadType::TRUST_ROOT;

    fn to_bytes(&self) -> Result<CanonicalBytes, EncodeError> {
        let keys = self.keys.iter().map(WrittenKey::from).collect();
        encode(&Written { kind: KIND.to_owned(), deployment: self.deployment.clone(), keys })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let written: Written = decode(bytes, PAYLOAD_BYTES).map_err(ReadError::Shape)?;
        if written.kind != KIND {
            return Err(ReadError::Kind { wanted: KIND, found: written.kind });
        }
        let keys = written.keys.into_iter().map(TrustedKey::try_from).collect::<Result<_, _>>()?;
        Self::new(written.deployment, keys)
    }

    fn hint(key: &PublicKey) -> String {
        key.id().to_string()
    }
}

impl From<&TrustedKey> for WrittenKey {
    fn from(trusted: &TrustedKey) -> Self {
        let spki = match &trusted.key {
            RoleKey::P256(key) => key.spki_der(),
            RoleKey::Ed25519(key) => key.spki_der(),
        };
        Self {
            role: trusted.role,
            spki: base64_text::encode(spki),
            valid_from: trusted.window.from,
            valid_until: trusted.window.until,
            revoked_at: trusted.window.revoked,
        }
    }
}

impl TryFrom<WrittenKey> for TrustedKey {
    type Error = ReadError;

    fn try_from(written: WrittenKey) -> Result<Self, ReadError> {
        let der = base64_text::decode(&written.spki).ok_or(ReadError::Content("a key is not base64"))?;
        let key = match written.role.is_of_a_log() {
            true => Ed25519Key::from_spki_der(&der).map(RoleKey::Ed25519),
            false => PublicKey::from_spki_der(&der).map(RoleKey::P256),
        };
        let key = key.map_err(|_| ReadError::Content("a key is not of the algorithm that its role uses"))?;
        let window =
            Window { from: written.valid_from, until: written.valid_until, revoked: written.revoked_at };
        Ok(Self { role: written.role, key, window })
    }
}
