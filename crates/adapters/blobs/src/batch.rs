use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_ids::{Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobWriter};
use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, RenameFlags, flock, fsync, mkdirat, openat, renameat_with, syncfs,
    unlinkat,
};
use rustix::io::Errno;

use crate::disk::{blocking, failed, refused};
use crate::incoming::{Home, Incoming, is_stored, new_name};
use crate::layout::{BlobName, Found, Layout, look};
use crate::root::TO_DIRECTORY;
use crate::stale::remove_files;
use crate::writer::DirectoryWriter;

/// Up to this many files are synced one by one. For more, the whole file system is synced: once, whatever else it holds.
const SYNCED_ALONE: usize = 64;

/// Blobs that become durable together.
pub(crate) struct DirectoryBatch(Arc<Staging>);

/// The directory in which the blobs of a batch wait for their names. Dropping it removes what did not get one.
pub(crate) struct Staging {
    layout: Arc<Layout>,
    scope: Scope,
    name: String,
    directory: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_finished: bool,
    blobs: BTreeMap<Digest, Waiting>,
    /// The directories that were opened to look whether a blob lies there; `None` where there was none.
    shards: BTreeMap<String, Option<Arc<OwnedFd>>>,
}

/// A blob of a batch.
enum Waiting {
    /// In the file of this name, with so many bytes.
    File(String, u64),
    /// Under its own name already, which may not be on the disk yet.
    Stored,
}

impl DirectoryBatch {
    pub(crate) async fn open(layout: Arc<Layout>, scope: Scope) -> Result<Self, BlobError> {
        blocking(move || Ok(Self(Arc::new(Staging::make(layout, scope).map_err(failed)?)))).await
    }
}

#[async_trait]
impl BlobBatch for DirectoryBatch {
    async fn put(&self, bytes: Bytes) -> Result<Digest, BlobError> {
        let staging = Arc::clone(&self.0);
        blocking(move || staging.put(&bytes)).await
    }

    async fn create(&self) -> Result<Box<dyn BlobWriter>, BlobError> {
        Ok(Box::new(DirectoryWriter::create(Home::Batch(Arc::clone(&self.0))).await?))
    }

    async fn finish(self: Box<Self>) -> Result<(), BlobError> {
        let staging = self.0;
        blocking(move || staging.finish()).await
    }
}

impl Staging {
    fn make(layout: Arc<Layout>, scope: Scope) -> Result<Self, Errno> {
        let name = new_name();
        mkdirat(&layout.root.incoming, &name, Mode::RWXU)?;
        let directory = openat(&layout.root.incoming, &name, TO_DIRECTORY, Mode::empty())?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { layout, scope, name, directory, state: Mutex::default() })
    }

    pub(crate) const fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(self: &Arc<Self>, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        if self.holds(digest, bytes.len() as u64)? {
            return Ok(digest);
        }
        let mut incoming = Incoming::create(Home::Batch(Arc::clone(self))).map_err(refused)?;
        incoming.append(bytes).map_err(refused)?;
        incoming.publish().map(|(digest, _)| digest)
    }

    /// Whether the blob is in the batch, which it is as well once it lies in the store.
    fn holds(&self, digest: Digest, size_bytes: u64) -> Result<bool, BlobError> {
        if self.state().blobs.contains_key(&digest) {
            return Ok(true);
        }
        let name = BlobName::of(digest);
        let Some(shard) = self.shard(&name).map_err(failed)? else { return Ok(false) };
        match look(&shard, &name).map_err(failed)? {
            Found::Nothing => Ok(false),
            Found::File(_, found) if found == size_bytes => {
                self.state().blobs.entry(digest).or_insert(Waiting::Stored);
                Ok(true)
            }
            Found::File(..) | Found::Other => Err(BlobError::Corrupt(digest)),
        }
    }

    fn shard(&self, name: &BlobName) -> Result<Option<Arc<OwnedFd>>, Errno> {
        if let Some(known) = self.state().shards.get(&name.shard) {
            return Ok(known.clone());
        }
        let found = self.layout.find(&self.scope, name)?.map(Arc::new);
        self.state().shards.insert(name.shard.clone(), found.clone());
        Ok(found)
    }

    /// Takes a file of the directory as a blob, and answers whether it did: one with the same bytes may be there.
    pub(crate) fn take(&self, digest: Digest, size_bytes: u64, name: &str) -> Result<bool, BlobError> {
        let mut state = self.state();
        if state.is_finished {
            let late = std::io::Error::other("the batch of this blob was finished before it");
            return Err(BlobError::Io(late));
        }
        if state.blobs.contains_key(&digest) {
            return Ok(false);
        }
        state.blobs.insert(digest, Waiting::File(name.to_owned(), size_bytes));
        Ok(true)
    }

    fn finish(&self) -> Result<(), BlobError> {
        let blobs = {
            let mut state = self.state();
            state.is_finished = true;
            std::mem::take(&mut state.blobs)
        };
        // The bytes before the names: a name without bytes is what a crash must not leave.
        self.sync_bytes(&blobs).map_err(failed)?;
        let mut shards: BTreeMap<String, OwnedFd> = BTreeMap::new();
        for (digest, waiting) in &blobs {
            let name = BlobName::of(*digest);
            if !shards.contains_key(&name.shard) {
                let made = self.layout.ensure(&self.scope, &name).map_err(failed)?;
                shards.insert(name.shard.clone(), made);
            }
            if let (Waiting::File(file, size_bytes), Some(shard)) = (waiting, shards.get(&name.shard)) {
                self.name(*digest, file, *size_bytes, shard)?;
            }
        }
        for shard in shards.values() {
            fsync(shard).map_err(failed)?;
        }
        for digest in blobs.keys() {
            self.layout.settled(&self.scope, &BlobName::of(*digest));
        }
        Ok(())
    }

    fn sync_bytes(&self, blobs: &BTreeMap<Digest, Waiting>) -> Result<(), Errno> {
        let files = || {
            blobs.values().filter_map(|waiting| match waiting {
                Waiting::File(file, _) => Some(file),
                Waiting::Stored => None,
            })
        };
        if files().nth(SYNCED_ALONE).is_some() {
            return syncfs(&self.directory);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for file in files() {
            fsync(openat(&self.directory, file, flags, Mode::empty())?)?;
        }
        Ok(())
    }

    fn name(&self, digest: Digest, file: &str, size_bytes: u64, shard: &OwnedFd) -> Result<(), BlobError> {
        let name = BlobName::of(digest);
        match renameat_with(&self.directory, file, shard, &name.file, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // Somebody else stored it meanwhile.
            Err(Errno::EXIST) if is_stored(&self.layout, &self.scope, shard, digest, size_bytes)? => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = remove_files(&self.directory);
        let _ = unlinkat(&self.layout.root.incoming, &self.name, AtFlags::REMOVEDIR);
    }
}
