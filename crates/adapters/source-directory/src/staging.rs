use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::open::{self, Listed};
use crate::walk::open_top;
use crate::{EntryPath, ExportError};

pub(crate) const DIRECTORY_MODE: Mode =
    Mode::RWXU.union(Mode::RGRP).union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

/// A directory beside the one that is to be made. Dropping it before it was published leaves nothing behind.
pub(crate) struct Staging {
    dir: PathBuf,
    parent: OwnedFd,
    target: OsString,
    name: String,
    room: Room,
    is_published: bool,
}

/// What may stand under the name of the directory that is to be made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// Nothing, or an empty directory.
    Empty,
    /// Nothing.
    Nothing,
}

impl Staging {
    /// Makes it, where `dir` does not exist or is an empty directory.
    pub(crate) fn beside(dir: &Path) -> Result<Self, ExportError> {
        Self::make(dir, Room::Empty, None)
    }

    /// Makes it, where `dir` does not exist and is not to lie within `source`.
    pub(crate) fn anew(dir: &Path, source: &Path) -> Result<Self, ExportError> {
        let source = open_top(source).map_err(ExportError::Source)?;
        Self::make(dir, Room::Nothing, Some(&source))
    }

    fn make(dir: &Path, room: Room, apart_from: Option<&OwnedFd>) -> Result<Self, ExportError> {
        let refused = |source: io::Error| ExportError::NotADirectory { path: dir.to_owned(), source };
        let target = dir.file_name().ok_or_else(|| refused(io::ErrorKind::InvalidInput.into()))?;
        let above = dir.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(above, flags, Mode::empty()).map_err(|errno| refused(errno.into()))?;
        expect_room(&parent, target, dir, room)?;
        if let Some(source) = apart_from
            && is_within(&parent, source).map_err(|errno| refused(errno.into()))?
        {
            return Err(ExportError::WithinSource { path: dir.to_owned() });
        }
        let name = make_beside(&parent)
            .map_err(|errno| ExportError::Unwritable { path: EntryPath::top(), source: errno.into() })?;
        Ok(Self { dir: dir.to_owned(), parent, target: target.to_owned(), name, room, is_published: false })
    }

    pub(crate) fn top(&self) -> Result<OwnedFd, ExportError> {
        open::directory(&self.parent, &self.name)
            .map_err(|errno| ExportError::Unwritable { path: EntryPath::top(), source: errno.into() })
    }

    /// Gives the directory its name. Whoever made something of that name meanwhile keeps it, unless it is an empty
    /// directory.
    pub(crate) fn publish(mut self) -> Result<(), ExportError> {
        match self.rename() {
            Ok(()) => {
                self.is_published = true;
                Ok(())
            }
            Err(Errno::EXIST) if self.room == Room::Nothing => {
                Err(ExportError::Exists { path: self.dir.clone() })
            }
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(ExportError::NotEmpty { path: self.dir.clone() }),
            Err(errno) => Err(ExportError::NotADirectory { path: self.dir.clone(), source: errno.into() }),
        }
    }
}

impl Staging {
    fn rename(&self) -> Result<(), Errno> {
        let (parent, name, target) = (&self.parent, &self.name, &self.target);
        if self.room == Room::Nothing {
            match renameat_with(parent, name, parent, target, RenameFlags::NOREPLACE) {
                // A file system that knows no such flag.
                Err(Errno::INVAL | Errno::NOSYS) => {}
                renamed => return renamed,
            }
        }
        renameat(parent, name, parent, target)
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
fn expect_room(parent: &OwnedFd, target: &OsStr, dir: &Path, room: Room) -> Result<(), ExportError> {
    let refused = |errno: Errno| ExportError::NotADirectory { path: dir.to_owned(), source: errno.into() };
    if room == Room::Nothing {
        return match statat(parent, target, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(refused(errno)),
            Ok(_) => Err(ExportError::Exists { path: dir.to_owned() }),
        };
    }
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

/// Whether a directory is another one or lies anywhere below it, by what they are and not by what they are called.
fn is_within(directory: &OwnedFd, above: &OwnedFd) -> Result<bool, Errno> {
    let identity = |directory: &OwnedFd| fstat(directory).map(|stat| (stat.st_dev, stat.st_ino));
    let climb = |from: &OwnedFd, name: &CStr| {
        openat(from, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    };
    let above = identity(above)?;
    let mut at = climb(directory, c".")?;
    loop {
        let here = identity(&at)?;
        if here == above {
            return Ok(true);
        }
        let parent = climb(&at, c"..")?;
        if identity(&parent)? == here {
            return Ok(false);
        }
        at = parent;
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
