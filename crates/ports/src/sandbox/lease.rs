use std::sync::Arc;

use ambit_ids::{BackendId, Digest, ExecutionLimits, Incarnation, LeaseId, RunId, Scope, VolumeMount};

use serde::{Deserialize, Serialize};

use super::BatchFile;
use crate::blobs::BlobStore;

/// What a sandbox is made from.
#[derive(Clone)]
pub struct SandboxSpec {
    /// Who owns the run.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The image, by digest; there is no other way to name one.
    pub image: Digest,
    /// The widest limits that any command of this run will ask for.
    pub limits: ExecutionLimits,
    /// Synthetic fixtures, mounted read-only beside the workspace.
    pub fixtures: Vec<Fixture>,
    /// Every volume that a command of this run may name, each mount once; at most
    /// [`RUN_VOLUMES`](ambit_ids::limits::RUN_VOLUMES).
    pub volumes: Vec<VolumeMount>,
    /// Where blobs are read from and outputs are written to.
    pub blobs: Arc<dyn BlobStore>,
}

/// A synthetic fixture: a file tree that is not part of the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The name under which it is mounted below `/fixtures`.
    pub name: String,
    /// Its files.
    pub files: Vec<BatchFile>,
}

/// A sandbox in the hands of one run. Plain data: everything about it can be done from this, in any process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SandboxLease {
    /// The lease.
    pub lease: LeaseId,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// The backend.
    pub backend: BackendId,
    /// The run.
    pub run: RunId,
    /// The owner of the run.
    pub scope: Scope,
    /// The image.
    pub image: Digest,
}

impl SandboxLease {
    /// The lease of a run. A run has one lease for its whole life, under every backend, so whatever was begun for it can
    /// be found and removed by whoever knows the run, even where the answer to its allocation was lost.
    #[must_use]
    pub fn id_of(scope: &Scope, run: &RunId) -> LeaseId {
        let digest = Digest::of(format!("ambit.lease/v1\n{scope}\n{run}\n").as_bytes());
        // INVARIANT: `lease_` and 32 characters of [0-9a-f] fit the grammar of lease ids.
        #[expect(clippy::expect_used, reason = "hexadecimal digits fit the grammar of ids")]
        LeaseId::new(format!("lease_{}", &digest.to_hex()[..32])).expect("hexadecimal digits are a valid id")
    }
}

/// Which lives of a lease are to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lives {
    /// The one that the lease names.
    Named,
    /// Every one, whichever incarnation the lease names: the answer to an allocation was lost, and nobody else holds
    /// the run.
    Every,
}
