use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FlockOperation, Mode, flock, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::fresh::{new_file, new_name};
use crate::layout::Layout;
use crate::root::TO_DIRECTORY;
use crate::stale::remove_files;

/// A directory in which blobs of a batch wait for their names. Dropping it removes it, with what did not get one.
///
/// It is locked, so that another process tells it from what a crash left.
pub(crate) struct Room {
    layout: Arc<Layout>,
    name: String,
    directory: OwnedFd,
    next: AtomicU64,
}

impl Room {
    pub(crate) fn make(layout: Arc<Layout>) -> Result<Self, Errno> {
        let name = new_name();
        mkdirat(&layout.root.incoming, &name, Mode::RWXU)?;
        let directory = openat(&layout.root.incoming, &name, TO_DIRECTORY, Mode::empty())?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { layout, name, directory, next: AtomicU64::new(0) })
    }

    pub(crate) const fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// An empty file, and its name.
    pub(crate) fn file(&self) -> Result<(File, String), Errno> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        Ok((new_file(&self.directory, &name)?, name))
    }

    /// The name of a new file with these bytes.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<String> {
        let (mut file, name) = self.file()?;
        match file.write_all(bytes) {
            Ok(()) => Ok(name),
            Err(error) => {
                let _ = unlinkat(&self.directory, &name, AtFlags::empty());
                Err(error)
            }
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = remove_files(&self.directory);
        let _ = unlinkat(&self.layout.root.incoming, &self.name, AtFlags::REMOVEDIR);
    }
}
