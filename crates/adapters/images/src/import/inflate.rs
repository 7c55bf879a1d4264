//! Archives as they come out of their compression: bounded, and digested on the way.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use ambit_ids::Digest;
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256};

use crate::import::bounds::Bounds;

const BUFFER_BYTES: usize = 64 << 10;
/// How every gzip file begins (RFC 1952).
pub(crate) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An archive decompresses to more than it may.
#[derive(Debug, thiserror::Error)]
#[error("more than {limit}")]
pub(crate) struct Bomb {
    /// What it may, with its unit.
    pub(crate) limit: String,
}

/// The content of an archive.
pub(crate) struct Inflated<'a> {
    from: Box<dyn Read + 'a>,
    went_in: Rc<Cell<u64>>,
    came_out: u64,
    hasher: Sha256,
    bounds: Bounds,
    is_compressed: bool,
}

impl<'a> Inflated<'a> {
    pub(crate) fn new(from: impl Read + 'a, is_compressed: bool, bounds: Bounds) -> Self {
        let went_in = Rc::new(Cell::new(0));
        let counted = Counted { from, count: went_in.clone() };
        let buffered = BufReader::with_capacity(BUFFER_BYTES, counted);
        let from: Box<dyn Read + 'a> = if is_compressed {
            // Several gzip files in one are one archive: some tools write each file of a layer so.
            Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(buffered)))
        } else {
            Box::new(buffered)
        };
        Self { from, went_in, came_out: 0, hasher: Sha256::new(), bounds, is_compressed }
    }

    /// The digest of everything that was read.
    pub(crate) fn digest(self) -> Digest {
        Digest::from_bytes(self.hasher.finalize().into())
    }

    fn check(&self) -> Result<(), Bomb> {
        let Bounds { inflated_bytes, inflated_freely_bytes, inflated_ratio, .. } = self.bounds;
        if self.came_out > inflated_bytes {
            return Err(Bomb { limit: format!("{inflated_bytes} bytes") });
        }
        let fair = inflated_freely_bytes.saturating_add(self.went_in.get().saturating_mul(inflated_ratio));
        if self.is_compressed && self.came_out > fair {
            return Err(Bomb { limit: format!("{inflated_ratio} times its size") });
        }
        Ok(())
    }
}

impl Read for Inflated<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(bytes)?;
        self.hasher.update(&bytes[..read]);
        self.came_out += read as u64;
        self.check().map_err(io::Error::other)?;
        Ok(read)
    }
}

struct Counted<R> {
    from: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(bytes)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}
