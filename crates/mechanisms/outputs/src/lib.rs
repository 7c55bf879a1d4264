//! The declared outputs of a command: files and directories of its workspace, taken out after its last process ended.
//!
//! No link is followed, nothing is waited for, and nothing that could belong to something else is taken. What is not taken
//! is told by name, with the reason.
//!
//! Of a directory the files are taken one by one, each under its own path, and what is refused costs nothing else: a link
//! that lies about loses no report. A bound that is passed (bytes, entries, depth) refuses the directory as a whole,
//! because which part of it would be kept would be chance.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod content;
mod directory;
#[cfg(test)]
mod tests;
mod written;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use ambit_ids::{ByteCount, RepoPath, Scope};
use ambit_ports::blobs::BlobStore;
use ambit_ports::sandbox::{DeclaredOutput, ExportedOutput, OutputRefusal, RefusedOutput, SandboxError};
use async_trait::async_trait;
use bytes::Bytes;
use rustix::io::Errno;

pub use written::written;

/// A workspace in which no process runs any more.
#[async_trait]
pub trait Workspace: Sync {
    /// Opens what lies at a path for reading; no path is the top.
    ///
    /// - No link MUST be followed, neither the last part of the path nor one on the way; one that is met is
    ///   [`Errno::LOOP`].
    /// - What lies outside of the workspace, or on another file system, MUST NOT be opened.
    /// - A pipe without a writer MUST NOT be waited for.
    /// - Where the backend does not keep what a command wrote apart, a look at [`Layer::Written`] MUST be
    ///   [`Errno::OPNOTSUPP`]. Where it does, whatever was written at a path MUST lie there, however it was put back.
    async fn open(&self, layer: Layer, path: Option<&RepoPath>) -> io::Result<Result<OwnedFd, Errno>>;
}

/// What of a workspace is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// All of it, as the command saw it.
    Workspace,
    /// What the command wrote, changed or removed.
    Written,
}

/// What was taken, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// What was taken, in the order of the declarations, and below a directory in the order of the paths.
    pub kept: Vec<ExportedOutput>,
    /// What was not, likewise.
    pub refused: Vec<RefusedOutput>,
}

impl Outputs {
    /// Nothing taken, where there is no workspace to take from.
    #[must_use]
    pub fn unreadable(declared: &[DeclaredOutput]) -> Self {
        let refused = declared.iter().map(|output| refusal_of(&output.path, OutputRefusal::Unreadable));
        Self { kept: Vec::new(), refused: refused.collect() }
    }
}

/// Takes the outputs that are there.
///
/// # Errors
/// [`SandboxError`] where the workspace could not be asked, or the blobs could not be written.
pub async fn collect(
    workspace: &dyn Workspace,
    declared: &[DeclaredOutput],
    scope: &Scope,
    blobs: &Arc<dyn BlobStore>,
) -> Result<Outputs, SandboxError> {
    let mut outputs = Outputs::default();
    for output in declared {
        let taking = Taking { workspace, scope, blobs: blobs.as_ref() };
        let taken = match output.entries {
            None => taking.file(&output.path, output.limit.get()).await?.map(|kept| (vec![kept], Vec::new())),
            Some(entries) => taking.directory(&output.path, output.limit, entries).await?,
        };
        match taken {
            Ok((kept, refused)) => {
                outputs.kept.extend(kept);
                outputs.refused.extend(refused);
            }
            Err(why) => outputs.refused.push(refusal_of(&output.path, why)),
        }
    }
    Ok(outputs)
}

fn refusal_of(path: &RepoPath, why: OutputRefusal) -> RefusedOutput {
    RefusedOutput { path: path.clone(), entry: None, why }
}

/// What is needed to take one output.
struct Taking<'a> {
    workspace: &'a dyn Workspace,
    scope: &'a Scope,
    blobs: &'a dyn BlobStore,
}

impl Taking<'_> {
    async fn open(&self, path: &RepoPath) -> Result<Result<OwnedFd, OutputRefusal>, SandboxError> {
        let opened =
            self.workspace.open(Layer::Workspace, Some(path)).await.map_err(SandboxError::during(READING))?;
        Ok(opened.map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => OutputRefusal::Absent,
            Errno::LOOP | Errno::XDEV => OutputRefusal::Link,
            // A socket.
            Errno::NXIO => OutputRefusal::NotAFile,
            _ => OutputRefusal::Unreadable,
        }))
    }

    /// Takes one file.
    async fn file(
        &self,
        path: &RepoPath,
        limit: u64,
    ) -> Result<Result<ExportedOutput, OutputRefusal>, SandboxError> {
        let file = match self.open(path).await? {
            Ok(file) => file,
            Err(why) => return Ok(Err(why)),
        };
        let content: Bytes = match blocking(move || content::read(file, limit)).await? {
            Ok(content) => content,
            Err(why) => return Ok(Err(why)),
        };
        let bytes = ByteCount::new(content.len() as u64);
        let artifact = self.blobs.put(self.scope, content).await?;
        Ok(Ok(ExportedOutput { path: path.clone(), artifact, bytes }))
    }
}

const READING: &str = "reading a declared output";

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SandboxError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|panic| SandboxError::during(READING)(io::Error::other(panic)))
}
