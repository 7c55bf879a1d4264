//! The keys that may have signed heads, and when each of them counted.

use ambit_evidence::{Link, StreamName};
use ambit_ids::UnixMs;
use ambit_journal::{HeadFault, checked_end};
use ambit_ports::signer::PublicKey;
use ambit_ports::store::SignedHead;

/// A log key and when it counts. What decides is the time of the last record that a head names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogKey {
    /// The key.
    pub key: PublicKey,
    /// The first moment; `None` where it counted from the beginning.
    pub from: Option<UnixMs>,
    /// The last moment, itself included; `None` while it counts.
    pub until: Option<UnixMs>,
    /// From this moment on it counts no more, since others may have it.
    pub revoked: Option<UnixMs>,
}

impl LogKey {
    /// Why it does not count at a moment.
    fn fault(&self, at: UnixMs) -> Option<&'static str> {
        if self.revoked.is_some_and(|revoked| at >= revoked) {
            return Some("the key that signed it was revoked before its last record");
        }
        let within = self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at <= until);
        (!within).then_some("the key that signed it did not count at the time of its last record")
    }
}

/// The log keys that a verifier trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogKeys(Vec<LogKey>);

impl LogKeys {
    /// Trusts exactly these.
    #[must_use]
    pub const fn new(keys: Vec<LogKey>) -> Self {
        Self(keys)
    }

    /// Whether one of the keys signed the head of these records; and if it did, why it does not count.
    pub(crate) fn check(
        &self,
        name: &StreamName,
        links: &[Link],
        head: Option<&SignedHead>,
    ) -> Result<Option<&'static str>, HeadFault> {
        let mut fault = HeadFault::Signature;
        for trusted in &self.0 {
            match checked_end(name, links, head, &trusted.key) {
                Ok(_) => {
                    let last = links.last().and_then(|link| link.record.ts.parse::<UnixMs>().ok());
                    let untimed = Some("its last record has no time that can be read");
                    return Ok(last.map_or(untimed, |at| trusted.fault(at)));
                }
                Err(found) => fault = found,
            }
        }
        Err(fault)
    }
}

impl From<PublicKey> for LogKeys {
    fn from(key: PublicKey) -> Self {
        Self(vec![LogKey { key, from: None, until: None, revoked: None }])
    }
}
