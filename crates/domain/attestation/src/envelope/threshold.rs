use std::collections::BTreeSet;

use crate::key::PublicKey;

/// The most keys that one envelope is tried with.
pub(crate) const KEYS: usize = 64;

/// How many of which keys must have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    keys: BTreeSet<PublicKey>,
    needed: usize,
}

/// A number of keys that means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// None needed: whatever is unsigned would be verified.
    #[error("at least one key must have signed")]
    Zero,
    /// More than there are different keys.
    #[error("{needed} keys are needed of {different} different ones")]
    TooFewKeys {
        /// How many are needed.
        needed: usize,
        /// How many there are.
        different: usize,
    },
    /// More than an envelope is tried with.
    #[error("{found} keys are more than the {KEYS} that are tried")]
    TooManyKeys {
        /// How many there are.
        found: usize,
    },
}

impl Threshold {
    /// This one key.
    #[must_use]
    pub fn one(key: PublicKey) -> Self {
        Self { keys: BTreeSet::from([key]), needed: 1 }
    }

    /// `needed` of these keys. A key that is named twice is one key.
    ///
    /// # Errors
    /// [`ThresholdError`] for a number that nobody or nothing could meet.
    pub fn of(needed: usize, keys: impl IntoIterator<Item = PublicKey>) -> Result<Self, ThresholdError> {
        let keys: BTreeSet<PublicKey> = keys.into_iter().collect();
        match keys.len() {
            _ if needed == 0 => Err(ThresholdError::Zero),
            found if found > KEYS => Err(ThresholdError::TooManyKeys { found }),
            different if different < needed => Err(ThresholdError::TooFewKeys { needed, different }),
            _ => Ok(Self { keys, needed }),
        }
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &PublicKey> {
        self.keys.iter()
    }

    /// How many of them.
    #[must_use]
    pub const fn needed(&self) -> usize {
        self.needed
    }
}
