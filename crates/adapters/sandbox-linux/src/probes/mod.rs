//! What this machine can hold, measured by probes inside real sandboxes.
//!
//! The probes run on a backend of their own beside the one that serves runs: with its own spawner, which one of them kills.
//! What runs inside is the guest's program in its role as prober, so nothing is needed of any image.

mod lacks;
mod wall;

use ambit_ids::Digest;
use ambit_ports::sandbox::{
    CapabilityManifest, LimitEnforcement, Lives, RefusedCall, SandboxError, SandboxLease, SandboxPort as _,
    SandboxSpec,
};
use ambit_probes::{Circumstances, ProbedBackend, Subject, denials, failures, lives, manifest};
use async_trait::async_trait;

use crate::backend::LinuxSandboxes;
use crate::machine;
use crate::program::PROGRAM;

/// What of this backend can be lost.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The first process of a sandbox.
    Guest,
    /// The process that makes guests, and with it all of them.
    Spawner,
}

#[async_trait]
impl ProbedBackend for LinuxSandboxes {
    type Part = Part;

    const PARTS: &'static [(&'static str, Part)] =
        &[("recovery.lost-guest", Part::Guest), ("recovery.lost-spawner", Part::Spawner)];

    fn prober(&self) -> &'static [u8] {
        PROGRAM
    }

    fn enforcement(&self) -> LimitEnforcement {
        self.layout().enforcement()
    }

    fn has_own_kernel(&self) -> bool {
        false
    }

    async fn allocate_empty(&self, spec: &SandboxSpec) -> Result<SandboxLease, SandboxError> {
        self.allocate_from(spec, &self.empty_image()?, &[]).await
    }

    async fn lose(&self, part: Part, lease: &SandboxLease) -> bool {
        match part {
            Part::Guest => self.lose_guest(lease).await,
            Part::Spawner => self.lose_spawner(lease).await,
        }
    }
}

/// Measures the backend. `environment` names everything that the answer depends on.
pub(crate) async fn measure(
    backend: &LinuxSandboxes,
    environment: Digest,
) -> Result<CapabilityManifest, SandboxError> {
    let beside = backend.beside("probes")?;
    let subject = Subject::allocate(&beside, "inside").await?;
    // What the machine forbids as such is told as that, with its mend, and not as the failure of every probe.
    if let Err(missing @ SandboxError::Unavailable(_)) = subject.run(&["exit", "0"]).await {
        let _ = beside.destroy(subject.lease(), Lives::Named).await;
        return Err(missing);
    }
    let mut probes = denials::all(&subject).await;
    probes.extend(wall::all(&subject).await);
    probes.extend(failures::all(&subject).await);
    let copied = match beside.sandbox(subject.lease()) {
        Ok(sandbox) => sandbox.copies(subject.tree()).await.unwrap_or(false),
        Err(_) => false,
    };
    let told = tells_what_it_refused(&subject).await;
    probes.extend(lives::all(subject).await);
    let limits = beside.enforcement();
    let circumstances = Circumstances {
        backend_id: backend.backend_id().clone(),
        adapter_version: env!("CARGO_PKG_VERSION").into(),
        limits,
        lacks: lacks::of(&limits, copied, told),
        advisories: machine::advisories(),
        environment,
        measured_at: backend.now(),
    };
    Ok(manifest(probes, circumstances))
}

/// Whether a call that no honest program makes is counted.
async fn tells_what_it_refused(subject: &Subject<'_, LinuxSandboxes>) -> bool {
    const MOUNT: &str = "165";
    let seen = subject.run(&["call", MOUNT]).await;
    let signs = seen.ok().and_then(|seen| seen.signs);
    signs.is_some_and(|signs| signs.refused_calls.contains_key(&RefusedCall::Mount))
}
