use std::collections::BTreeMap;

use ambit_ids::{Incarnation, LeaseId, RunId};
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType};
use crate::wording::{Moment, Name, Uri};

/// That nothing of a sandbox is left. The subject of the statement is the backend's receipt of its destruction, by the digest of
/// its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanupProof {
    /// The run that had it.
    pub run: RunId,
    /// Its lease.
    pub lease: LeaseId,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// Processes that were killed for it.
    pub killed: u32,
    /// What was looked at afterwards, and how much of each remains.
    pub remaining: BTreeMap<Name, u32>,
    /// When.
    pub proved_at: Moment,
}

impl Predicate for CleanupProof {
    const TYPE: PredicateType = PredicateType::CleanupProof;

    fn check(&self) -> Result<(), &'static str> {
        if self.remaining.is_empty() {
            return Err("nothing was looked at");
        }
        if self.remaining.values().any(|left| *left != 0) {
            return Err("something of the sandbox is left");
        }
        Ok(())
    }

    fn deployment(&self) -> Option<&Uri> {
        None
    }
}
