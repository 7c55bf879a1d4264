use std::cmp::Ordering;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::ObjectId;

/// The index of a pack, version 2 (git's `pack-format`): read in place, never as a whole.
pub(crate) struct Index {
    file: File,
    /// How many names begin with a byte up to this one.
    fanout: Vec<u32>,
}

const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const NAMES_AT: u64 = 8 + 256 * 4;
const NAME_BYTES: u64 = ObjectId::BYTES as u64;
/// So many names are read at once, which takes as long as reading one.
const NAMES_AT_ONCE: usize = 200;

fn malformed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the index of a pack is malformed, or of another version than 2",
    )
}

impl Index {
    pub(crate) fn open(file: File) -> io::Result<Self> {
        let mut magic = [0; 8];
        file.read_exact_at(&mut magic, 0)?;
        if magic != MAGIC {
            return Err(malformed());
        }
        let mut bytes = [0; 256 * 4];
        file.read_exact_at(&mut bytes, 8)?;
        let fanout: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|four| u32::from_be_bytes(*four)).collect();
        if !fanout.is_sorted() {
            return Err(malformed());
        }
        Ok(Self { file, fanout })
    }

    fn count(&self) -> u64 {
        self.fanout.last().copied().unwrap_or_default().into()
    }

    fn name(&self, place: u64) -> io::Result<[u8; ObjectId::BYTES]> {
        let mut name = [0; ObjectId::BYTES];
        self.file.read_exact_at(&mut name, NAMES_AT + place * NAME_BYTES)?;
        Ok(name)
    }

    /// The place of the first name that is not smaller, and whether it is the same.
    fn place(&self, id: &[u8; ObjectId::BYTES]) -> io::Result<(u64, bool)> {
        let first = usize::from(id[0]);
        let mut low = if first == 0 { 0 } else { u64::from(self.fanout[first - 1]) };
        let mut high = u64::from(self.fanout[first]);
        while high - low > NAMES_AT_ONCE as u64 {
            let middle = low + (high - low) / 2;
            match self.name(middle)?.cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Greater => high = middle,
            }
        }
        let mut bytes = [0; NAMES_AT_ONCE * ObjectId::BYTES];
        let count = usize::try_from(high - low).unwrap_or(NAMES_AT_ONCE);
        let bytes = &mut bytes[..count * ObjectId::BYTES];
        self.file.read_exact_at(bytes, NAMES_AT + low * NAME_BYTES)?;
        let names = bytes.as_chunks::<{ ObjectId::BYTES }>().0;
        let within = names.partition_point(|name| name < id);
        Ok((low + within as u64, names.get(within) == Some(id)))
    }

    /// Where the object begins in the pack; `None` where it is not in it.
    pub(crate) fn offset(&self, id: ObjectId) -> io::Result<Option<u64>> {
        let (place, true) = self.place(id.as_bytes())? else { return Ok(None) };
        // Names, then four bytes for each as a checksum, then four bytes for each as an offset.
        let offsets_at = NAMES_AT + self.count() * (NAME_BYTES + 4);
        let mut four = [0; 4];
        self.file.read_exact_at(&mut four, offsets_at + place * 4)?;
        let offset = u32::from_be_bytes(four);
        if offset & 0x8000_0000 == 0 {
            return Ok(Some(offset.into()));
        }
        let large = u64::from(offset & 0x7fff_ffff);
        let mut eight = [0; 8];
        self.file.read_exact_at(&mut eight, offsets_at + self.count() * 4 + large * 8)?;
        Ok(Some(u64::from_be_bytes(eight)))
    }

    /// The names that begin with these digits, added to `found`: the first `limit` of them.
    pub(crate) fn with_prefix(
        &self,
        digits: &[u8],
        limit: usize,
        found: &mut Vec<ObjectId>,
    ) -> io::Result<()> {
        let mut padded = digits.to_vec();
        padded.resize(ObjectId::DIGITS, b'0');
        let Some(first) = ObjectId::from_hex(&padded) else { return Ok(()) };
        let (mut place, _) = self.place(first.as_bytes())?;
        let end = place.saturating_add(limit as u64).min(self.count());
        while place < end {
            let id = ObjectId::from_bytes(self.name(place)?);
            if !id.to_string().as_bytes().starts_with(digits) {
                break;
            }
            found.push(id);
            place += 1;
        }
        Ok(())
    }
}
