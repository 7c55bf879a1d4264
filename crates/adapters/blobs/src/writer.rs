use std::io;

use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::{BlobError, BlobWriter};
use async_trait::async_trait;

use crate::disk::{blocking, refused};
use crate::incoming::{Home, Incoming};

/// How much is gathered before it is handed to a thread that may wait for the disk.
const BUFFER_BYTES: usize = 256 << 10;

/// A blob whose digest is not known yet.
pub(crate) struct DirectoryWriter {
    /// `None` after a failure, and while a thread has it: a write that was cut short leaves none.
    incoming: Option<Incoming>,
    buffer: Vec<u8>,
}

impl DirectoryWriter {
    pub(crate) async fn create(home: Home) -> Result<Self, BlobError> {
        let incoming = blocking(move || Incoming::create(home).map_err(refused)).await?;
        Ok(Self { incoming: Some(incoming), buffer: Vec::new() })
    }

    async fn flush(&mut self) -> Result<(), BlobError> {
        let mut incoming = self.take()?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let (incoming, buffer) = blocking(move || {
            incoming.append(&buffer).map_err(refused)?;
            buffer.clear();
            Ok((incoming, buffer))
        })
        .await?;
        self.incoming = Some(incoming);
        self.buffer = buffer;
        Ok(())
    }

    fn take(&mut self) -> Result<Incoming, BlobError> {
        let cut = || BlobError::Io(io::Error::other("an earlier write of this blob failed or was cut short"));
        self.incoming.take().ok_or_else(cut)
    }
}

#[async_trait]
impl BlobWriter for DirectoryWriter {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        for piece in chunk.chunks(BUFFER_BYTES) {
            self.buffer.extend_from_slice(piece);
            if self.buffer.len() >= BUFFER_BYTES {
                self.flush().await?;
            }
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        let mut incoming = self.take()?;
        let Self { buffer, .. } = *self;
        blocking(move || {
            incoming.append(&buffer).map_err(refused)?;
            let (digest, size_bytes) = incoming.publish()?;
            Ok((digest, ByteCount::new(size_bytes)))
        })
        .await
    }
}
