//! Tar archives, read once from their beginning to their end: ustar, pax, and the long names of GNU tar.
//!
//! Every header is held against its checksum. An archive ends with a block of zeros, and only zeros may follow it.

use std::io::{self, Read};

use tar::Header;

use crate::import::error::EntryFault;
use crate::import::pax::Extension;

const BLOCK: usize = 512;
/// The most bytes of one extended header. Extended attributes are the largest thing in one.
const EXTENSION_BYTES: u64 = 1 << 20;

/// What stands in one header, with what its extended headers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) path: Vec<u8>,
    pub(crate) link: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) size_bytes: u64,
    pub(crate) has_attributes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    HardLink,
}

/// Why an archive is not read on.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    /// It is no archive, or not a whole one.
    Damaged(&'static str),
    /// One entry is not wanted.
    Entry(Vec<u8>, EntryFault),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it is cut off"),
            _ => Self::Io(error),
        }
    }
}

/// An archive. Reading from it reads the content of the member that came last.
#[derive(Debug)]
pub(crate) struct Archive<R> {
    from: R,
    position: u64,
    content_left: u64,
    padding_left: u64,
}

impl<R: Read> Archive<R> {
    pub(crate) const fn new(from: R) -> Self {
        Self { from, position: 0, content_left: 0, padding_left: 0 }
    }

    /// How many bytes of the archive were read: after a member, where its content begins.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// What the archive is read from.
    pub(crate) fn into_inner(self) -> R {
        self.from
    }

    /// The next member; `None` at the end, which was then found to be one.
    pub(crate) fn next(&mut self) -> Result<Option<Member>, Fault> {
        let (mut pax, mut long_path, mut long_link) = (None, None, None);
        loop {
            self.skip()?;
            let mut block = [0; BLOCK];
            self.fill(&mut block)?;
            if block == [0; BLOCK] {
                if pax.is_some() || long_path.is_some() || long_link.is_some() {
                    return Err(Fault::Damaged("it ends after an extended header"));
                }
                return self.end();
            }
            let header = Header::from_byte_slice(&block);
            let size_bytes = checked(header)?;
            match header.as_old().linkflag[0] {
                b'x' => put(&mut pax, self.extension(size_bytes)?)?,
                b'g' => {
                    if self.extension(size_bytes)?.is_of_one_entry() {
                        return Err(Fault::Damaged("a global header names or measures every entry"));
                    }
                }
                b'L' => put(&mut long_path, self.long_name(size_bytes)?)?,
                b'K' => put(&mut long_link, self.long_name(size_bytes)?)?,
                kind => {
                    let pax: Extension = pax.unwrap_or_default();
                    if (pax.path.is_some() && long_path.is_some())
                        || (pax.link.is_some() && long_link.is_some())
                    {
                        return Err(Fault::Damaged("one entry has two long names"));
                    }
                    let path = pax.path.clone().or(long_path).unwrap_or_else(|| header.path_bytes().into());
                    let link = pax.link.clone().or(long_link);
                    let link = link.or_else(|| header.link_name_bytes().map(Into::into)).unwrap_or_default();
                    let mode = header.mode().map_err(|_| Fault::Damaged("a header has no mode"))?;
                    return self.member(kind, path, link, mode, size_bytes, &pax).map(Some);
                }
            }
        }
    }

    fn member(
        &mut self,
        kind: u8,
        path: Vec<u8>,
        link: Vec<u8>,
        mode: u32,
        size_bytes: u64,
        pax: &Extension,
    ) -> Result<Member, Fault> {
        let size_bytes = pax.size_bytes.unwrap_or(size_bytes);
        let kind = match kind {
            b'S' => Err(EntryFault::Sparse),
            _ if pax.is_sparse => Err(EntryFault::Sparse),
            // Before there was a type for them, directories were files whose names end with a slash.
            b'0' | 0 if path.ends_with(b"/") => Ok(Kind::Directory),
            b'0' | 0 => Ok(Kind::File),
            b'1' => Ok(Kind::HardLink),
            b'2' => Ok(Kind::Link),
            b'3' | b'4' => Err(EntryFault::Device),
            b'5' => Ok(Kind::Directory),
            b'6' | b's' => Err(EntryFault::Pipe),
            other => Err(EntryFault::Kind(char::from(other))),
        };
        let kind = kind.map_err(|fault| Fault::Entry(path.clone(), fault))?;
        if kind != Kind::File && size_bytes != 0 {
            return Err(Fault::Entry(path, EntryFault::Content));
        }
        self.begin(size_bytes);
        Ok(Member { path, link, kind, mode, size_bytes, has_attributes: pax.has_attributes })
    }

    const fn begin(&mut self, size_bytes: u64) {
        self.content_left = size_bytes;
        self.padding_left = (BLOCK as u64 - size_bytes % BLOCK as u64) % BLOCK as u64;
    }

    fn extension(&mut self, size_bytes: u64) -> Result<Extension, Fault> {
        let bytes = self.small(size_bytes)?;
        Extension::read(&bytes).ok_or(Fault::Damaged("an extended header cannot be read"))
    }

    fn long_name(&mut self, size_bytes: u64) -> Result<Vec<u8>, Fault> {
        let mut bytes = self.small(size_bytes)?;
        if bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(bytes)
    }

    fn small(&mut self, size_bytes: u64) -> Result<Vec<u8>, Fault> {
        if size_bytes > EXTENSION_BYTES {
            return Err(Fault::Damaged("an extended header is too large"));
        }
        self.begin(size_bytes);
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn skip(&mut self) -> Result<(), Fault> {
        io::copy(&mut self.by_ref(), &mut io::sink())?;
        let mut padding = [0; BLOCK];
        while self.padding_left > 0 {
            let length = usize::try_from(self.padding_left).unwrap_or(BLOCK).min(BLOCK);
            self.fill(&mut padding[..length])?;
            self.padding_left -= length as u64;
        }
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        self.from.read_exact(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self) -> Result<Option<Member>, Fault> {
        let mut bytes = [0; 16 * BLOCK];
        loop {
            match self.from.read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(read) if bytes[..read].iter().all(|byte| *byte == 0) => {}
                Ok(_) => return Err(Fault::Damaged("there is something after its end")),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl<R: Read> Read for Archive<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.content_left).unwrap_or(usize::MAX).min(bytes.len());
        if most == 0 {
            return Ok(0);
        }
        let read = self.from.read(&mut bytes[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.content_left -= read as u64;
        self.position += read as u64;
        Ok(read)
    }
}

/// Holds a header against its checksum, and answers its size.
fn checked(header: &Header) -> Result<u64, Fault> {
    let bytes = header.as_bytes();
    let sum: u32 =
        bytes[..148].iter().chain(&[b' '; 8]).chain(&bytes[156..]).map(|byte| u32::from(*byte)).sum();
    match (header.cksum(), header.entry_size()) {
        (Ok(told), Ok(size_bytes)) if told == sum => Ok(size_bytes),
        _ => Err(Fault::Damaged("a header does not have its checksum")),
    }
}

fn put<T>(slot: &mut Option<T>, value: T) -> Result<(), Fault> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Fault::Damaged("one entry has two extended headers of a kind")),
    }
}
