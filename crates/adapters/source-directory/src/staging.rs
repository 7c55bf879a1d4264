use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, renameat, unlinkat};
use rustix::io::Errno;

use crate::open::{self, Listed};
use crate::{EntryPath, ExportError};

pub(crate) const DIRECTORY_MODE: Mode =
    Mode::RWXU.union(Mode::RGRP).union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

/// A directory beside the one that is to be made. Dropping it before it was published leaves nothing behind.
pub(crate) struct Staging {
    dir: PathBuf,
    parent: OwnedFd,
    target: OsString,
    name: String,
    is_published: bool,
}

impl Staging {
    /// Makes it, where `dir` does not exist or is an empty directory.
    pub(crate) fn beside(dir: &Path) -> Result<Self, ExportError> {
        let refused = |source: io::Error| ExportError::NotADirectory { path: dir.to_owned(), source };
        let target = dir.file_name().ok_or_else(|| refused(io::ErrorKind::InvalidInput.into()))?;
        let above = dir.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(above, flags, Mode::empty()).map_err(|errno| refused(errno.into()))?;
        expect_room(&parent, target, dir)?;
        let name = make_beside(&parent)
            .map_err(|errno| ExportError::Unwritable { path: EntryPath::top(), source: errno.into() })?;
        Ok(Self { dir: dir.to_owned(), parent, target: target.to_owned(), name, is_published: false })
    }

    pub(crate) fn top(&self) -> Result<OwnedFd, ExportError> {
        open::directory(&self.parent, &self.name)
            .map_err(|errno| ExportError::Unwritable { path: EntryPath::top(), source: errno.into() })
    }

    /// Gives the directory its name. Whoever made something of that name meanwhile keeps it, unless it is an empty
    /// directory.
    pub(crate) fn publish(mut self) -> Result<(), ExportError> {
        match renameat(&self.parent, &self.name, &self.parent, &self.target) {
            Ok(()) => {
                self.is_published = true;
                Ok(())
            }
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(ExportError::NotEmpty { path: self.dir.clone() }),
            Err(errno) => Err(ExportError::NotADirectory { path: self.dir.clone(), source: errno.into() }),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_published {
            remove(&self.parent, self.name.as_bytes());
        }
    }
}

/// Says at once what the rename at the end would say.
fn expect_room(parent: &OwnedFd, target: &OsStr, dir: &Path) -> Result<(), ExportError> {
    let refused = |errno: Errno| ExportError::NotADirectory { path: dir.to_owned(), source: errno.into() };
    let directory = match open::directory(parent, target) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(refused(errno)),
    };
    match open::list(&directory).map_err(refused)?.next() {
        None => Ok(()),
        Some(_) => Err(ExportError::NotEmpty { path: dir.to_owned() }),
    }
}

/// Makes a directory under the first name that nobody has.
fn make_beside(parent: &OwnedFd) -> Result<String, Errno> {
    let mut number = 0_u32;
    loop {
        let name = format!(".ambit-export-{}-{number}", std::process::id());
        match mkdirat(parent, &name, DIRECTORY_MODE) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) => number = number.checked_add(1).ok_or(Errno::EXIST)?,
            Err(errno) => return Err(errno),
        }
    }
}

/// Removes a directory with everything in it, as far as that is possible, and follows nothing.
fn remove(parent: &OwnedFd, name: &[u8]) {
    if let Ok(directory) = open::directory(parent, name) {
        let entries: Vec<Listed> = open::list(&directory).into_iter().flatten().flatten().collect();
        for Listed { name, .. } in entries {
            if unlinkat(&directory, &name, AtFlags::empty()).is_err() {
                remove(&directory, name.to_bytes());
            }
        }
    }
    let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
}
