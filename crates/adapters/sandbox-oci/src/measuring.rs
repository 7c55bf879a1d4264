//! Measuring once for as long as nothing has changed.

use std::sync::Arc;

use ambit_ids::Digest;
use ambit_measurements::{Facts, Measurements, Trust};
use ambit_ports::sandbox::{Advisory, CapabilityManifest, SandboxError};
use rustix::system::uname;

use crate::backend::OciSandboxes;
use crate::probes;
use crate::runtime::Runtime;

/// The directory of what was measured, below the adapter's own.
pub(crate) const MEASURED: &str = "measured";

impl OciSandboxes {
    /// The same backend, which measures anew whatever was kept, and keeps what it finds.
    #[must_use]
    pub fn measured_anew(mut self) -> Self {
        let directory = self.root().join(MEASURED);
        self.kept = Arc::new(Measurements::in_directory(directory, self.id.clone(), Trust::Anew));
        self
    }

    /// What the backend can do here and now: as it was measured where everything is as it was then, or else measured.
    pub(crate) async fn inspect(&self) -> Result<CapabilityManifest, SandboxError> {
        let (runtime, _) = self.ready(0)?;
        let environment = self.environment(runtime);
        let mut measured = self.measured.lock().await;
        if let Some(manifest) = measured.as_ref().filter(|manifest| manifest.environment == environment) {
            return Ok(manifest.clone());
        }
        let manifest = match self.kept.find(environment, self.now()) {
            Some(manifest) => manifest,
            None => self.measure(runtime, environment).await?,
        };
        Ok(measured.insert(manifest).clone())
    }

    /// Measures, unless another process did while this one waited for its turn.
    async fn measure(
        &self,
        runtime: &Runtime,
        environment: Digest,
    ) -> Result<CapabilityManifest, SandboxError> {
        let _turn = self.kept.turn_in_time().await;
        if let Some(manifest) = self.kept.find(environment, self.now()) {
            return Ok(manifest);
        }
        // Whatever comes of this, the last one of this environment counts for nothing any more.
        let _ = self.kept.forget(environment);
        let manifest = probes::measure(self, runtime, environment).await?;
        // One that cannot be kept is as good; the next process measures again.
        let _ = self.kept.keep(&manifest);
        Ok(manifest)
    }

    /// The digest of everything that a measurement depends on.
    fn environment(&self, runtime: &Runtime) -> Digest {
        Facts::here()
            .and("adapter", env!("CARGO_PKG_VERSION"))
            .and("program", &Digest::of(self.program()).to_string())
            .and("groups", &format!("{:?}", self.groups()))
            .and("runtime", &runtime.version)
            .and_file(&runtime.program)
            .digest()
    }
}

/// What is known of this kernel and of a runtime.
pub(crate) fn advisories(runtime: &Runtime) -> Vec<Advisory> {
    let name = uname();
    let mut found =
        ambit_advisories::kernel(&name.release().to_string_lossy(), &name.version().to_string_lossy());
    let version = runtime.version.rsplit(' ').next().unwrap_or_default();
    found.extend(ambit_advisories::runtime(&runtime.name.to_string(), version));
    found
}
