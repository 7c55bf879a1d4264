//! The digest of an image: SHA-256 of a manifest of every entry below its root.
//!
//! The manifest is this byte string:
//!
//! ```text
//! ambit image 1\n
//! d MODE LENGTH:PATH\n                  a directory
//! f MODE SIZE SHA256 LENGTH:PATH\n      a file
//! l LENGTH:PATH LENGTH:TARGET\n         a symbolic link
//! o MODE LENGTH:PATH\n                  anything else; never captured, so it only ever spoils a digest
//! ```
//!
//! - Entries are sorted by the bytes of their paths. The root itself is the entry with the empty path.
//! - PATH is relative to the root, without a leading `/`; PATH and TARGET are raw bytes, and LENGTH counts them in
//!   decimal, so that no name can pretend to be a second line.
//! - MODE is `st_mode & 07777` as four octal digits. SIZE is decimal. SHA256 is 64 lower-case hexadecimal digits.
//! - Owners, times and the number of names of an inode are not part of it.
//!
//! The image digest is SHA-256 of these bytes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, Digest};
use ambit_ports::images::ImageError;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::limits;

const HEADER: &[u8] = b"ambit image 1\n";

/// What one line of the manifest tells.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Directory { mode: u32 },
    File { mode: u32, size_bytes: u64, content: Digest },
    Link { target: Vec<u8> },
    Other { mode: u32 },
}

impl Entry {
    fn write(&self, path: &[u8], manifest: &mut Vec<u8>) {
        match self {
            Self::Directory { mode } => manifest.extend(format!("d {mode:04o} ").bytes()),
            Self::File { mode, size_bytes, content } => {
                manifest.extend(format!("f {mode:04o} {size_bytes} {} ", content.to_hex()).bytes());
            }
            Self::Link { .. } => manifest.extend(b"l "),
            Self::Other { mode } => manifest.extend(format!("o {mode:04o} ").bytes()),
        }
        write_counted(path, manifest);
        if let Self::Link { target } = self {
            manifest.push(b' ');
            write_counted(target, manifest);
        }
        manifest.push(b'\n');
    }
}

fn write_counted(bytes: &[u8], manifest: &mut Vec<u8>) {
    manifest.extend(format!("{}:", bytes.len()).bytes());
    manifest.extend(bytes);
}

/// A directory tree as it lies on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// The digest of its manifest.
    pub(crate) digest: Digest,
    /// Files and links.
    pub(crate) entries: u64,
    /// The sum of the file sizes; a file with several names counts once.
    pub(crate) size_bytes: ByteCount,
}

impl Tree {
    /// Reads every byte below `root`. No link is followed.
    pub(crate) fn read(root: &Path) -> Result<Self, ImageError> {
        let mut reading =
            Reading { root, entries: BTreeMap::new(), contents: BTreeMap::new(), size_bytes: 0 };
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            reading.directory(directory, &mut pending)?;
        }
        Ok(reading.finish())
    }
}

struct Reading<'a> {
    root: &'a Path,
    entries: BTreeMap<Vec<u8>, Entry>,
    /// The digest of every inode with several names, so that it is read once.
    contents: BTreeMap<(u64, u64), Digest>,
    size_bytes: u64,
}

impl Reading<'_> {
    fn directory(&mut self, path: PathBuf, pending: &mut Vec<PathBuf>) -> Result<(), ImageError> {
        let full = self.root.join(&path);
        let at = failed_at(&full);
        let mode = fs::symlink_metadata(&full).map_err(&at)?.mode() & 0o7777;
        for child in fs::read_dir(&full).map_err(&at)? {
            let name = child.map_err(&at)?.file_name();
            let path = path.join(name);
            let full = self.root.join(&path);
            let metadata = fs::symlink_metadata(&full).map_err(failed_at(&full))?;
            if metadata.is_dir() {
                pending.push(path);
            } else {
                let entry = self.leaf(&full, &metadata).map_err(failed_at(&full))?;
                self.insert(path.into_os_string(), entry)?;
            }
        }
        self.insert(path.into_os_string(), Entry::Directory { mode })
    }

    fn leaf(&mut self, full: &Path, metadata: &Metadata) -> io::Result<Entry> {
        let mode = metadata.mode() & 0o7777;
        if metadata.is_symlink() {
            return Ok(Entry::Link { target: fs::read_link(full)?.into_os_string().into_vec() });
        }
        if !metadata.is_file() {
            return Ok(Entry::Other { mode });
        }
        let inode = (metadata.dev(), metadata.ino());
        let content = match self.contents.get(&inode) {
            Some(known) => *known,
            None => {
                let content = digest_file(full)?;
                if metadata.nlink() > 1 {
                    self.contents.insert(inode, content);
                }
                self.size_bytes += metadata.len();
                content
            }
        };
        Ok(Entry::File { mode, size_bytes: metadata.len(), content })
    }

    fn insert(&mut self, path: OsString, entry: Entry) -> Result<(), ImageError> {
        self.entries.insert(path.into_vec(), entry);
        if self.entries.len() > limits::IMAGE_ENTRIES {
            let reason = format!("more than {} entries", limits::IMAGE_ENTRIES);
            return Err(failed_at(self.root)(io::Error::new(io::ErrorKind::InvalidData, reason)));
        }
        Ok(())
    }

    fn finish(self) -> Tree {
        let mut manifest = HEADER.to_vec();
        let mut entries = 0;
        for (path, entry) in &self.entries {
            entry.write(path, &mut manifest);
            entries += u64::from(!matches!(entry, Entry::Directory { .. }));
        }
        Tree { digest: Digest::of(&manifest), entries, size_bytes: ByteCount::new(self.size_bytes) }
    }
}

/// Opens a regular file for reading; fails on a link instead of following it, and never waits on a pipe.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

fn digest_file(path: &Path) -> io::Result<Digest> {
    let mut file = open_regular(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest::from_bytes(hasher.finalize().into())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Makes of an I/O error one that names its place.
pub(crate) fn failed_at(path: &Path) -> impl Fn(io::Error) -> ImageError {
    move |source| ImageError::Io { path: path.to_path_buf(), source }
}
