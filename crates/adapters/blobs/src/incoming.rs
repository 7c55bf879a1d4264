use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use ambit_ids::{Digest, Scope};
use ambit_ports::blobs::BlobError;
use rustix::fs::{AtFlags, FlockOperation, RenameFlags, flock, fsync, renameat_with, unlinkat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::disk::failed;
use crate::fresh::{new_file, new_name};
use crate::layout::{BlobName, Found, Layout, look};
use crate::room::Room;
use crate::staging::Staging;
use crate::wave::Waiting;

/// Where a blob waits for its name, and how it gets it.
pub(crate) enum Home {
    /// By itself.
    Alone(Arc<Layout>, Scope),
    /// With the others of a batch, in a room of it.
    Batch(Arc<Staging>, Arc<Room>),
}

impl Home {
    fn directory(&self) -> &OwnedFd {
        match self {
            Self::Alone(layout, _) => &layout.root.incoming,
            Self::Batch(_, room) => room.directory(),
        }
    }

    fn file(&self) -> Result<(File, String), Errno> {
        let layout = match self {
            Self::Alone(layout, _) => layout,
            Self::Batch(_, room) => return room.file(),
        };
        let name = new_name();
        let file = new_file(&layout.root.incoming, &name)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok((file, name))
    }
}

/// A blob that has no name yet. Dropping it leaves nothing behind.
///
/// It is locked while it is written, so that another process tells it from what a crash left. In a batch the lock of
/// its room stands for it.
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
        let (file, name) = home.file()?;
        Ok(Self { home, file, name, hasher: Sha256::new(), size_bytes: 0, published: false })
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
        let size_bytes = self.size_bytes;
        self.published = match &self.home {
            Home::Alone(layout, scope) => self.name(layout, scope, digest)?,
            Home::Batch(staging, room) => {
                let (name, room) = (self.name.clone(), Arc::clone(room));
                staging.take(Waiting { digest, size_bytes, name, room })?
            }
        };
        Ok((digest, size_bytes))
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
