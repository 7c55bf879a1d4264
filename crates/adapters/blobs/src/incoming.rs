use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_ids::{Digest, Scope};
use ambit_ports::blobs::BlobError;
use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, flock, fstat, fsync, openat,
    renameat_with, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::disk::failed;
use crate::layout::{BlobName, Found, Layout, look};

/// How long a file that nobody writes any more is left alone.
const STALE: Duration = Duration::from_secs(3_600);

/// Counts the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A blob that has no name yet. Dropping it leaves nothing behind.
///
/// It is locked while it is written, so that another process tells it from what a crash left.
pub(crate) struct Incoming {
    layout: Arc<Layout>,
    file: File,
    name: String,
    hasher: Sha256,
    size_bytes: u64,
    published: bool,
}

impl Incoming {
    pub(crate) fn create(layout: Arc<Layout>) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // With the time, since the number of a process comes back: a name that did could be removed as stale.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("{}-{since}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let file = openat(&layout.root.incoming, &name, flags, Mode::RUSR | Mode::WUSR)?;
        let incoming =
            Self { layout, file: file.into(), name, hasher: Sha256::new(), size_bytes: 0, published: false };
        flock(&incoming.file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(incoming)
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Gives the blob its name, durably, and answers its digest and size.
    pub(crate) fn publish(mut self, scope: &Scope) -> Result<(Digest, u64), BlobError> {
        let digest = Digest::from_bytes(self.hasher.finalize_reset().into());
        let name = BlobName::of(digest);
        let shard = self.layout.ensure(scope, &name).map_err(failed)?;
        // The bytes before the name: a name without bytes is what a crash must not leave.
        fsync(&self.file).map_err(failed)?;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&self.layout.root.incoming, &self.name, &shard, &name.file, flags) {
            Ok(()) => {
                self.published = true;
                self.layout.settle(scope, &name, &shard).map_err(failed)?;
            }
            Err(Errno::EXIST) if is_stored(&self.layout, scope, &shard, digest, self.size_bytes)? => {}
            Err(errno) => return Err(failed(errno)),
        }
        Ok((digest, self.size_bytes))
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.published {
            let _ = unlinkat(&self.layout.root.incoming, &self.name, AtFlags::empty());
        }
    }
}

/// Whether a blob is stored already. It then is durable, too, whoever stored it.
///
/// The size alone is compared: a file under this name was whole when it got it.
pub(crate) fn is_stored(
    layout: &Layout,
    scope: &Scope,
    shard: &OwnedFd,
    digest: Digest,
    size_bytes: u64,
) -> Result<bool, BlobError> {
    let name = BlobName::of(digest);
    match look(shard, &name).map_err(failed)? {
        Found::Nothing => Ok(false),
        Found::File(_, found) if found == size_bytes => {
            layout.settle(scope, &name, shard).map_err(failed)?;
            Ok(true)
        }
        Found::File(..) | Found::Other => Err(BlobError::Corrupt(digest)),
    }
}

/// Removes what crashes left, an hour after it was last written to.
pub(crate) fn remove_stale(layout: &Layout, now: SystemTime) -> Result<(), Errno> {
    let incoming = &layout.root.incoming;
    for entry in Dir::read_from(incoming)? {
        let entry = entry?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(incoming, entry.file_name(), flags, Mode::empty()) else { continue };
        let found = fstat(&file)?;
        let file = File::from(file);
        let ours = FileType::from_raw_mode(found.st_mode).is_file()
            && found.st_uid == rustix::process::geteuid().as_raw();
        let written = file.metadata().and_then(|metadata| metadata.modified());
        let old = written.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age >= STALE));
        if ours && old && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            match unlinkat(incoming, entry.file_name(), AtFlags::empty()) {
                // Another process was faster.
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    Ok(())
}
