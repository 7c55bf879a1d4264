//! Where the files of an OCI image layout lie: in a directory, or one after the other in a tar.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_ids::Digest;
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::import::archive::{Archive, Fault, Kind, Member};
use crate::import::bounds::Allowance;
use crate::import::error::EntryFault;
use crate::import::layer::Untaken;
use crate::import::member_path::parts;
use crate::import::{Descriptor, ImportError};
use crate::limits;

/// The files of a layout.
pub(crate) enum Blobs {
    Directory { path: PathBuf, root: OwnedFd },
    Archive(Members),
}

/// The files of an archive, by their paths.
pub(crate) struct Members {
    file: Arc<File>,
    places: BTreeMap<PathBuf, Place>,
}

#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    size_bytes: u64,
}

/// A part of a file, read from its beginning to its end.
#[derive(Clone)]
pub(crate) struct Section {
    file: Arc<File>,
    offset: u64,
    left: u64,
}

impl Section {
    pub(crate) fn whole(file: File) -> io::Result<Self> {
        let left = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), offset: 0, left })
    }

    pub(crate) const fn size_bytes(&self) -> u64 {
        self.left
    }
}

impl Read for Section {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.file.read_at(&mut bytes[..most], self.offset)?;
        self.offset += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Members {
    /// Finds the files of an archive. It is read to its end.
    pub(crate) fn find(whole: &Section, allowance: &mut Allowance) -> Result<Self, Untaken> {
        let mut archive = Archive::new(BufReader::new(whole.clone()));
        let mut places = BTreeMap::new();
        loop {
            // What cannot be a part of a layout may still be one of a root file system, where it is looked at again.
            let member = match archive.next() {
                Ok(Some(Member { path, kind: Kind::File, size_bytes, .. })) => (path, size_bytes),
                Ok(Some(_)) => continue,
                Ok(None) => break,
                Err(fault) => return Err(Untaken::Archive(fault)),
            };
            let (path, size_bytes) = member;
            allowance.entry()?;
            allowance.names(path.len())?;
            let Ok(name) = parts(&path) else { continue };
            if is_of_layout(&name)
                && places.insert(name, Place { offset: archive.position(), size_bytes }).is_some()
            {
                return Err(Untaken::Archive(Fault::Entry(path, EntryFault::Twice)));
            }
        }
        Ok(Self { file: whole.file.clone(), places })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(Path::new(name))
    }
}

fn is_of_layout(name: &Path) -> bool {
    name.starts_with("blobs/sha256")
        || ["oci-layout", "index.json", "manifest.json"].iter().any(|file| name == Path::new(file))
}

impl Blobs {
    /// The layout in a directory.
    pub(crate) fn directory(path: &Path) -> Result<Self, ImportError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(path, flags, Mode::empty()).map_err(|errno| unreadable(path)(errno.into()))?;
        Ok(Self::Directory { path: path.to_path_buf(), root })
    }

    /// A file of the layout; `None` where there is none. No link is followed.
    pub(crate) fn file(&self, name: &str) -> Result<Option<Section>, ImportError> {
        match self {
            Self::Archive(members) => Ok(members.places.get(Path::new(name)).map(|place| Section {
                file: members.file.clone(),
                offset: place.offset,
                left: place.size_bytes,
            })),
            Self::Directory { path, root } => {
                let at = unreadable(&path.join(name));
                match open_below(root, name) {
                    Ok(file) if file.metadata().map_err(&at)?.is_file() => {
                        Section::whole(file).map(Some).map_err(at)
                    }
                    Ok(_) => Err(at(io::Error::other("not a regular file"))),
                    Err(Errno::NOENT) => Ok(None),
                    Err(errno) => Err(at(errno.into())),
                }
            }
        }
    }

    /// A blob that was held against its descriptor: its size, and the digest of every byte.
    pub(crate) fn blob(&self, descriptor: &Descriptor) -> Result<Section, ImportError> {
        let Descriptor { digest, size_bytes, .. } = descriptor;
        let missing = || ImportError::BlobMissing(*digest);
        let blob = self.file(&format!("blobs/sha256/{}", digest.to_hex()))?.ok_or_else(missing)?;
        let altered = |found| ImportError::BlobAltered { expected: *digest, found };
        if blob.size_bytes() != *size_bytes {
            return Err(altered(format!(
                "{} bytes long, where the image says {size_bytes}",
                blob.size_bytes()
            )));
        }
        let found = digest_of(blob.clone()).map_err(unreadable(Path::new(&digest.to_string())))?;
        if found == *digest { Ok(blob) } else { Err(altered(found.to_string())) }
    }

    /// A document of the layout, whole.
    pub(crate) fn document(&self, descriptor: &Descriptor) -> Result<Vec<u8>, ImportError> {
        let name = descriptor.digest.to_string();
        if descriptor.size_bytes > limits::LAYOUT_DOCUMENT_BYTES {
            return Err(too_large(name));
        }
        let blob = self.blob(descriptor)?;
        let bytes = small(blob, &name)?;
        // The file may have changed since it was held against its digest.
        let found = Digest::of(&bytes);
        if found != descriptor.digest {
            return Err(ImportError::BlobAltered { expected: descriptor.digest, found: found.to_string() });
        }
        Ok(bytes)
    }

    /// A document that no descriptor names, whole; `None` where it is not there.
    pub(crate) fn named_document(&self, name: &str) -> Result<Option<Vec<u8>>, ImportError> {
        self.file(name)?.map(|section| small(section, name)).transpose()
    }
}

fn small(section: Section, name: &str) -> Result<Vec<u8>, ImportError> {
    if section.size_bytes() > limits::LAYOUT_DOCUMENT_BYTES {
        return Err(too_large(name.to_owned()));
    }
    let mut bytes = Vec::new();
    section
        .take(limits::LAYOUT_DOCUMENT_BYTES)
        .read_to_end(&mut bytes)
        .map_err(unreadable(Path::new(name)))?;
    Ok(bytes)
}

fn too_large(document: String) -> ImportError {
    let why = format!("it has more than {} bytes", limits::LAYOUT_DOCUMENT_BYTES);
    ImportError::Document { document, why }
}

/// Opens a file part by part: a part of one component that is no link cannot lead anywhere else.
fn open_below(root: &OwnedFd, name: &str) -> Result<File, Errno> {
    let common = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut here = None;
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let flags = common | if is_last { OFlags::NONBLOCK } else { OFlags::DIRECTORY };
        here = Some(openat(here.as_ref().unwrap_or(root), part, flags, Mode::empty())?);
    }
    here.map(File::from).ok_or(Errno::NOENT)
}

fn digest_of(mut section: Section) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match section.read(&mut buffer)? {
            0 => return Ok(Digest::from_bytes(hasher.finalize().into())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> ImportError + use<> {
    let path = path.to_path_buf();
    move |source| ImportError::Unreadable { path: path.clone(), source }
}
