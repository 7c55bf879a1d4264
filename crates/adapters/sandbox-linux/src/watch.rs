//! Waiting for descriptors.

#![expect(unsafe_code, reason = "the runtime cannot see that a descriptor stays what it is")]

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;

/// A descriptor that can be waited for.
pub(crate) fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor names one open file from here until it is dropped, and the answer owns it.
    unsafe { AsyncFd::register(descriptor) }.map_err(io::Error::from)
}
