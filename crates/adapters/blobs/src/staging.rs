use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_ids::{Digest, Scope};
use ambit_ports::blobs::BlobError;
use rustix::fs::{RenameFlags, fsync, renameat_with, syncfs};
use rustix::io::Errno;

use crate::disk::{failed, refused};
use crate::layout::{BlobName, Found, Layout, look};
use crate::room::Room;
use crate::wave::{SYNCED_ALONE, Waiting, Wave, syncs_at_once};

/// What a batch knows of its blobs.
pub(crate) struct Staging {
    layout: Arc<Layout>,
    scope: Scope,
    state: Mutex<State>,
}

struct State {
    is_finished: bool,
    /// Where new blobs are written. Each wave has its own room, so that writing does not wait for the naming before it.
    room: Arc<Room>,
    wave: Wave,
    /// Full waves of which no blob has its name yet.
    full: VecDeque<Wave>,
    /// How many waves are being named, or failed while they were.
    unnamed: usize,
    /// Every blob of the batch: in a wave, or under its own name already.
    blobs: BTreeSet<Digest>,
    /// The directories in which blobs of the batch lie, or were looked for.
    shards: BTreeMap<String, Shard>,
}

/// A directory of blobs, as a batch knows it.
#[derive(Clone)]
enum Shard {
    /// There was none when one was looked for, so it holds nothing that was stored before the batch.
    Absent,
    /// There was none, until a blob of the batch was named. What others store in it meanwhile is met when one of the same
    /// bytes is named, and is not worth a look for each blob before.
    New(Arc<OwnedFd>),
    /// It was there.
    Found(Arc<OwnedFd>),
}

impl Shard {
    const fn directory(&self) -> Option<&Arc<OwnedFd>> {
        match self {
            Self::Absent => None,
            Self::New(directory) | Self::Found(directory) => Some(directory),
        }
    }
}

impl Staging {
    pub(crate) fn make(layout: Arc<Layout>, scope: Scope) -> Result<Self, Errno> {
        let room = Arc::new(Room::make(Arc::clone(&layout))?);
        let state = State {
            is_finished: false,
            room,
            wave: Wave::default(),
            full: VecDeque::new(),
            unnamed: 0,
            blobs: BTreeSet::new(),
            shards: BTreeMap::new(),
        };
        Ok(Self { layout, scope, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn room(&self) -> Arc<Room> {
        Arc::clone(&self.state().room)
    }

    pub(crate) fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let (digest, size_bytes) = (Digest::of(bytes), bytes.len() as u64);
        if self.holds(digest, size_bytes)? {
            return Ok(digest);
        }
        let room = self.room();
        let name = room.write(bytes).map_err(refused)?;
        // Where another task was faster, the file goes with its room.
        self.take(Waiting { digest, size_bytes, name, room })?;
        Ok(digest)
    }

    /// Whether the blob is in the batch, which it is as well once it lies in the store.
    fn holds(&self, digest: Digest, size_bytes: u64) -> Result<bool, BlobError> {
        if self.state().blobs.contains(&digest) {
            return Ok(true);
        }
        let name = BlobName::of(digest);
        let Shard::Found(shard) = self.shard(&name).map_err(failed)? else { return Ok(false) };
        let is_there = is_whole(&shard, &name, digest, size_bytes)?;
        if is_there {
            self.state().blobs.insert(digest);
        }
        Ok(is_there)
    }

    fn shard(&self, name: &BlobName) -> Result<Shard, Errno> {
        if let Some(known) = self.state().shards.get(&name.shard) {
            return Ok(known.clone());
        }
        let found = self.layout.find(&self.scope, name)?;
        let found = found.map_or(Shard::Absent, |found| Shard::Found(Arc::new(found)));
        // It may have been made meanwhile.
        Ok(self.state().shards.entry(name.shard.clone()).or_insert(found).clone())
    }

    fn shard_made(&self, name: &BlobName) -> Result<Arc<OwnedFd>, Errno> {
        let known = self.state().shards.get(&name.shard).cloned();
        if let Some(directory) = known.as_ref().and_then(Shard::directory) {
            return Ok(Arc::clone(directory));
        }
        let made = Arc::new(self.layout.make(&self.scope, name)?);
        let is_new = known.is_some();
        let shard = if is_new { Shard::New } else { Shard::Found }(Arc::clone(&made));
        self.state().shards.insert(name.shard.clone(), shard);
        Ok(made)
    }

    /// Takes a file as a blob, and answers whether it did: one with the same bytes may be there.
    pub(crate) fn take(&self, waiting: Waiting) -> Result<bool, BlobError> {
        let mut state = self.state();
        if state.is_finished {
            let late = std::io::Error::other("the batch of this blob was finished before it");
            return Err(BlobError::Io(late));
        }
        let is_new = state.blobs.insert(waiting.digest);
        if is_new {
            state.wave.push(waiting);
        }
        Ok(is_new)
    }

    /// Whether a wave is full; what comes after it begins another one.
    pub(crate) fn turn(&self) -> Result<bool, BlobError> {
        if self.state().wave.is_full() {
            let room = Arc::new(Room::make(Arc::clone(&self.layout)).map_err(failed)?);
            let mut state = self.state();
            state.room = room;
            state.close_wave();
        }
        Ok(!self.state().full.is_empty())
    }

    /// Takes nothing more.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_finished = true;
        state.close_wave();
    }

    /// Names the blobs of all full waves.
    pub(crate) fn name_full(&self) -> Result<(), BlobError> {
        loop {
            let next = self.state().begin_naming();
            let Some(wave) = next else { return Ok(()) };
            self.name_all(wave)?;
            self.state().unnamed -= 1;
        }
    }

    /// Has the blobs of a wave on the disk, and then under their names: a name without bytes is what a crash must not leave.
    fn name_all(&self, mut wave: Wave) -> Result<(), BlobError> {
        wave.sync().map_err(failed)?;
        wave.files.sort_unstable_by_key(|file| file.digest);
        wave.files.iter().try_for_each(|file| self.name(file))
    }

    fn name(&self, file: &Waiting) -> Result<(), BlobError> {
        let name = BlobName::of(file.digest);
        let shard = self.shard_made(&name).map_err(failed)?;
        let from = file.room.directory();
        match renameat_with(from, &file.name, &shard, &name.file, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // Somebody else stored it meanwhile.
            Err(Errno::EXIST) if is_whole(&shard, &name, file.digest, file.size_bytes)? => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }

    /// Has the names of all blobs on the disk.
    pub(crate) fn sync_names(&self) -> Result<(), BlobError> {
        let state = self.state();
        if state.unnamed > 0 {
            let lost = std::io::Error::other("an earlier step of the batch failed");
            return Err(BlobError::Io(lost));
        }
        let found = state.shards.iter().filter_map(|(name, shard)| Some((name.as_str(), shard.directory()?)));
        let (names, shards): (Vec<&str>, Vec<&Arc<OwnedFd>>) = found.unzip();
        let root = &self.layout.root.directory;
        let sync = || {
            if state.blobs.len() > SYNCED_ALONE && syncs_at_once(root)? {
                return syncfs(root);
            }
            self.layout.settle_ways(&self.scope, &names)?;
            shards.iter().try_for_each(fsync)
        };
        if !names.is_empty() {
            sync().map_err(failed)?;
        }
        self.layout.settled(&self.scope, &names, state.blobs.iter().copied());
        Ok(())
    }
}

impl State {
    fn close_wave(&mut self) {
        let wave = std::mem::take(&mut self.wave);
        self.full.push_back(wave);
    }

    fn begin_naming(&mut self) -> Option<Wave> {
        let wave = self.full.pop_front()?;
        self.unnamed += 1;
        Some(wave)
    }
}

/// Whether the blob lies there, with as many bytes. A file under its name was whole when it got it.
fn is_whole(shard: &OwnedFd, name: &BlobName, digest: Digest, size_bytes: u64) -> Result<bool, BlobError> {
    match look(shard, name).map_err(failed)? {
        Found::Nothing => Ok(false),
        Found::File(_, found) if found == size_bytes => Ok(true),
        Found::File(..) | Found::Other => Err(BlobError::Corrupt(digest)),
    }
}
