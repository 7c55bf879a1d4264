//! Measuring once for as long as nothing has changed.

use std::sync::Arc;

use ambit_ids::Digest;
use ambit_measurements::{Measurements, Trust};
use ambit_ports::sandbox::{CapabilityManifest, SandboxError};

use crate::backend::LinuxSandboxes;
use crate::{machine, probes};

impl LinuxSandboxes {
    /// The same backend, which measures anew whatever was kept, and keeps what it finds.
    #[must_use]
    pub fn measured_anew(mut self) -> Self {
        let directory = self.root().join(MEASURED);
        self.kept = Arc::new(Measurements::in_directory(directory, self.id.clone(), Trust::Anew));
        self
    }

    /// What the backend can do here and now: as it was measured where everything is as it was then, or else measured.
    pub(crate) async fn inspect(&self) -> Result<CapabilityManifest, SandboxError> {
        machine::check()?;
        let environment = machine::environment(self.layout(), self.root());
        let mut measured = self.measured.lock().await;
        if let Some(manifest) = measured.as_ref().filter(|manifest| manifest.environment == environment) {
            return Ok(manifest.clone());
        }
        let manifest = match self.kept.find(environment, self.now()) {
            Some(manifest) => manifest,
            None => self.measure(environment).await?,
        };
        Ok(measured.insert(manifest).clone())
    }

    /// Measures, unless another process did while this one waited for its turn.
    async fn measure(&self, environment: Digest) -> Result<CapabilityManifest, SandboxError> {
        let _turn = self.kept.turn_in_time().await;
        if let Some(manifest) = self.kept.find(environment, self.now()) {
            return Ok(manifest);
        }
        // Whatever comes of this, the last one of this environment counts for nothing any more.
        let _ = self.kept.forget(environment);
        let manifest = probes::measure(self, environment).await?;
        // One that cannot be kept is as good; the next process measures again.
        let _ = self.kept.keep(&manifest);
        Ok(manifest)
    }
}

/// The directory of what was measured, below the adapter's own.
pub(crate) const MEASURED: &str = "measured";
