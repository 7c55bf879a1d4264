//! Where the members of a bundle lie: in a directory, or in a tar of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use ambit_ids::ByteCount;
use rustix::fs::{Mode, OFlags};

use crate::error::BundleError;
use crate::name::MemberName;
use crate::{archive, directory};

/// A member by its place.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: MemberName,
    pub(crate) size: u64,
    pub(crate) place: Place,
}

/// Where the bytes of a member begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In a file of its own name.
    Own,
    /// In the tar.
    At(u64),
}

/// What all members lie in, opened once.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The directory, or the tar.
    holder: Arc<File>,
    /// Sorted by name.
    entries: Vec<Entry>,
}

impl Contents {
    pub(crate) fn open(path: &Path) -> Result<Self, BundleError> {
        let unreachable = |source: io::Error| BundleError::Unreachable { path: path.to_owned(), source };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened =
            rustix::fs::open(path, flags, Mode::empty()).map_err(|error| unreachable(error.into()))?;
        let holder = File::from(opened);
        let kind = holder.metadata().map_err(unreachable)?.file_type();
        let entries = if kind.is_dir() {
            directory::list(&holder)?
        } else if kind.is_file() {
            archive::index(&holder)?
        } else {
            return Err(BundleError::NoBundle(path.to_owned()));
        };
        Ok(Self { holder: Arc::new(holder), entries })
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
        self.entries.get(at)
    }

    /// Reads a member from its first byte on.
    pub(crate) fn read(&self, entry: &Entry) -> Result<MemberReader, BundleError> {
        self.read_from(entry, 0)
    }

    /// Reads a member from one of its bytes on.
    pub(crate) fn read_from(&self, entry: &Entry, from: u64) -> Result<MemberReader, BundleError> {
        let (file, begin) = match entry.place {
            Place::At(offset) => (self.holder.clone(), offset),
            Place::Own => {
                let (file, size) = directory::open(&self.holder, &entry.name)?;
                if size != entry.size {
                    let why = "it changed while it was read".to_owned();
                    return Err(BundleError::Altered { name: entry.name.to_string(), why });
                }
                (Arc::new(file), 0)
            }
        };
        Ok(MemberReader { file, offset: begin + from, left: entry.size.saturating_sub(from) })
    }

    /// The whole of a member of at most `most` bytes.
    pub(crate) fn whole(&self, name: &str, most: u64) -> Result<Vec<u8>, BundleError> {
        let entry = self.find(name).ok_or_else(|| BundleError::Absent(name.to_owned()))?;
        if entry.size > most {
            let (found, most) = (ByteCount::new(entry.size), ByteCount::new(most));
            return Err(BundleError::TooLarge { name: name.to_owned(), found, most });
        }
        let mut bytes = Vec::new();
        self.read(entry)?.read_to_end(&mut bytes).map_err(|error| BundleError::io(name, error))?;
        if bytes.len() as u64 != entry.size {
            let why = "it is shorter than it was".to_owned();
            return Err(BundleError::Altered { name: name.to_owned(), why });
        }
        Ok(bytes)
    }
}

/// The bytes of a member, and none beyond it.
pub(crate) struct MemberReader {
    file: Arc<File>,
    offset: u64,
    left: u64,
}

impl Read for MemberReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(&mut buffer[..most], self.offset)?;
        self.offset += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}
