//! The workspace of a command that ended, as its declared outputs are taken from it.

use std::io;
use std::os::fd::OwnedFd;

use ambit_ids::RepoPath;
use ambit_outputs::{Layer, Workspace};
use async_trait::async_trait;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use crate::stage::Held;

#[async_trait]
impl Workspace for Held {
    async fn open(&self, layer: Layer, path: Option<&RepoPath>) -> io::Result<Result<OwnedFd, Errno>> {
        let top = match layer {
            Layer::Workspace => &self.workspace,
            Layer::Written => &self.written,
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        Ok(openat2(top, path.map_or(&b"."[..], RepoPath::as_bytes), flags, Mode::empty(), resolve))
    }
}
