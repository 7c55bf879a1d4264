use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// Counts the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A file that is not there yet, for its owner alone.
pub(crate) fn new_file(directory: &OwnedFd, name: &str) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// A name that nothing else in the directory had or will have.
pub(crate) fn new_name() -> String {
    // With the time, since the number of a process comes back: a name that did could be removed as stale.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{since}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
