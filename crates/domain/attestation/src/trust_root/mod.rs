//! The file of keys: which key has which role in a deployment, and from when to when. A verifier has it from elsewhere, never
//! from the evidence that it verifies, and checks it against keys that it was given.

mod judge;
mod text;

pub use judge::{RoleSigned, TrustError};

use std::collections::BTreeSet;

use crate::envelope::{Envelope, EnvelopeError, PayloadType, ReadError, Threshold, VerifyError};
use crate::key::{Ed25519Key, KeyId, KeyRole, PublicKey};
use crate::wording::{Moment, Uri};

/// The most keys of one file.
pub const KEYS: usize = crate::envelope::KEYS;

/// The keys of one deployment. It is read from bytes that were verified and in no other way, or made to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRoot {
    deployment: Uri,
    keys: Vec<TrustedKey>,
}

/// A key with its role, and when it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKey {
    /// What it may sign.
    pub role: KeyRole,
    /// The key.
    pub key: RoleKey,
    /// When it counts.
    pub window: Window,
}

/// A key of either algorithm. The role says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleKey {
    /// For statements.
    P256(PublicKey),
    /// For checkpoints.
    Ed25519(Ed25519Key),
}

impl RoleKey {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        match self {
            Self::P256(key) => key.id(),
            Self::Ed25519(key) => key.id(),
        }
    }
}

/// When a key counts. What decides is the time at which something was logged, never the time at which it is looked at: what a
/// key signed while it counted stays signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first moment. There is always one: a key without a beginning would count for all of the past.
    pub from: Moment,
    /// The last moment, itself included; `None` while no end is known.
    pub until: Option<Moment>,
    /// From this moment on it counts no more, whatever [`Self::until`] says, since others may have it.
    pub revoked: Option<Moment>,
}

/// What a key was at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It counted.
    Counts,
    /// Not yet, or no more.
    OutsideWindow,
    /// Others may have had it.
    Revoked,
}

impl Window {
    /// What a key with this window was at `at`.
    #[must_use]
    pub fn at(&self, at: Moment) -> Standing {
        if self.revoked.is_some_and(|revoked| at >= revoked) {
            return Standing::Revoked;
        }
        let within = self.from <= at && self.until.is_none_or(|until| at <= until);
        if within { Standing::Counts } else { Standing::OutsideWindow }
    }

    fn is_sound(&self) -> bool {
        self.until.is_none_or(|until| self.from <= until)
    }
}

/// Why a file of keys is not used.
#[derive(Debug, thiserror::Error)]
pub enum TrustRootError {
    /// It is no envelope.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The given keys did not sign it.
    #[error("the file of keys is not signed by the keys that were given for it")]
    Unverified(#[from] VerifyError),
    /// It was signed, and is no file of keys.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A key that signs the file has a role in it.
    #[error("a key that signs the file of keys has a role in it: {0}")]
    RootHasRole(KeyId),
}

impl TrustRootError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Envelope(cause) => cause.code(),
            Self::Unverified(_) => "TRUST_ROOT_UNVERIFIED",
            Self::Read(cause) => cause.code(),
            Self::RootHasRole(_) => "TRUST_ROOT_KEY_HAS_ROLE",
        }
    }
}

impl TrustRoot {
    /// These keys of this deployment.
    ///
    /// # Errors
    /// [`ReadError::Content`] where a key stands twice, has a window that never opens, or an algorithm that its role does not use.
    pub fn new(deployment: Uri, keys: Vec<TrustedKey>) -> Result<Self, ReadError> {
        let wrong = |why| Err(ReadError::Content(why));
        if keys.is_empty() || keys.len() > KEYS {
            return wrong("a file of keys holds 1 to 64 keys");
        }
        let different: BTreeSet<KeyId> = keys.iter().map(|trusted| trusted.key.id()).collect();
        if different.len() != keys.len() {
            return wrong("a key stands twice: one key has one role and one window");
        }
        if keys.iter().any(|trusted| !trusted.window.is_sound()) {
            return wrong("the window of a key ends before it begins");
        }
        let fits =
            |trusted: &TrustedKey| trusted.role.is_of_a_log() == matches!(trusted.key, RoleKey::Ed25519(_));
        if !keys.iter().all(fits) {
            return wrong("a key has an algorithm that its role does not use");
        }
        Ok(Self { deployment, keys })
    }

    /// Reads a signed file, if the keys that the caller was given for it have signed it.
    ///
    /// # Errors
    /// [`TrustRootError`] for any other file.
    pub fn open(bytes: &[u8], roots: &Threshold) -> Result<Self, TrustRootError> {
        let verified = Envelope::parse(bytes, PayloadType::TRUST_ROOT)?.verify(roots)?;
        let root: Self = verified.read::<Self>()?.content().clone();
        let ids: BTreeSet<KeyId> = roots.keys().map(PublicKey::id).collect();
        match root.keys.iter().map(|trusted| trusted.key.id()).find(|id| ids.contains(id)) {
            Some(id) => Err(TrustRootError::RootHasRole(id)),
            None => Ok(root),
        }
    }

    /// The deployment whose keys these are.
    #[must_use]
    pub const fn deployment(&self) -> &Uri {
        &self.deployment
    }

    /// The keys, in the order of the file.
    #[must_use]
    pub fn keys(&self) -> &[TrustedKey] {
        &self.keys
    }
}
