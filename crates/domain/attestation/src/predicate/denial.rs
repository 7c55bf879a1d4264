use ambit_ids::{BackendId, Digest};
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType};
use crate::wording::{Moment, Name, Uri};

/// What a sandbox was denied, as it was tried. The subject of the statement is the manifest that rests on it, by the digest of
/// its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DenialProbe {
    /// What made the sandbox.
    pub backend: BackendId,
    /// Everything that the result depends on: kernel, adapter, user, control groups.
    pub environment: Digest,
    /// When it was tried.
    pub tried_at: Moment,
    /// What was tried.
    pub probes: Vec<Denied>,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// The probe.
    pub id: Name,
    /// Whether it was denied.
    pub denied: bool,
    /// Whether the same tool did, in the same sandbox, what it was allowed to. A tool that is broken is denied everything.
    pub control: bool,
    /// What was seen.
    pub observed: Name,
}

impl DenialProbe {
    /// Whether everything that was tried was denied, to a tool that worked.
    #[must_use]
    pub fn says_denied(&self) -> bool {
        !self.probes.is_empty() && self.probes.iter().all(|probe| probe.denied && probe.control)
    }
}

impl Predicate for DenialProbe {
    const TYPE: PredicateType = PredicateType::DenialProbe;

    fn check(&self) -> Result<(), &'static str> {
        if self.probes.is_empty() { Err("nothing was tried") } else { Ok(()) }
    }

    fn deployment(&self) -> Option<&Uri> {
        None
    }
}
