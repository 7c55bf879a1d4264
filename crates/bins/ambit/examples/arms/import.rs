//! A directory imported into blobs of its own.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ambit_blobs::DirectoryBlobs;
use ambit_ids::Scope;
use ambit_source_directory::ImportOptions;
use async_trait::async_trait;

use crate::failed;
use crate::failure::Failure;
use crate::protocol::{Arm, answer};

pub(crate) async fn import(kind: &str) -> Result<(), Failure> {
    let directory = std::env::current_dir().map_err(failed)?.join("trees").join(kind);
    let scope =
        Scope { organization: "bench".parse().map_err(failed)?, project: "imports".parse().map_err(failed)? };
    answer(&mut Imports { directory, scope }).await
}

struct Imports {
    directory: PathBuf,
    scope: Scope,
}

#[async_trait]
impl Arm for Imports {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let place = tempfile::tempdir_in(".").map_err(failed)?;
        let blobs = DirectoryBlobs::open(&place.path().join("blobs")).map_err(failed)?;
        let started = Instant::now();
        let import =
            ambit_source_directory::import(&self.directory, &self.scope, &blobs, ImportOptions::default());
        let imported = import.await.map_err(failed)?;
        let took = started.elapsed();
        if imported.entries < 1_000 {
            return Err(Failure::new("ARM_FAILED", format!("{} files were imported", imported.entries)));
        }
        Ok(took)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        peak_memory_bytes().map(|bytes| ("peakMemoryBytes", bytes)).into_iter().collect()
    }
}

/// The most memory that this process ever had at once.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
