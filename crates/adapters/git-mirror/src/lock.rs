use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Nobody else works on a mirror while this is held, by this process or by a child that has it open.
pub(crate) struct Lock(File);

impl Lock {
    /// Takes it; `None` where another holds it.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Self>> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The empty file that is locked. A child that has it open keeps the lock, should this process die before it.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.0.try_clone()
    }
}
