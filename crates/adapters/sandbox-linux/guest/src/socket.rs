//! Messages with descriptors over a sequenced-packet socket.

use core::mem::MaybeUninit;

use rustix::cmsg_space;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::wire::{MESSAGE_DESCRIPTORS, Message};

/// The descriptors beside a message, in order.
pub type Descriptors = [Option<OwnedFd>; MESSAGE_DESCRIPTORS];

/// Sends one message.
pub fn send<'a>(
    socket: BorrowedFd<'_>,
    message: &impl Message<'a>,
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    let mut buffer = [0; 256];
    let len = message.encode(&mut buffer).ok_or(Errno::MSGSIZE)?;
    send_bytes(socket, &buffer[..len], descriptors)
}

/// Sends one message that is encoded already.
pub fn send_bytes(
    socket: BorrowedFd<'_>,
    message: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    send_with(socket, message, descriptors, SendFlags::empty())
}

/// Likewise, and only where it fits at once, whether or not the socket blocks.
pub fn send_bytes_now(
    socket: BorrowedFd<'_>,
    message: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    send_with(socket, message, descriptors, SendFlags::DONTWAIT)
}

fn send_with(
    socket: BorrowedFd<'_>,
    message: &[u8],
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MESSAGE_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::MSGSIZE);
    }
    let sent = rustix::io::retry_on_intr(|| {
        sendmsg(socket, &[IoSlice::new(message)], &mut beside, flags | SendFlags::NOSIGNAL)
    })?;
    if sent == message.len() { Ok(()) } else { Err(Errno::MSGSIZE) }
}

/// Receives one message into `buffer` and answers its length; 0 at the end of the connection.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, Descriptors), Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MESSAGE_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut beside, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut descriptors = Descriptors::default();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            for (place, descriptor) in descriptors.iter_mut().zip(rights) {
                *place = Some(descriptor);
            }
        }
    }
    if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(Errno::MSGSIZE);
    }
    Ok((received.bytes, descriptors))
}
