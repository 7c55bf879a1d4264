use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ambit_ids::{Digest, Scope};
use ambit_ports::blobs::BlobError;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, RenameFlags, flock, fsync, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::batch::Staging;
use crate::disk::failed;
use crate::layout::{BlobName, Found, Layout, look};

/// Counts the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where a blob waits for its name, and how it gets it.
pub(crate) enum Home {
    /// By itself.
    Alone(Arc<Layout>, Scope),
    /// With the others of a batch.
    Batch(Arc<Staging>),
}

impl Home {
    fn directory(&self) -> &OwnedFd {
        match self {
            Self::Alone(layout, _) => &layout.root.incoming,
            Self::Batch(staging) => staging.directory(),
        }
    }
}

/// A blob that has no name yet. Dropping it leaves nothing behind.
///
/// It is locked while it is written, so that another process tells it from what a crash left. In a batch the lock of
/// its directory stands for it.
pub(crate) struct Incoming {
    home: Home,
    file: File,
    name: String,
    hasher: Sha256,
    size_bytes: u64,
    published: bool,
}

impl Incoming {
    pub(crate) fn create(home: Home) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = new_name();
        let file = openat(home.directory(), &name, flags, Mode::RUSR | Mode::WUSR)?;
        let incoming =
            Self { home, file: file.into(), name, hasher: Sha256::new(), size_bytes: 0, published: false };
        if matches!(incoming.home, Home::Alone(..)) {
            flock(&incoming.file, FlockOperation::NonBlockingLockExclusive)?;
        }
        Ok(incoming)
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Gives the blob its name, durably, or hands it over to its batch, and answers its digest and size.
    pub(crate) fn publish(mut self) -> Result<(Digest, u64), BlobError> {
        let digest = Digest::from_bytes(self.hasher.finalize_reset().into());
        match &self.home {
            Home::Alone(layout, scope) => self.published = self.name(layout, scope, digest)?,
            Home::Batch(staging) => self.published = staging.take(digest, self.size_bytes, &self.name)?,
        }
        Ok((digest, self.size_bytes))
    }

    /// Whether the file itself took the name; another one with the same bytes may have it.
    fn name(&self, layout: &Layout, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        let name = BlobName::of(digest);
        let shard = layout.ensure(scope, &name).map_err(failed)?;
        // The bytes before the name: a name without bytes is what a crash must not leave.
        fsync(&self.file).map_err(failed)?;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&layout.root.incoming, &self.name, &shard, &name.file, flags) {
            Ok(()) => {
                layout.settle(scope, &name, &shard).map_err(failed)?;
                Ok(true)
            }
            Err(Errno::EXIST) if is_stored(layout, scope, &shard, digest, self.size_bytes)? => Ok(false),
            Err(errno) => Err(failed(errno)),
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.published {
            let _ = unlinkat(self.home.directory(), &self.name, AtFlags::empty());
        }
    }
}

/// A name that nothing else in the directory had or will have.
pub(crate) fn new_name() -> String {
    // With the time, since the number of a process comes back: a name that did could be removed as stale.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{since}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
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
