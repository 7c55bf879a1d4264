use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1_checked::{Digest as _, Sha1};

use crate::object::ObjectKind;

/// A pack of git, version 2, whose objects all stand whole.
pub(crate) struct Pack<'a> {
    out: Summed<'a>,
}

/// Bytes on their way out, and their SHA-1.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: Sha1,
}

impl<'a> Pack<'a> {
    /// Starts a pack of exactly so many objects.
    pub(crate) fn of(objects: u32, out: &'a mut dyn Write) -> io::Result<Self> {
        // The sum is held against damage, not against whoever wrote it: collisions in it are nobody's concern.
        let mut out = Summed { out, sum: Sha1::builder().detect_collision(false).build() };
        out.write_all(b"PACK")?;
        out.write_all(&2_u32.to_be_bytes())?;
        out.write_all(&objects.to_be_bytes())?;
        Ok(Self { out })
    }

    pub(crate) fn write(&mut self, kind: ObjectKind, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(&entry_head(kind, bytes.len()))?;
        let mut encoder = ZlibEncoder::new(&mut self.out, Compression::default());
        encoder.write_all(bytes)?;
        encoder.finish()?;
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        let sum = self.out.sum.finalize();
        self.out.out.write_all(&sum)
    }
}

/// The kind and the size: four bits of the size beside the kind, and seven in each byte that follows, the low ones first.
fn entry_head(kind: ObjectKind, size: usize) -> Vec<u8> {
    let number: u8 = match kind {
        ObjectKind::Commit => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
    };
    let low = |size: usize, bits: usize| u8::try_from(size & ((1 << bits) - 1)).unwrap_or_default();
    let mut head = vec![number << 4 | low(size, 4)];
    let mut rest = size >> 4;
    while rest > 0 {
        if let Some(last) = head.last_mut() {
            *last |= 0x80;
        }
        head.push(low(rest, 7));
        rest >>= 7;
    }
    head
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_seven_bits_at_a_time() {
        assert_eq!(entry_head(ObjectKind::Blob, 0), [0x30]);
        assert_eq!(entry_head(ObjectKind::Tree, 15), [0x2f]);
        assert_eq!(entry_head(ObjectKind::Commit, 16), [0x90, 0x01]);
        assert_eq!(entry_head(ObjectKind::Blob, 1 << 20), [0xb0, 0x80, 0x80, 0x04]);
    }
}
