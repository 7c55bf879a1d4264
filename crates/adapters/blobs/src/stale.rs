//! What crashes left unfinished.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, unlinkat};
use rustix::io::Errno;

use crate::layout::Layout;

/// How long what nobody writes any more is left alone.
const STALE: Duration = Duration::from_secs(3_600);

/// Removes what crashes left, an hour after it was last written to: a blob, or the directory of a batch.
pub(crate) fn remove_stale(layout: &Layout, now: SystemTime) -> Result<(), Errno> {
    let incoming = &layout.root.incoming;
    for entry in Dir::read_from(incoming)? {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(found) = openat(incoming, entry.file_name(), flags, Mode::empty()) else { continue };
        let kind = FileType::from_raw_mode(fstat(&found)?.st_mode);
        let is_directory = kind == FileType::Directory;
        if !(kind.is_file() || is_directory) || !is_abandoned(&found, now)? {
            continue;
        }
        if is_directory {
            remove_files(&found)?;
        }
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match unlinkat(incoming, entry.file_name(), flags) {
            // Another process was faster.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Whether it is ours, old, and locked by nobody.
fn is_abandoned(found: &OwnedFd, now: SystemTime) -> Result<bool, Errno> {
    let ours = fstat(found)?.st_uid == rustix::process::geteuid().as_raw();
    let written = found.try_clone().and_then(|file| File::from(file).metadata()?.modified());
    let old = written.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age >= STALE));
    Ok(ours && old && flock(found, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Removes the files of the directory of a batch.
pub(crate) fn remove_files(directory: impl AsFd) -> Result<(), Errno> {
    let directory = directory.as_fd();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        match unlinkat(directory, entry.file_name(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
