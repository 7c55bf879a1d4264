use ambit_ports::sandbox::{LimitEnforcement, SandboxError, SandboxLease, SandboxPort, SandboxSpec};
use async_trait::async_trait;

/// A backend that can be probed: what it states of itself, and the two things that only it can do.
#[async_trait]
pub trait ProbedBackend: SandboxPort {
    /// What of it can be lost while it serves.
    type Part: Copy + Send + Sync + 'static;

    /// Every part, each with the id of the probe that loses it (`recovery.lost-guest`).
    const PARTS: &'static [(&'static str, Self::Part)];

    /// The static program that probes from the inside.
    fn prober(&self) -> &'static [u8];

    /// By what the limits are enforced. What is not enforced on the whole is not probed, and the manifest says so.
    fn enforcement(&self) -> LimitEnforcement;

    /// Whether what answers a command is not the kernel of this machine.
    fn has_own_kernel(&self) -> bool;

    /// Whether a command's user has the number of root, though none of its rights.
    fn has_root_by_number(&self) -> bool {
        false
    }

    /// Allocates as [`SandboxPort::allocate`] does, from an image with nothing in it, whatever image `spec` names.
    async fn allocate_empty(&self, spec: &SandboxSpec) -> Result<SandboxLease, SandboxError>;

    /// Ends a part as an accident would; answers whether there was one and it is gone.
    async fn lose(&self, part: Self::Part, lease: &SandboxLease) -> bool;
}
