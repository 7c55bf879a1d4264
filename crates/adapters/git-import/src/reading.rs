use std::io::{self, Read};

use sha1_checked::{Digest as _, Sha1};

use crate::inflate::exactly;
use crate::{ObjectId, ObjectKind};

/// An object of which kind and size are known, and the content is not read yet.
pub(crate) struct Reading {
    id: ObjectId,
    kind: ObjectKind,
    size_bytes: u64,
    source: Box<dyn Read + Send>,
    hasher: Sha1,
    read_bytes: u64,
}

/// The bytes of an object are not those that its name stands for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Altered {
    #[error("its bytes have another name")]
    Name,
    #[error("its bytes are made for a collision of SHA-1")]
    Collision,
}

impl Reading {
    pub(crate) fn new(id: ObjectId, kind: ObjectKind, size_bytes: u64, source: Box<dyn Read + Send>) -> Self {
        let mut hasher = Sha1::new();
        hasher.update(format!("{kind} {size_bytes}\0").as_bytes());
        Self { id, kind, size_bytes, source, hasher, read_bytes: 0 }
    }

    pub(crate) const fn kind(&self) -> ObjectKind {
        self.kind
    }

    pub(crate) const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The next bytes, `limit_bytes` of them unless the content ends before. Nothing is known to be right before
    /// [`finish`](Self::finish).
    pub(crate) fn read(&mut self, limit_bytes: usize) -> io::Result<Vec<u8>> {
        let rest_bytes = self.size_bytes - self.read_bytes;
        let bytes = exactly_at_most(&mut self.source, rest_bytes.min(limit_bytes as u64))?;
        self.read_bytes += bytes.len() as u64;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    /// Says that this was everything and that it has the name under which it lay.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.read_bytes != self.size_bytes || self.source.read(&mut [0; 1])? != 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let result = self.hasher.try_finalize();
        if result.has_collision() {
            return Err(io::Error::other(Altered::Collision));
        }
        if result.hash().as_slice() == self.id.as_bytes() {
            Ok(())
        } else {
            Err(io::Error::other(Altered::Name))
        }
    }

    /// All bytes.
    pub(crate) fn whole(mut self) -> io::Result<Vec<u8>> {
        let limit_bytes = usize::try_from(self.size_bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let bytes = self.read(limit_bytes)?;
        self.finish()?;
        Ok(bytes)
    }
}

/// So many bytes of a source that may have more.
fn exactly_at_most(source: &mut dyn Read, bytes: u64) -> io::Result<Vec<u8>> {
    exactly(source.take(bytes), bytes)
}
