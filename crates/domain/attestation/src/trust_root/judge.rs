use std::collections::{BTreeMap, BTreeSet};

use super::{RoleKey, Standing, TrustRoot, TrustedKey};
use crate::envelope::{Envelope, ReadError, Verified};
use crate::key::{KeyId, KeyRole, PublicKey};
use crate::predicate::{Predicate, PredicateType};
use crate::statement::Statement;
use crate::wording::Moment;

/// A statement that was signed by a key whose role may sign it, at a time at which that key counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSigned<P> {
    verified: Verified<Statement<P>>,
    signers: BTreeMap<KeyId, KeyRole>,
}

/// Why a statement is not believed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// No key of the file signed it.
    #[error("no key of this deployment signed it")]
    NoKey,
    /// A key of the file did, whose role does not sign such statements.
    #[error("a {role} key signed it, and such a key does not sign {what}")]
    Role {
        /// The role.
        role: KeyRole,
        /// What it is.
        what: PredicateType,
    },
    /// The right key did, before or after its time.
    #[error("the {0} key that signed it did not count at the time")]
    Window(KeyRole),
    /// The right key did, when others may have had it.
    #[error("the {0} key that signed it was revoked at the time")]
    Revoked(KeyRole),
    /// The bytes that were signed are something else.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It speaks for another deployment.
    #[error("it is signed by a key of this deployment and says that it is of {0}")]
    Deployment(String),
}

impl TrustError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoKey => "ATTESTATION_NO_KEY",
            Self::Role { .. } => "ATTESTATION_ROLE",
            Self::Window(_) => "ATTESTATION_KEY_WINDOW",
            Self::Revoked(_) => "ATTESTATION_KEY_REVOKED",
            Self::Read(cause) => cause.code(),
            Self::Deployment(_) => "ATTESTATION_DEPLOYMENT",
        }
    }
}

impl TrustRoot {
    /// Verifies a statement of one type, and reads it. `at` is the time at which the log has it.
    ///
    /// # Errors
    /// [`TrustError`] names the nearest that the signers came to counting.
    pub fn verify<P: Predicate>(&self, envelope: &Envelope, at: Moment) -> Result<RoleSigned<P>, TrustError> {
        let with_keys: BTreeMap<PublicKey, &TrustedKey> = self
            .keys
            .iter()
            .filter_map(|trusted| match trusted.key {
                RoleKey::P256(key) => Some((key, trusted)),
                RoleKey::Ed25519(_) => None,
            })
            .collect();
        let mut refusal = TrustError::NoKey;
        let mut counting = BTreeSet::new();
        let mut signers = BTreeMap::new();
        for key in envelope.signed_by(with_keys.keys()) {
            let Some(trusted) = with_keys.get(&key) else { continue };
            match counts(trusted, P::TYPE, at) {
                Ok(()) => {
                    signers.insert(key.id(), trusted.role);
                    counting.insert(key);
                }
                Err(why) => refusal = nearer(refusal, why),
            }
        }
        if counting.is_empty() {
            return Err(refusal);
        }
        let verified: Verified<Statement<P>> = envelope.verified_by(&counting).read()?;
        match verified.content().predicate().deployment() {
            Some(other) if *other != self.deployment => Err(TrustError::Deployment(other.to_string())),
            _ => Ok(RoleSigned { verified, signers }),
        }
    }
}

fn counts(trusted: &TrustedKey, what: PredicateType, at: Moment) -> Result<(), TrustError> {
    let role = trusted.role;
    if !role.may_sign().contains(&what) {
        return Err(TrustError::Role { role, what });
    }
    match trusted.window.at(at) {
        Standing::Counts => Ok(()),
        Standing::OutsideWindow => Err(TrustError::Window(role)),
        Standing::Revoked => Err(TrustError::Revoked(role)),
    }
}

/// Of two refusals the one that says more: a right key at a wrong time over a wrong key.
fn nearer(one: TrustError, other: TrustError) -> TrustError {
    let rank = |why: &TrustError| match why {
        TrustError::NoKey => 0,
        TrustError::Role { .. } => 1,
        _ => 2,
    };
    if rank(&other) > rank(&one) { other } else { one }
}

impl<P> RoleSigned<P> {
    /// The statement.
    #[must_use]
    pub const fn statement(&self) -> &Statement<P> {
        self.verified.content()
    }

    /// The very bytes that were verified.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.verified.payload()
    }

    /// The keys that counted, each with its role.
    #[must_use]
    pub const fn signers(&self) -> &BTreeMap<KeyId, KeyRole> {
        &self.signers
    }
}
