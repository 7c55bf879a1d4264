use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::{ObjectId, ObjectKind};

/// The beginning of an object in a pack.
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) kind: EntryKind,
    /// The bytes of the object, or of the delta that makes it.
    pub(super) size_bytes: u64,
    /// Where the zlib stream begins.
    pub(super) data_at: u64,
}

pub(super) enum EntryKind {
    Whole(ObjectKind),
    /// A delta on what begins so many bytes before.
    DeltaOnOffset(u64),
    /// A delta on the object of this name.
    DeltaOnName(ObjectId),
}

/// The most bytes of a beginning: the size, and a name or an offset.
const LONGEST_BYTES: usize = 10 + ObjectId::BYTES;

impl Entry {
    pub(super) fn read(file: &File, offset: u64) -> io::Result<Self> {
        let malformed = || io::Error::new(io::ErrorKind::InvalidData, "an object of a pack is malformed");
        let mut bytes = [0; LONGEST_BYTES];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset.saturating_add(filled as u64))? {
                0 => break,
                read => filled += read,
            }
        }
        let (kind, size_bytes, length) = parse(&bytes[..filled]).ok_or_else(malformed)?;
        Ok(Self { offset, kind, size_bytes, data_at: offset.saturating_add(length as u64) })
    }
}

/// The kind, the size, and how many bytes tell them.
fn parse(bytes: &[u8]) -> Option<(EntryKind, u64, usize)> {
    let mut rest = bytes.iter();
    let first = *rest.next()?;
    let mut size_bytes = u64::from(first & 0x0f);
    let (mut more, mut shift) = (first & 0x80 != 0, 4);
    while more {
        let byte = *rest.next()?;
        let part = u64::from(byte & 0x7f);
        if shift > 56 {
            return None;
        }
        size_bytes |= part << shift;
        (more, shift) = (byte & 0x80 != 0, shift + 7);
    }
    let kind = match (first >> 4) & 7 {
        1 => EntryKind::Whole(ObjectKind::Commit),
        2 => EntryKind::Whole(ObjectKind::Tree),
        3 => EntryKind::Whole(ObjectKind::Blob),
        4 => EntryKind::Whole(ObjectKind::Tag),
        6 => EntryKind::DeltaOnOffset(distance(&mut rest)?),
        7 => {
            let (id, after) = rest.as_slice().split_first_chunk::<{ ObjectId::BYTES }>()?;
            rest = after.iter();
            EntryKind::DeltaOnName(ObjectId::from_bytes(*id))
        }
        _ => return None,
    };
    Some((kind, size_bytes, bytes.len() - rest.as_slice().len()))
}

/// A distance in groups of seven bits, the highest first, where every further group adds one.
fn distance(rest: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut byte = *rest.next()?;
    let mut distance = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *rest.next()?;
        distance = distance.checked_add(1)?.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
    }
    Some(distance)
}
