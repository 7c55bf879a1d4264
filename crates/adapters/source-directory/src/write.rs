use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use ambit_ids::RepoPath;
use bytes::Bytes;
use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use tokio::sync::mpsc::Receiver;

use crate::open;
use crate::staging::{DIRECTORY_MODE, Staging};
use crate::{EntryPath, ExportError};

const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);
const EXECUTABLE_MODE: Mode = FILE_MODE.union(Mode::XUSR).union(Mode::XGRP).union(Mode::XOTH);
/// A new file, and never one that is there already or that a link leads to.
const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What is to be written next.
pub(crate) enum Write {
    /// An entry. Those of one directory come one after the other.
    Entry(RepoPath, Entry),
    /// Nothing any more: everything was written.
    End,
}

/// What is to stand at a path.
pub(crate) enum Entry {
    /// A file.
    File {
        /// Its content.
        bytes: Bytes,
        /// Whether it can be executed.
        is_executable: bool,
    },
    /// Nothing yet: a link is written once all directories are there.
    PlaceOfLink,
    /// A link to this target.
    Link {
        /// Where it leads, in the link's own words.
        target: Bytes,
    },
}

/// Writes everything that comes, and gives it its name once the end came. Whatever was written before an error or before
/// the other side went away is removed again.
pub(crate) fn write(dir: &Path, mut writes: Receiver<Write>) -> Result<(), ExportError> {
    let staging = Staging::beside(dir)?;
    let mut writer = Writer::new(staging.top()?);
    loop {
        match writes.blocking_recv() {
            Some(Write::Entry(path, entry)) => writer.entry(&path, entry)?,
            Some(Write::End) => return staging.publish(),
            None => return Err(ExportError::Interrupted),
        }
    }
}

/// Writes entries below a directory that was empty.
pub(crate) struct Writer {
    top: OwnedFd,
    /// The directories from the top to the entry that was written last, each with its name.
    open: Vec<(Vec<u8>, OwnedFd)>,
}

impl Writer {
    pub(crate) const fn new(top: OwnedFd) -> Self {
        Self { top, open: Vec::new() }
    }

    pub(crate) fn entry(&mut self, path: &RepoPath, entry: Entry) -> Result<(), ExportError> {
        let failed = |errno: Errno| failed_at(EntryPath::from(path), errno);
        let name = path.file_name();
        match entry {
            Entry::File { bytes, is_executable } => {
                let mode = if is_executable { EXECUTABLE_MODE } else { FILE_MODE };
                let file = openat(self.enter(path, true)?, name, NEW, mode).map_err(failed)?;
                let written = File::from(file).write_all(&bytes);
                written.map_err(|source| ExportError::Unwritable { path: path.into(), source })
            }
            Entry::PlaceOfLink => self.enter(path, true).map(drop),
            Entry::Link { target } => {
                symlinkat(target.as_ref(), self.enter(path, false)?, name).map_err(failed)
            }
        }
    }

    /// The directory of a path. Those on the way that are not open are made, or else were made before.
    fn enter(&mut self, path: &RepoPath, make: bool) -> Result<&OwnedFd, ExportError> {
        let mut names: Vec<&[u8]> = path.components().collect();
        names.pop();
        let shared = self.open.iter().zip(&names).take_while(|((open, _), name)| open == *name).count();
        self.open.truncate(shared);
        for name in &names[shared..] {
            let above = self.open.last().map_or(&self.top, |(_, directory)| directory);
            let failed = |errno: Errno| {
                let place = self.open.iter().fold(EntryPath::top(), |path, (open, _)| path.below(open));
                failed_at(place.below(name), errno)
            };
            if make {
                mkdirat(above, *name, DIRECTORY_MODE).map_err(failed)?;
            }
            let directory = open::directory(above, *name).map_err(failed)?;
            self.open.push((name.to_vec(), directory));
        }
        Ok(self.open.last().map_or(&self.top, |(_, directory)| directory))
    }
}

/// Everything is written once and into nothing, so what is there already is another name of the tree.
fn failed_at(path: EntryPath, errno: Errno) -> ExportError {
    match errno {
        Errno::EXIST => ExportError::Collision { path },
        _ => ExportError::Unwritable { path, source: errno.into() },
    }
}
