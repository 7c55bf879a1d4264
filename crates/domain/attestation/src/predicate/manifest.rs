use ambit_ids::{BackendId, Digest, Incarnation, LeaseId, RunId};
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType};
use crate::wording::{Moment, Name, Uri};

/// What was measured of a sandbox. The subject of the statement is the manifest itself, by the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxManifest {
    /// The run that had it.
    pub run: RunId,
    /// Its lease.
    pub lease: LeaseId,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// What made it.
    pub backend: BackendId,
    /// The image.
    pub image: Digest,
    /// Everything that the measurement depends on: kernel, adapter, user, control groups.
    pub environment: Digest,
    /// When it was measured.
    pub measured_at: Moment,
    /// The probes that found what they must find.
    pub probes_passed: u32,
    /// What the machine lacks. An empty list says that nothing is missing, so it is always written.
    pub lacks: Vec<Lack>,
}

/// Something that a machine lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// What.
    pub feature: Name,
    /// What does not hold without it.
    pub consequence: Name,
}

impl Predicate for SandboxManifest {
    const TYPE: PredicateType = PredicateType::SandboxManifest;

    fn check(&self) -> Result<(), &'static str> {
        if self.probes_passed == 0 { Err("nothing was measured") } else { Ok(()) }
    }

    fn deployment(&self) -> Option<&Uri> {
        None
    }
}
