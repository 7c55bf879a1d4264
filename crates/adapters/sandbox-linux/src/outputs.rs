//! The declared outputs of a command, read from its workspace after its last process ended.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

use ambit_ids::ByteCount;
use ambit_ports::sandbox::{DeclaredOutput, ExportedOutput, OutputRefusal, RefusedOutput, SandboxError};
use ambit_sandbox_guest::wire::{Request, Response};
use bytes::Bytes;
use rustix::io::Errno;

use crate::guest::io_error;
use crate::sandbox::Sandbox;

type Outputs = (Vec<ExportedOutput>, Vec<RefusedOutput>);

/// Every output refused, where there is no workspace to read from.
pub(crate) fn none(declared: &[DeclaredOutput]) -> Outputs {
    let refused = declared
        .iter()
        .map(|output| RefusedOutput { path: output.path.clone(), why: OutputRefusal::Unreadable });
    (Vec::new(), refused.collect())
}

/// Reads the outputs that are there.
pub(crate) async fn collect(sandbox: &Sandbox, declared: &[DeclaredOutput]) -> Result<Outputs, SandboxError> {
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for output in declared {
        match read(sandbox, output).await? {
            Ok(content) => {
                let bytes = ByteCount::new(content.len() as u64);
                let artifact = sandbox.blobs.put(&sandbox.lease.scope, content).await?;
                kept.push(ExportedOutput { path: output.path.clone(), artifact, bytes });
            }
            Err(why) => refused.push(RefusedOutput { path: output.path.clone(), why }),
        }
    }
    Ok((kept, refused))
}

/// The guest opens the file, without following any link; this side decides whether it is one that is kept.
async fn read(
    sandbox: &Sandbox,
    output: &DeclaredOutput,
) -> Result<Result<Bytes, OutputRefusal>, SandboxError> {
    let what = "reading a declared output";
    let path = std::ffi::CString::new(output.path.as_bytes())
        .map_err(|_| io_error(what)(io::ErrorKind::InvalidInput.into()))?;
    sandbox.guest.send(&Request::Open(&path), path.count_bytes(), &[]).await.map_err(io_error(what))?;
    let opened: Result<OwnedFd, i32> = sandbox
        .guest
        .receive_until(|response, [file, ..]| match (response, file) {
            (Response::Opened, Some(file)) => Some(Ok(file)),
            (Response::Unopened { errno }, _) => Some(Err(errno)),
            (Response::Opened, None) => Some(Err(Errno::BADF.raw_os_error())),
            _ => None,
        })
        .await
        .map_err(io_error(what))?;
    let file = match opened {
        Ok(file) => File::from(file),
        Err(errno) => return Ok(Err(refusal(errno))),
    };
    let limit = output.limit.get();
    tokio::task::spawn_blocking(move || content(file, limit))
        .await
        .map_err(|panic| io_error(what)(io::Error::other(panic)))
}

fn refusal(errno: i32) -> OutputRefusal {
    match Errno::from_raw_os_error(errno) {
        Errno::NOENT | Errno::NOTDIR => OutputRefusal::Absent,
        Errno::LOOP | Errno::XDEV => OutputRefusal::Link,
        // A socket.
        Errno::NXIO => OutputRefusal::NotAFile,
        _ => OutputRefusal::Unreadable,
    }
}

fn content(mut file: File, limit: u64) -> Result<Bytes, OutputRefusal> {
    let metadata = file.metadata().map_err(|_| OutputRefusal::Unreadable)?;
    if !metadata.is_file() {
        return Err(OutputRefusal::NotAFile);
    }
    if metadata.nlink() > 1 {
        return Err(OutputRefusal::HardLink);
    }
    if metadata.size() > limit {
        return Err(OutputRefusal::TooLarge);
    }
    let mut content =
        Vec::with_capacity(usize::try_from(metadata.size()).map_err(|_| OutputRefusal::TooLarge)?);
    let read = file.by_ref().take(limit.saturating_add(1)).read_to_end(&mut content);
    match read {
        Ok(len) if len as u64 > limit => Err(OutputRefusal::TooLarge),
        Ok(_) => Ok(Bytes::from(content)),
        Err(_) => Err(OutputRefusal::Unreadable),
    }
}
