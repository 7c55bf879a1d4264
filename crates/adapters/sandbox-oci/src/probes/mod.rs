//! What this machine can hold, measured by probes inside real sandboxes.
//!
//! The probes run on a backend of their own beside the one that serves runs. What runs inside is the program of the first
//! process in its role as prober, so nothing is needed of any image.

use ambit_ids::Digest;
use ambit_ports::sandbox::{
    CapabilityManifest, LimitEnforcement, SandboxError, SandboxLease, SandboxPort as _, SandboxSpec,
};
use ambit_probes::{Circumstances, ProbedBackend, Subject, denials, failures, lives, manifest};
use async_trait::async_trait;

use crate::backend::OciSandboxes;
use crate::measuring::advisories;
use crate::runtime::Runtime;
use crate::{missing, retire, user};

/// All that can be lost: the container, with everything in it.
#[derive(Clone, Copy, Debug)]
pub struct Container;

#[async_trait]
impl ProbedBackend for OciSandboxes {
    type Part = Container;

    const PARTS: &'static [(&'static str, Container)] = &[("recovery.lost-sandbox", Container)];

    fn prober(&self) -> &'static [u8] {
        self.program()
    }

    fn enforcement(&self) -> LimitEnforcement {
        let groups = self.groups();
        self.runtime.as_ref().map_or(groups, |runtime| missing::enforced(runtime.kind, groups))
    }

    fn has_own_kernel(&self) -> bool {
        self.runtime.as_ref().is_ok_and(|runtime| runtime.kind.has_own_kernel())
    }

    fn has_root_by_number(&self) -> bool {
        self.is_root_by_number()
    }

    async fn allocate_empty(&self, spec: &SandboxSpec) -> Result<SandboxLease, SandboxError> {
        self.allocate_from(spec, &self.empty_image()?, Vec::new()).await
    }

    /// The sandbox is stopped behind this backend's back, as another process would.
    async fn lose(&self, _: Container, lease: &SandboxLease) -> bool {
        retire::cancel(&self.home(&lease.lease), lease).await.is_ok()
    }
}

/// Measures the backend. `environment` names everything that the answer depends on.
pub(crate) async fn measure(
    backend: &OciSandboxes,
    runtime: &Runtime,
    environment: Digest,
) -> Result<CapabilityManifest, SandboxError> {
    let beside = backend.beside("probes")?;
    let subject = Subject::allocate(&beside, "inside").await?;
    let mut probes = denials::all(&subject).await;
    probes.extend(failures::all(&subject).await);
    probes.extend(lives::all(subject).await);
    let circumstances = Circumstances {
        backend_id: backend.backend_id().clone(),
        adapter_version: format!("{} with {}", env!("CARGO_PKG_VERSION"), runtime.version),
        limits: backend.enforcement(),
        lacks: missing::of(runtime.kind, user::is_ordinary()),
        advisories: advisories(runtime),
        environment,
        measured_at: backend.now(),
    };
    Ok(manifest(probes, circumstances))
}
