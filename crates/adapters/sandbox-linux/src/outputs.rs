//! The workspace of a command that ended, as its declared outputs are taken from it.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use ambit_ids::RepoPath;
use ambit_outputs::{Layer, Workspace};
use ambit_sandbox_guest::wire::{Request, Response};
use async_trait::async_trait;
use rustix::io::Errno;

use crate::sandbox::Sandbox;

#[async_trait]
impl Workspace for Sandbox {
    /// The guest opens the file, without following any link; the other side decides whether it is one that is kept.
    async fn open(&self, layer: Layer, path: Option<&RepoPath>) -> io::Result<Result<OwnedFd, Errno>> {
        let path = CString::new(path.map_or(&[][..], RepoPath::as_bytes))
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        let request = Request::Open { written: layer == Layer::Written, path: &path };
        self.guest.send(&request, path.count_bytes(), &[]).await?;
        self.guest
            .receive_until(|response, [file, ..]| match (response, file) {
                (Response::Opened, Some(file)) => Some(Ok(file)),
                (Response::Unopened { errno }, _) => Some(Err(Errno::from_raw_os_error(errno))),
                (Response::Opened, None) => Some(Err(Errno::BADF)),
                _ => None,
            })
            .await
    }
}
