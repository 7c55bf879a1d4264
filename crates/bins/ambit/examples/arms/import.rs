//! A directory, or the commit of a repository in it, imported into blobs of its own.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ambit_blobs::DirectoryBlobs;
use ambit_git_import::Rev;
use ambit_ids::Scope;
use ambit_revision::Tree;
use async_trait::async_trait;
use tempfile::TempDir;

use crate::failed;
use crate::failure::Failure;
use crate::protocol::{Arm, answer};

/// What is imported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Directory,
    Commit,
}

pub(crate) async fn import(kind: &str, source: Source) -> Result<(), Failure> {
    let directory = std::env::current_dir().map_err(failed)?.join("trees").join(kind);
    if source == Source::Commit && !directory.join(".git").exists() {
        println!("absent the tree has no repository");
        return Ok(());
    }
    let scope =
        Scope { organization: "bench".parse().map_err(failed)?, project: "imports".parse().map_err(failed)? };
    answer(&mut Imports { directory, source, scope, places: Vec::new() }).await
}

struct Imports {
    directory: PathBuf,
    source: Source,
    scope: Scope,
    /// What was imported before. Nothing is removed while it is measured: for minutes after many files were, ext4 searches
    /// long for a place for each new one.
    places: Vec<TempDir>,
}

impl Imports {
    async fn import_into(&self, blobs: &DirectoryBlobs) -> Result<Tree, Failure> {
        match self.source {
            Source::Directory => {
                let options = ambit_source_directory::ImportOptions::default();
                let import = ambit_source_directory::import(&self.directory, &self.scope, blobs, options);
                Ok(import.await.map_err(failed)?.tree)
            }
            Source::Commit => {
                let options = ambit_git_import::ImportOptions::default();
                let import =
                    ambit_git_import::import(&self.directory, &Rev::Head, &self.scope, blobs, options);
                Ok(import.await.map_err(failed)?.tree)
            }
        }
    }
}

#[async_trait]
impl Arm for Imports {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let place = tempfile::tempdir_in(".").map_err(failed)?;
        let blobs = DirectoryBlobs::open(&place.path().join("blobs")).map_err(failed)?;
        let started = Instant::now();
        let tree = self.import_into(&blobs).await?;
        let took = started.elapsed();
        self.places.push(place);
        if tree.file_count() < 1_000 {
            return Err(Failure::new("ARM_FAILED", format!("{} files were imported", tree.file_count())));
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
