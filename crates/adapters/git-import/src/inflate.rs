use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::ZlibDecoder;

use crate::limits::{CHUNK_BYTES, UNPACKED_BYTES};

const BUFFER_BYTES: usize = 16 << 10;

/// A file that is read from a place on, without a position of its own.
pub(crate) struct FileFrom {
    file: Arc<File>,
    offset: u64,
}

impl FileFrom {
    pub(crate) const fn new(file: Arc<File>, offset: u64) -> Self {
        Self { file, offset }
    }
}

impl Read for FileFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}

/// How much was unpacked so far for one import.
#[derive(Clone, Default)]
pub(crate) struct Unpacked(Arc<AtomicU64>);

/// More than [`UNPACKED_BYTES`] would have to be unpacked.
#[derive(Debug, thiserror::Error)]
#[error("more would have to be unpacked than one import may")]
pub(crate) struct TooCostly;

impl Unpacked {
    pub(crate) fn add(&self, bytes: u64) -> io::Result<()> {
        let before = self.0.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > UNPACKED_BYTES {
            return Err(io::Error::other(TooCostly));
        }
        Ok(())
    }
}

/// The plain bytes of a zlib stream in a file.
pub(crate) struct Inflate {
    decoder: ZlibDecoder<BufReader<FileFrom>>,
    unpacked: Unpacked,
}

impl Inflate {
    pub(crate) fn new(file: Arc<File>, offset: u64, unpacked: &Unpacked) -> Self {
        let source = BufReader::with_capacity(BUFFER_BYTES, FileFrom::new(file, offset));
        Self { decoder: ZlibDecoder::new(source), unpacked: unpacked.clone() }
    }
}

impl Read for Inflate {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.unpacked.add(read as u64)?;
        Ok(read)
    }
}

/// All bytes of a source that must have exactly `size_bytes`. Beyond a chunk, no room is made before they come.
pub(crate) fn exactly(source: impl Read, size_bytes: u64) -> io::Result<Vec<u8>> {
    let room = usize::try_from(size_bytes).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
    let mut bytes = Vec::with_capacity(room + 1);
    // One byte more than it may have, so that a stream that is longer is known by it.
    source.take(size_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size_bytes { Ok(bytes) } else { Err(io::ErrorKind::InvalidData.into()) }
}
