//! Messages to and from the spawner and the guests, without blocking.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ambit_sandbox_guest::socket::{self, Descriptors};
use ambit_sandbox_guest::wire::Message;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::watch::watch;

/// More than any message needs beside its variable parts.
pub(crate) const FIXED_BYTES: usize = 512;

/// Sends a message on a socket of another process, where it fits at once.
pub(crate) fn send_now<'a>(
    socket: BorrowedFd<'_>,
    message: &impl Message<'a>,
    variable_bytes: usize,
    beside: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut buffer = vec![0; variable_bytes + FIXED_BYTES];
    let len = message.encode(&mut buffer).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(socket::send_bytes_now(socket, &buffer[..len], beside)?)
}

/// This side of a connection.
pub(crate) struct Channel(AsyncFd<OwnedFd>);

impl Channel {
    /// A connection: this side, and the other for a process to inherit.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        rustix::io::ioctl_fionbio(&near, true)?;
        Ok((Self(watch(near)?), far))
    }

    /// Sends a message whose variable parts have `variable_bytes` in all.
    pub(crate) async fn send<'a>(
        &self,
        message: &impl Message<'a>,
        variable_bytes: usize,
        beside: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let mut buffer = vec![0; variable_bytes + FIXED_BYTES];
        let len = message.encode(&mut buffer).ok_or(io::ErrorKind::InvalidInput)?;
        let message = &buffer[..len];
        self.0.async_io(Interest::WRITABLE, |fd| Ok(socket::send_bytes(fd.as_fd(), message, beside)?)).await
    }

    /// Receives the next message into `buffer` where one is there; `None` where none is, or none that can be read.
    pub(crate) fn receive_now<'a, 'b: 'a, M: Message<'a>>(
        &self,
        buffer: &'b mut [u8],
    ) -> Option<(M, Descriptors)> {
        let (len, descriptors) = socket::receive(self.0.get_ref().as_fd(), buffer).ok()?;
        Some((M::decode(&buffer[..len])?, descriptors))
    }

    async fn next(&self, buffer: &mut [u8]) -> io::Result<(usize, Descriptors)> {
        self.0.async_io(Interest::READABLE, |fd| Ok(socket::receive(fd.as_fd(), buffer)?)).await
    }

    /// Receives the next message into `buffer`. The end of the connection is an error of its kind.
    pub(crate) async fn receive<'a, 'b: 'a, M: Message<'a>>(
        &self,
        buffer: &'b mut [u8],
    ) -> io::Result<(M, Descriptors)> {
        let (len, descriptors) = match self.next(buffer).await {
            // The other end ended before it read everything. What it said before that is behind this error.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.next(buffer).await?,
            other => other?,
        };
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let message = M::decode(&buffer[..len]).ok_or(io::ErrorKind::InvalidData)?;
        Ok((message, descriptors))
    }
}
