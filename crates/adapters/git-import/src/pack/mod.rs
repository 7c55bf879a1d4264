//! Packs: many objects in one file, most of them as a delta on another one.

mod bases;
mod entry;
mod index;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, OnceLock};

use crate::ObjectId;
use crate::delta::DeltaReader;
use crate::inflate::{Inflate, Unpacking, exactly};
use crate::limits::DELTA_DEPTH;
use crate::place::Place;
use crate::reading::Reading;

pub(crate) use bases::Bases;
use entry::{Entry, EntryKind};
use index::Index;

/// What beginning to unpack an object counts for, however small it is: long chains of tiny deltas take time, too.
const ENTRY_COST_BYTES: u64 = 1 << 10;

/// A pack and its index.
pub(crate) struct Pack {
    /// Tells it from others of the same repository.
    number: usize,
    /// The name of its file.
    name: Vec<u8>,
    index: Index,
    file: OnceLock<Arc<File>>,
}

impl Pack {
    /// Opens the index. The pack itself is opened when something is read from it.
    pub(crate) fn open(packs: &Place, number: usize, stem: &[u8]) -> io::Result<Option<Self>> {
        let Some(index) = packs.file(&[stem, b".idx"].concat())? else { return Ok(None) };
        let name = [stem, b".pack"].concat();
        Ok(Some(Self { number, name, index: Index::open(index)?, file: OnceLock::new() }))
    }

    pub(crate) const fn index(&self) -> &Index {
        &self.index
    }

    fn file(&self, packs: &Place) -> io::Result<Arc<File>> {
        if let Some(file) = self.file.get() {
            return Ok(Arc::clone(file));
        }
        let file = packs.file(&self.name)?.ok_or(io::ErrorKind::NotFound)?;
        let mut magic = [0; 8];
        file.read_exact_at(&mut magic, 0)?;
        if !matches!(magic, [b'P', b'A', b'C', b'K', 0, 0, 0, 2 | 3]) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no pack of version 2 or 3"));
        }
        Ok(Arc::clone(self.file.get_or_init(|| Arc::new(file))))
    }

    /// Opens the object at an offset. Only what a delta needs is read at once; a base may have `limit_bytes`, too.
    pub(crate) fn read(
        &self,
        packs: &Place,
        id: ObjectId,
        offset: u64,
        limit_bytes: u64,
        bases: &mut Bases,
        unpacking: &Unpacking,
    ) -> io::Result<Reading> {
        let file = self.file(packs)?;
        let malformed = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        let mut deltas: Vec<Entry> = Vec::new();
        let mut at = offset;
        let (kind, mut base) = loop {
            if let Some((kind, bytes)) = bases.get(self.number, at).filter(|_| !deltas.is_empty()) {
                break (kind, bytes);
            }
            unpacking.add(ENTRY_COST_BYTES)?;
            let entry = Entry::read(&file, at)?;
            let next = match entry.kind {
                EntryKind::Whole(kind) if deltas.is_empty() => {
                    let source = Inflate::new(file, entry.data_at, unpacking);
                    return Ok(Reading::new(id, kind, entry.size_bytes, Box::new(source)));
                }
                EntryKind::Whole(kind) => {
                    let bytes = unpack(&file, &entry, limit_bytes, unpacking)?;
                    break (kind, bases.keep(self.number, at, kind, bytes));
                }
                EntryKind::DeltaOnOffset(before) => at
                    .checked_sub(before)
                    .filter(|_| before > 0)
                    .ok_or_else(|| malformed("a base lies before the pack"))?,
                EntryKind::DeltaOnName(base) => self
                    .index
                    .offset(base)?
                    .ok_or_else(|| malformed("the base of a delta is not in the pack"))?,
            };
            deltas.push(entry);
            if deltas.len() > DELTA_DEPTH {
                return Err(malformed("a chain of deltas is too long"));
            }
            at = next;
        };
        while let Some(delta) = deltas.pop() {
            let reader = DeltaReader::new(base, unpack(&file, &delta, limit_bytes, unpacking)?, unpacking)?;
            if deltas.is_empty() {
                return Ok(Reading::new(id, kind, reader.result_bytes(), Box::new(reader)));
            }
            let size_bytes = within(reader.result_bytes(), limit_bytes)?;
            let bytes = exactly(reader, size_bytes)?;
            base = bases.keep(self.number, delta.offset, kind, bytes);
        }
        Err(malformed("a chain of deltas has no end"))
    }
}

fn unpack(file: &Arc<File>, entry: &Entry, limit_bytes: u64, unpacking: &Unpacking) -> io::Result<Vec<u8>> {
    let size_bytes = within(entry.size_bytes, limit_bytes)?;
    exactly(Inflate::new(Arc::clone(file), entry.data_at, unpacking), size_bytes)
}

fn within(size_bytes: u64, limit_bytes: u64) -> io::Result<u64> {
    if size_bytes > limit_bytes {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "what a delta needs is too large"));
    }
    Ok(size_bytes)
}
