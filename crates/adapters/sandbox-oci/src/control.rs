//! The socket to the keeper and the first process of a container, which speak in lines.

use std::io;
use std::os::unix::net::UnixStream as Socket;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// The longest line that is heard.
const LINE_BYTES: usize = 128;

/// This side of the socket.
pub(crate) struct Control {
    stream: UnixStream,
    /// What was heard of the line that is not whole yet.
    heard: Vec<u8>,
}

impl Control {
    /// This side, and the other one for a process to inherit.
    pub(crate) fn pair() -> io::Result<(Self, Socket)> {
        let (near, far) = Socket::pair()?;
        near.set_nonblocking(true)?;
        Ok((Self { stream: UnixStream::from_std(near)?, heard: Vec::new() }, far))
    }

    /// Lets whoever waits go on.
    pub(crate) async fn say_go(&mut self) -> io::Result<()> {
        self.stream.write_all(b"g").await
    }

    /// The next line. The end of the socket is an error of its kind. Nothing is lost where the answer is not waited for.
    pub(crate) async fn next_line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line = self.heard.drain(..=end).take(end).collect();
                return String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData.into());
            }
            if self.heard.len() > LINE_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut buffer = [0; LINE_BYTES];
            match self.stream.read(&mut buffer).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                len => self.heard.extend_from_slice(&buffer[..len]),
            }
        }
    }
}
