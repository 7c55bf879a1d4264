use ambit_ids::Digest;
use ambit_ports::sandbox::{CapabilityManifest, SandboxError};

use crate::backend::LinuxSandboxes;

pub(crate) async fn measure(_: &LinuxSandboxes, _: Digest) -> Result<CapabilityManifest, SandboxError> {
    Err(SandboxError::PreviewDenied)
}
