use std::os::fd::OwnedFd;
use std::sync::Arc;

use ambit_ids::Digest;
use rustix::fs::{Mode, OFlags, fstatfs, fsync, openat, syncfs};
use rustix::io::Errno;

use crate::room::Room;

/// Up to this many files are synced one by one. For more, the whole file system is synced: once, whatever else it holds.
pub(crate) const SYNCED_ALONE: usize = 64;
/// With so many files, or so many bytes, a wave is full. The disk takes one in while the next one is written.
const FILES: usize = 4_096;
const BYTES: u64 = 16 << 20;
/// What the kernel says of a file system that is a program (`FUSE_SUPER_MAGIC`).
const FUSE: u64 = 0x6573_5546;

/// Blobs of a batch that go to the disk and then get their names together.
#[derive(Default)]
pub(crate) struct Wave {
    pub(crate) files: Vec<Waiting>,
    bytes: u64,
}

/// A blob in the file `name` of `room`.
pub(crate) struct Waiting {
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
    pub(crate) name: String,
    pub(crate) room: Arc<Room>,
}

impl Wave {
    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.bytes = self.bytes.saturating_add(waiting.size_bytes);
        self.files.push(waiting);
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.files.len() >= FILES || self.bytes >= BYTES
    }

    /// Has the bytes of all blobs on the disk.
    pub(crate) fn sync(&self) -> Result<(), Errno> {
        let Some(any) = self.files.first() else { return Ok(()) };
        if self.files.len() > SYNCED_ALONE && syncs_at_once(any.room.directory())? {
            return syncfs(any.room.directory());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for file in &self.files {
            fsync(openat(file.room.directory(), &file.name, flags, Mode::empty())?)?;
        }
        Ok(())
    }
}

/// Whether syncing the file system has everything on it on the disk. Of a program, most kernels ask nothing then.
pub(crate) fn syncs_at_once(directory: &OwnedFd) -> Result<bool, Errno> {
    let kind = fstatfs(directory)?.f_type;
    Ok(u64::try_from(kind).is_ok_and(|kind| kind != FUSE))
}
