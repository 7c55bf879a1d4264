//! Keys that sign, outside of what is tested.

use ambit_attestation::key::Ed25519Key;
use ambit_attestation::trust_root::{RoleKey, TrustedKey, Window};
use ambit_attestation::{Envelope, KeyRole, Moment, Payload, PublicKey, TrustRoot, Uri, sign};
use ambit_ids::Digest;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};

pub(crate) const DEPLOYMENT: &str = "https://ambit.example.com/deployment/main";

/// Somebody with a key.
pub(crate) struct Party {
    pub(crate) secret: SigningKey,
    pub(crate) key: PublicKey,
}

impl Party {
    /// The same for the same name.
    pub(crate) fn new(name: &str) -> Self {
        Self::of_scalar(Digest::of(name.as_bytes()).as_bytes())
    }

    pub(crate) fn of_scalar(scalar: &[u8; 32]) -> Self {
        let secret = SigningKey::from_slice(scalar).unwrap();
        let key = PublicKey::from_sec1_bytes(secret.verifying_key().to_sec1_point(false).as_bytes()).unwrap();
        Self { secret, key }
    }

    pub(crate) fn role(role: KeyRole) -> Self {
        Self::new(role.as_str())
    }

    /// The project's owner, who signs layouts and the file of keys.
    pub(crate) fn owner() -> Self {
        Self::new("owner")
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature: Signature = self.secret.sign(message);
        signature.to_der().as_bytes().to_vec()
    }

    pub(crate) fn envelope<T: Payload>(&self, value: &T) -> Envelope {
        sign(value, &self.key, |message| Ok::<_, std::convert::Infallible>(self.sign(message))).unwrap()
    }
}

pub(crate) fn moment(text: &str) -> Moment {
    text.parse().unwrap()
}

/// Within every window of [`root`].
pub(crate) fn now() -> Moment {
    moment("2026-11-29T23:59:59.999Z")
}

pub(crate) fn window() -> Window {
    Window {
        from: moment("2026-11-01T00:00:00.000Z"),
        until: Some(moment("2026-12-31T23:59:59.999Z")),
        revoked: None,
    }
}

pub(crate) fn trusted(role: KeyRole, window: Window) -> TrustedKey {
    let key = match role.is_of_a_log() {
        true => RoleKey::Ed25519(Ed25519Key::from_bytes(*Digest::of(role.as_str().as_bytes()).as_bytes())),
        false => RoleKey::P256(Party::role(role).key),
    };
    TrustedKey { role, key, window }
}

/// A deployment with one key of each role.
pub(crate) fn root() -> TrustRoot {
    let keys = KeyRole::ALL.iter().map(|role| trusted(*role, window())).collect();
    TrustRoot::new(Uri::new(DEPLOYMENT).unwrap(), keys).unwrap()
}
