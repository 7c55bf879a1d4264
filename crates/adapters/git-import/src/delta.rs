use std::io::{self, Read};
use std::sync::Arc;

use crate::inflate::Unpacking;

/// A content made from another one by a delta of a pack: copied from the base and inserted, one instruction after the
/// other, so that only base and delta are held (git's `pack-format`, "Deltified representation").
pub(crate) struct DeltaReader {
    base: Arc<Vec<u8>>,
    delta: Vec<u8>,
    position: usize,
    result_bytes: u64,
    current: Piece,
    unpacking: Unpacking,
}

/// What an instruction still has to give.
#[derive(Clone, Copy)]
enum Piece {
    Copy { start: usize, end: usize },
    Insert { start: usize, end: usize },
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a delta is malformed")
}

impl DeltaReader {
    /// What it makes counts as unpacked: a few bytes can say to copy a large base a thousand times over.
    pub(crate) fn new(base: Arc<Vec<u8>>, delta: Vec<u8>, unpacking: &Unpacking) -> io::Result<Self> {
        let mut position = 0;
        let base_bytes = size(&delta, &mut position).ok_or_else(malformed)?;
        let result_bytes = size(&delta, &mut position).ok_or_else(malformed)?;
        if base_bytes != base.len() as u64 {
            return Err(malformed());
        }
        let (current, unpacking) = (Piece::Insert { start: 0, end: 0 }, unpacking.clone());
        Ok(Self { base, delta, position, result_bytes, current, unpacking })
    }

    /// How many bytes the delta says that it makes. Whoever reads holds it against what comes.
    pub(crate) const fn result_bytes(&self) -> u64 {
        self.result_bytes
    }

    /// The next instruction; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Piece>> {
        let Some(instruction) = self.byte() else { return Ok(None) };
        if instruction & 0x80 == 0 {
            let (start, length) = (self.position, usize::from(instruction));
            let end = start.checked_add(length).filter(|end| *end <= self.delta.len());
            let end = end.filter(|_| length > 0).ok_or_else(malformed)?;
            self.position = end;
            return Ok(Some(Piece::Insert { start, end }));
        }
        let start = self.number(instruction, 4)?;
        let length = match self.number(instruction >> 4, 3)? {
            0 => 0x1_0000,
            length => length,
        };
        let end = start.checked_add(length).filter(|end| *end <= self.base.len()).ok_or_else(malformed)?;
        Ok(Some(Piece::Copy { start, end }))
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.delta.get(self.position)?;
        self.position += 1;
        Some(byte)
    }

    /// A number of which only those bytes stand there whose bit is set.
    fn number(&mut self, present: u8, bytes: u32) -> io::Result<usize> {
        let mut number = 0_usize;
        for index in 0..bytes {
            if present & (1 << index) != 0 {
                let byte = self.byte().ok_or_else(malformed)?;
                number |= usize::from(byte) << (8 * index);
            }
        }
        Ok(number)
    }
}

impl Read for DeltaReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let (rest, is_copy, start, end) = match self.current {
                Piece::Copy { start, end } => (&self.base[start..end], true, start, end),
                Piece::Insert { start, end } => (&self.delta[start..end], false, start, end),
            };
            if !rest.is_empty() {
                let length = rest.len().min(buffer.len());
                buffer[..length].copy_from_slice(&rest[..length]);
                let start = start + length;
                self.current =
                    if is_copy { Piece::Copy { start, end } } else { Piece::Insert { start, end } };
                self.unpacking.add(length as u64)?;
                return Ok(length);
            }
            match self.next()? {
                Some(piece) => self.current = piece,
                None => return Ok(0),
            }
        }
    }
}

/// A size in groups of seven bits, the lowest first.
fn size(bytes: &[u8], position: &mut usize) -> Option<u64> {
    let mut size = 0_u64;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.get(*position)?;
        *position += 1;
        size |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inflate::TooCostly;
    use crate::limits::UNPACKED_BYTES;

    fn applied(base: &[u8], delta: &[u8]) -> io::Result<Vec<u8>> {
        let mut reader = DeltaReader::new(Arc::new(base.to_vec()), delta.to_vec(), &Unpacking::default())?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn a_delta_copies_and_inserts() {
        let base = b"0123456789";
        // From 10 to 9 bytes: copy 4 from 6, insert `ab`, copy 3 from 0.
        let delta = [10, 9, 0x91, 6, 4, 2, b'a', b'b', 0x90, 3];
        assert_eq!(applied(base, &delta).unwrap(), b"6789ab012");
        let reader = DeltaReader::new(Arc::new(base.to_vec()), delta.to_vec(), &Unpacking::default());
        assert_eq!(reader.unwrap().result_bytes(), 9);
        let large = vec![7; 70_000];
        let delta = [0xf0, 0xa2, 0x04, 0x80, 0x80, 0x04, 0x80];
        assert_eq!(applied(&large, &delta).unwrap().len(), 0x1_0000, "no size is the largest one");
    }

    #[test]
    fn what_is_copied_counts_as_unpacked() {
        let delta = [10, 9, 0x91, 6, 4, 2, b'a', b'b', 0x90, 3];
        for (left_bytes, is_enough) in [(9, true), (8, false)] {
            let unpacking = Unpacking::default();
            unpacking.add(UNPACKED_BYTES - left_bytes).unwrap();
            let mut reader =
                DeltaReader::new(Arc::new(b"0123456789".to_vec()), delta.to_vec(), &unpacking).unwrap();
            let outcome = reader.read_to_end(&mut Vec::new());
            assert_eq!(outcome.is_ok(), is_enough);
            let is_too_costly =
                |error: io::Error| matches!(error.get_ref(), Some(inner) if inner.is::<TooCostly>());
            assert_eq!(outcome.is_err_and(is_too_costly), !is_enough);
        }
    }

    #[test]
    fn a_malformed_delta_is_an_error() {
        let base = b"0123456789";
        for delta in [
            &[][..],
            &[10],
            &[9, 1, 0x90, 1],
            &[0x80; 12],
            &[10, 1, 0],
            &[10, 4, 4, 1, 2],
            &[10, 9, 0x91, 6],
            &[10, 9, 0x91, 6, 5],
            &[10, 9, 0xff, 255, 255, 255, 255, 255, 255, 255],
        ] {
            assert!(applied(base, delta).is_err(), "{delta:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_delta_is_applied_or_refused(delta in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let _ = applied(b"0123456789", &[&[10, 20][..], &delta].concat());
        }
    }
}
