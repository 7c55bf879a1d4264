use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::{Decompress, FlushDecompress, Status};

use crate::limits::{CHUNK_BYTES, UNPACKED_BYTES};

const BUFFER_BYTES: usize = 16 << 10;
/// How many engines are kept at rest. Objects are unpacked one after the other, and one that is streamed is open meanwhile.
const ENGINES: usize = 2;

/// What all unpacking of one import shares: how much was unpacked so far, and the engines that are at rest.
#[derive(Clone, Default)]
pub(crate) struct Unpacking(Arc<Shared>);

#[derive(Default)]
struct Shared {
    bytes: AtomicU64,
    at_rest: Mutex<Vec<Engine>>,
}

/// More than [`UNPACKED_BYTES`] would have to be unpacked.
#[derive(Debug, thiserror::Error)]
#[error("more would have to be unpacked than one import may")]
pub(crate) struct TooCostly;

impl Unpacking {
    pub(crate) fn add(&self, bytes: u64) -> io::Result<()> {
        let before = self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > UNPACKED_BYTES {
            return Err(io::Error::other(TooCostly));
        }
        Ok(())
    }

    fn engine(&self) -> Engine {
        self.0.at_rest.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(Engine::new)
    }

    fn rest(&self, mut engine: Engine) {
        engine.reset();
        let mut at_rest = self.0.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if at_rest.len() < ENGINES {
            at_rest.push(engine);
        }
    }
}

/// What unpacks a zlib stream, with the piece of the stream that it is at. Its window and tables cost as much to make as
/// a small object costs to unpack.
struct Engine {
    decompress: Decompress,
    /// Bytes of the stream, of which those from `position` up to `filled` come next.
    input: Box<[u8]>,
    position: usize,
    filled: usize,
}

impl Engine {
    fn new() -> Self {
        let input = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { decompress: Decompress::new(true), input, position: 0, filled: 0 }
    }

    fn reset(&mut self) {
        self.decompress.reset(true);
        (self.position, self.filled) = (0, 0);
    }

    /// The next plain bytes; none at the end of the stream, behind which nothing is looked at.
    fn read(&mut self, source: &mut FileFrom, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.position == self.filled {
                (self.position, self.filled) = (0, source.read(&mut self.input)?);
            }
            let input = &self.input[self.position..self.filled];
            let is_cut_off = input.is_empty();
            let (taken, given) = (self.decompress.total_in(), self.decompress.total_out());
            let status = self.decompress.decompress(input, buffer, FlushDecompress::None);
            let progress = |before: u64, now: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
            let given = progress(given, self.decompress.total_out());
            self.position += progress(taken, self.decompress.total_in());
            match status {
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
                Ok(Status::StreamEnd) => return Ok(given),
                Ok(Status::Ok | Status::BufError) if given > 0 || buffer.is_empty() => return Ok(given),
                Ok(Status::Ok | Status::BufError) if is_cut_off => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(Status::Ok | Status::BufError) => {}
            }
        }
    }
}

/// A file that is read from a place on, without a position of its own.
struct FileFrom {
    file: Arc<File>,
    offset: u64,
}

impl FileFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = loop {
            match self.file.read_at(buffer, self.offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}

/// The plain bytes of a zlib stream in a file.
pub(crate) struct Inflate {
    source: FileFrom,
    /// `None` after a failure.
    engine: Option<Engine>,
    unpacking: Unpacking,
}

impl Inflate {
    pub(crate) fn new(file: Arc<File>, offset: u64, unpacking: &Unpacking) -> Self {
        let engine = Some(unpacking.engine());
        Self { source: FileFrom { file, offset }, engine, unpacking: unpacking.clone() }
    }
}

impl Read for Inflate {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One that failed in the middle of a stream does not come to rest.
        let mut engine = self.engine.take().ok_or(io::ErrorKind::InvalidData)?;
        let read = engine.read(&mut self.source, buffer)?;
        self.engine = Some(engine);
        self.unpacking.add(read as u64)?;
        Ok(read)
    }
}

impl Drop for Inflate {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.unpacking.rest(engine);
        }
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn stream(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    /// Streams one after the other in a file, and where each begins.
    fn file(streams: &[&[u8]]) -> (Arc<File>, Vec<u64>) {
        let mut file = tempfile::tempfile().unwrap();
        let mut begins = Vec::new();
        let mut at = 0;
        for stream in streams {
            begins.push(at);
            file.write_all(stream).unwrap();
            at += stream.len() as u64;
        }
        (Arc::new(file), begins)
    }

    #[test]
    fn an_engine_begins_every_stream_anew_and_none_goes_on_after_a_failure() {
        let plain: Vec<u8> = (0..60_000_u32).flat_map(|number| (number * number).to_le_bytes()).collect();
        let (whole, small) = (stream(&plain), stream(b"small"));
        let mut altered = whole.clone();
        altered[2] = 0xff;
        let (file, begins) = file(&[&whole, &small, &altered, &whole[..whole.len() / 2]]);
        let unpacking = Unpacking::default();
        let inflate = |index: usize| Inflate::new(Arc::clone(&file), begins[index], &unpacking);
        let at_rest = || unpacking.0.at_rest.lock().unwrap().len();
        for _ in 0..3 {
            let mut left = inflate(0);
            left.read_exact(&mut [0; 1_000]).unwrap();
            assert_eq!(exactly(inflate(1), 5).unwrap(), b"small");
            drop(left);
            assert_eq!(exactly(inflate(0), plain.len() as u64).unwrap(), plain);
            assert_eq!(at_rest(), 2, "made once for all");
        }
        let mut failing = inflate(2);
        assert!(failing.read_to_end(&mut Vec::new()).is_err());
        assert!(failing.read_to_end(&mut Vec::new()).is_err());
        drop(failing);
        assert!(inflate(3).read_to_end(&mut Vec::new()).is_err());
        assert_eq!(at_rest(), 0);
        assert_eq!(exactly(inflate(1), 5).unwrap(), b"small");
    }
}
