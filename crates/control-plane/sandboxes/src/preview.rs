//! Previews: denied until somebody grants one, whatever the backend could do.

use ambit_blueprint::RequiredPreview;
use ambit_ports::sandbox::{PreviewGrant, PreviewPolicy, RevocationReceipt, SandboxError, SandboxLease};

use crate::{Kept, Sandboxes, SandboxesError};

impl Sandboxes {
    /// Exposes a port of a sandbox under a profile that says what this takes. Without a grant the backend is not asked.
    ///
    /// # Errors
    /// [`SandboxError::PreviewDenied`] without a grant, or where the backend has no previews. Nothing is exposed then.
    pub async fn expose_preview(
        &self,
        required: RequiredPreview,
        lease: &SandboxLease,
        policy: PreviewPolicy,
    ) -> Result<PreviewGrant, SandboxesError> {
        let RequiredPreview::DisabledUntilExplicitGrant = required;
        if policy.grant.is_none() {
            return Err(SandboxError::PreviewDenied.into());
        }
        let port = policy.port;
        let grant = self.port().expose_preview(lease, policy).await?;
        if (&grant.lease, &grant.incarnation, grant.port) != (&lease.lease, &lease.incarnation, port) {
            return Err(SandboxesError::AnotherLife);
        }
        Ok(grant)
    }

    /// Ends an exposure, and keeps the receipt.
    ///
    /// # Errors
    /// [`SandboxesError`] where it is not said that it ended.
    pub async fn revoke_preview(
        &self,
        lease: &SandboxLease,
        grant: &PreviewGrant,
    ) -> Result<Kept<RevocationReceipt>, SandboxesError> {
        let receipt = self.port().revoke_preview(grant).await?;
        if receipt.lease != lease.lease {
            return Err(SandboxesError::AnotherLife);
        }
        let digest = self.keep(&lease.scope, &receipt).await?;
        Ok(Kept { receipt, digest })
    }
}
