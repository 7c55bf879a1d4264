use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long one waits before it looks again whether a lock is free.
const PAUSE: Duration = Duration::from_millis(20);

/// Nobody else works on a mirror while this is held, by this process or by a child that has it open.
pub(crate) struct Lock(File);

impl Lock {
    /// Takes it, as soon as nobody else holds it; `None` where another does until `deadline`.
    pub(crate) fn take(path: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self(file))),
                Err(Errno::WOULDBLOCK) if Instant::now() >= deadline => return Ok(None),
                // The kernel waits for a lock with no deadline, or not at all.
                Err(Errno::WOULDBLOCK) => sleep(PAUSE),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// The empty file that is locked. A child that has it open keeps the lock, should this process die before it.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.0.try_clone()
    }
}
