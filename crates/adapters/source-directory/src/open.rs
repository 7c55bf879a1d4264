//! How entries are opened and read: by name in an open directory, never through a link and never by waiting.
//!
//! A name of one component, without `..` and with `O_NOFOLLOW`, cannot lead out of the directory in which it is opened,
//! whatever is moved about meanwhile. So nothing here needs `openat2`, which not every sandbox lets through.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, readlinkat, statat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::{EntryPath, ImportError};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Without `NONBLOCK`, opening a pipe that took the place of a file would wait for its other end.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Why an entry could not be read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is not any more what it was.
    Changed,
    /// The system refuses.
    Io(io::Error),
}

impl Fault {
    pub(crate) fn at(self, path: &EntryPath) -> ImportError {
        let path = path.clone();
        match self {
            Self::Changed => ImportError::Changed { path },
            Self::Io(source) => ImportError::Unreadable { path, source },
        }
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        match errno {
            // Gone, or a link, a file or a socket where there was something else.
            Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::NXIO => Self::Changed,
            _ => Self::Io(errno.into()),
        }
    }
}

/// One entry of a directory, and what the directory says that it is.
pub(crate) struct Listed {
    pub(crate) name: CString,
    pub(crate) file_type: FileType,
}

/// Opens the directory that somebody named. Links on the way to it are followed, it may not be one itself.
pub(crate) fn top(path: &Path) -> Result<OwnedFd, Errno> {
    // A slash at the end would follow a link.
    open(path.components().as_path(), DIRECTORY, Mode::empty())
}

/// Opens a directory in another one.
pub(crate) fn directory(parent: &OwnedFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    openat(parent, name, DIRECTORY, Mode::empty())
}

/// The entries of a directory, in no order.
pub(crate) fn list(directory: &OwnedFd) -> Result<impl Iterator<Item = Result<Listed, Errno>>, Errno> {
    let entries = Dir::read_from(directory)?;
    Ok(entries
        .map(|entry| {
            entry.map(|entry| Listed { name: entry.file_name().into(), file_type: entry.file_type() })
        })
        .filter(|entry| !matches!(entry, Ok(entry) if matches!(entry.name.to_bytes(), b"." | b".."))))
}

/// What an entry is, asked anew.
pub(crate) fn file_type(parent: &OwnedFd, name: &CStr) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode))
}

/// The target of a link.
pub(crate) fn link_target(parent: &OwnedFd, name: &CStr) -> Result<Vec<u8>, Fault> {
    match readlinkat(parent, name, Vec::new()) {
        Ok(target) => Ok(target.into_bytes()),
        Err(Errno::INVAL) => Err(Fault::Changed),
        Err(errno) => Err(errno.into()),
    }
}

/// A file that is being read.
pub(crate) struct OpenFile {
    file: File,
    opened: Stat,
}

impl OpenFile {
    pub(crate) fn open(parent: &OwnedFd, name: &CStr) -> Result<Self, Fault> {
        let file = openat(parent, name, FILE, Mode::empty())?;
        let opened = fstat(&file)?;
        if !FileType::from_raw_mode(opened.st_mode).is_file() {
            return Err(Fault::Changed);
        }
        Ok(Self { file: file.into(), opened })
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        u64::try_from(self.opened.st_size).unwrap_or(u64::MAX)
    }

    /// Whether its owner may execute it.
    pub(crate) fn is_executable(&self) -> bool {
        Mode::from_raw_mode(self.opened.st_mode).contains(Mode::XUSR)
    }

    /// All bytes of a file that has at most `limit_bytes`.
    pub(crate) fn whole(&mut self, limit_bytes: usize) -> Result<Vec<u8>, Fault> {
        // One byte more than it may have, so that a file that grew is known by it.
        let bytes = self.read(limit_bytes + 1)?;
        self.unchanged(bytes.len() as u64)?;
        Ok(bytes)
    }

    /// The next bytes, `limit_bytes` of them unless the file ends before.
    pub(crate) fn read(&mut self, limit_bytes: usize) -> Result<Vec<u8>, Fault> {
        let rest_bytes = usize::try_from(self.size_bytes()).unwrap_or(usize::MAX).saturating_add(1);
        let mut bytes = Vec::with_capacity(limit_bytes.min(rest_bytes));
        let mut part = (&self.file).take(limit_bytes as u64);
        part.read_to_end(&mut bytes).map_err(Fault::Io)?;
        Ok(bytes)
    }

    /// Says that the file did not change since it was opened and that `read_bytes` are all that it has.
    pub(crate) fn unchanged(&self, read_bytes: u64) -> Result<(), Fault> {
        let now = fstat(&self.file)?;
        if read_bytes == self.size_bytes() && stamp(&now) == stamp(&self.opened) {
            return Ok(());
        }
        Err(Fault::Changed)
    }
}

/// What tells two states of one file apart. The time of the last change of state cannot be set back, as that of the last
/// write can.
fn stamp(stat: &Stat) -> [i128; 5] {
    [
        stat.st_size.into(),
        stat.st_mtime.into(),
        stat.st_mtime_nsec.into(),
        stat.st_ctime.into(),
        stat.st_ctime_nsec.into(),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A directory with one entry of each kind that can take the place of another, and the way out of it.
    fn tricks() -> (tempfile::TempDir, OwnedFd) {
        let outside = tempfile::tempdir().unwrap();
        let inside = outside.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        fs::write(inside.join("file"), "file").unwrap();
        fs::create_dir(inside.join("directory")).unwrap();
        symlink("../secret", inside.join("link")).unwrap();
        symlink("..", inside.join("directory-link")).unwrap();
        let pipe =
            rustix::fs::mknodat(top(&inside).unwrap(), "pipe", FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
        pipe.unwrap();
        let opened = top(&inside).unwrap();
        (outside, opened)
    }

    fn is_changed<T>(outcome: &Result<T, Fault>) -> bool {
        matches!(outcome, Err(Fault::Changed))
    }

    #[test]
    fn what_took_the_place_of_a_file_is_not_read() {
        let (_kept, inside) = tricks();
        for name in [c"link", c"directory", c"directory-link", c"pipe", c"none"] {
            assert!(is_changed(&OpenFile::open(&inside, name)), "{name:?}");
        }
        assert_eq!(OpenFile::open(&inside, c"file").unwrap().read(9).unwrap(), b"file");
    }

    #[test]
    fn what_took_the_place_of_a_directory_is_not_entered() {
        let (_kept, inside) = tricks();
        for name in [c"link", c"file", c"directory-link", c"pipe", c"none"] {
            assert!(is_changed(&directory(&inside, name).map_err(Fault::from)), "{name:?}");
        }
        assert!(directory(&inside, c"directory").is_ok());
    }

    #[test]
    fn what_took_the_place_of_a_link_has_no_target() {
        let (_kept, inside) = tricks();
        for name in [c"file", c"directory", c"pipe", c"none"] {
            assert!(is_changed(&link_target(&inside, name)), "{name:?}");
        }
        assert_eq!(link_target(&inside, c"link").unwrap(), b"../secret");
    }

    #[test]
    fn a_file_that_was_written_to_meanwhile_has_changed() {
        let (kept, inside) = tricks();
        let path = kept.path().join("inside/file");
        let read = |change: &dyn Fn()| {
            let mut file = OpenFile::open(&inside, c"file").unwrap();
            let bytes = file.read(100).unwrap();
            change();
            file.unchanged(bytes.len() as u64)
        };
        assert!(read(&|| {}).is_ok());
        assert!(is_changed(&read(&|| fs::write(&path, "longer").unwrap())));
        // The same bytes with the old time of writing: only the change of state tells.
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        assert!(is_changed(&read(&|| {
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(before).unwrap();
        })));
        let mut file = OpenFile::open(&inside, c"file").unwrap();
        let part = file.read(2).unwrap();
        assert!(is_changed(&file.unchanged(part.len() as u64)));
    }
}
