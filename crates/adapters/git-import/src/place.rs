//! Files within a repository: opened by one component after the other, never through a link and never by waiting.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Without `NONBLOCK`, opening a pipe would wait for its other end.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// An open directory, and its name for messages.
pub(crate) struct Place {
    directory: OwnedFd,
    path: PathBuf,
}

impl Place {
    /// Opens the directory that somebody named. Links on the way to it are followed, it may not be one itself.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        // A slash at the end would follow a link.
        let directory = open(path.components().as_path(), DIRECTORY, Mode::empty())?;
        Ok(Self { directory, path: path.to_owned() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn path_of(&self, name: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(name))
    }

    /// A directory within; `None` where there is none.
    pub(crate) fn directory(&self, name: &[u8]) -> io::Result<Option<Self>> {
        let mut found: Option<OwnedFd> = None;
        for component in name.split(|byte| *byte == b'/') {
            let above = found.as_ref().unwrap_or(&self.directory);
            match openat(above, component, DIRECTORY, Mode::empty()) {
                Ok(below) => found = Some(below),
                Err(Errno::NOENT | Errno::NOTDIR) if !is_link(above, component) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(found.map(|directory| Self { directory, path: self.path_of(name) }))
    }

    /// A plain file within; `None` where there is nothing or a directory.
    pub(crate) fn file(&self, name: &[u8]) -> io::Result<Option<File>> {
        let (above, name) = match name.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => match self.directory(&name[..slash])? {
                Some(above) => (Some(above), &name[slash + 1..]),
                None => return Ok(None),
            },
            None => (None, name),
        };
        let above = above.as_ref().map_or(&self.directory, |above| &above.directory);
        let file = match openat(above, name, FILE, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::NAMETOOLONG) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(Some(file.into())),
            FileType::Directory => Ok(None),
            _ => Err(io::Error::other("it is no plain file")),
        }
    }

    /// All bytes of a file that has at most `limit_bytes`.
    pub(crate) fn read(&self, name: &[u8], limit_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit_bytes {
            return Err(io::Error::other("it is too large"));
        }
        Ok(Some(bytes))
    }

    /// The names of the entries, sorted, at most `limit` of them.
    pub(crate) fn names(&self, limit: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(name.to_vec());
            }
            if names.len() > limit {
                return Err(io::Error::other("it has too many entries"));
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn is_link(above: &OwnedFd, name: &[u8]) -> bool {
    let found = rustix::fs::statat(above, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}
