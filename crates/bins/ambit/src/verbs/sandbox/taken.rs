//! What a command left, as files of whoever ran it.

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, Digest, Scope, limits};
use ambit_ports::sandbox::ExecutionObservation;

use crate::compose::Services;
use crate::failure::Failure;
use crate::new_file::write_new;

/// A new directory for `stdout`, `stderr`, and below `kept` every file that was kept. Where nothing came to be written there
/// it goes with this value, so that the same can be asked for again.
pub(super) struct Taken(PathBuf);

impl Taken {
    /// Makes it, so that a place that cannot be had is told before anything runs.
    pub(super) fn into(directory: &Path) -> Result<Self, Failure> {
        make(directory, false)?;
        Ok(Self(directory.to_path_buf()))
    }

    /// Writes everything, whole.
    pub(super) async fn fill(
        &self,
        services: &Services,
        scope: &Scope,
        seen: &ExecutionObservation,
    ) -> Result<(), Failure> {
        for (name, capture) in [("stdout", &seen.stdout), ("stderr", &seen.stderr)] {
            self.file(services, scope, &self.0.join(name), capture.artifact).await?;
        }
        let kept = self.0.join("kept");
        for output in &seen.outputs {
            let place = kept.join(OsStr::from_bytes(output.path.as_bytes()));
            if let Some(above) = place.parent() {
                make(above, true)?;
            }
            self.file(services, scope, &place, output.artifact).await?;
        }
        Ok(())
    }

    async fn file(
        &self,
        services: &Services,
        scope: &Scope,
        place: &Path,
        blob: Digest,
    ) -> Result<(), Failure> {
        let most = ByteCount::new(limits::FILE_BYTES.max(1 << 30));
        let bytes = services.blobs.get(scope, blob, most).await;
        write_new(place, &bytes.map_err(|error| Failure::of(error.code(), &error))?, 0o600)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // One that holds anything is not removed by this.
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn make(directory: &Path, with_parents: bool) -> Result<(), Failure> {
    DirBuilder::new().recursive(with_parents).mode(0o700).create(directory).map_err(|error| {
        Failure::new("USAGE_FILE_UNWRITABLE", format!("{} cannot be made: {error}", directory.display()))
            .help("name a directory that does not exist, in one that you can write to")
    })
}
