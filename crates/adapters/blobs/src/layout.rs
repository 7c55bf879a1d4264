use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use ambit_ids::{Digest, Scope};
use rustix::fs::{Mode, OFlags, fstat, fsync, mkdirat, openat};
use rustix::io::Errno;

use crate::root::{Root, TO_DIRECTORY};

/// How many entries are remembered as durable before all are forgotten. Each costs one `fsync` when met anew.
const REMEMBERED: usize = 65_536;

/// Where blobs lie, and which entries of the directories above them are known to be on the disk.
pub(crate) struct Layout {
    pub(crate) root: Root,
    durable: Mutex<BTreeSet<String>>,
}

/// A blob's directory within its scope, and its name there.
pub(crate) struct BlobName {
    pub(crate) shard: String,
    pub(crate) file: String,
}

impl BlobName {
    pub(crate) fn of(digest: Digest) -> Self {
        let mut shard = digest.to_hex();
        let file = shard.split_off(2);
        Self { shard, file }
    }
}

impl Layout {
    pub(crate) fn new(root: Root) -> Self {
        Self { root, durable: Mutex::new(BTreeSet::new()) }
    }

    /// The directory of a blob, made where it is missing, with every entry on the way to it on the disk.
    ///
    /// An entry that another process has just made counts as little as one that is missing: it is synced as well.
    pub(crate) fn ensure(&self, scope: &Scope, name: &BlobName) -> Result<OwnedFd, Errno> {
        let mut path = String::new();
        let mut parent: Option<OwnedFd> = None;
        for component in [scope.organization.as_str(), scope.project.as_str(), &name.shard] {
            let above = parent.as_ref().unwrap_or(&self.root.directory);
            match mkdirat(above, component, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            let child = openat(above, component, TO_DIRECTORY, Mode::empty())?;
            path.push('/');
            path.push_str(component);
            if !self.is_durable(&path) {
                fsync(above)?;
                self.remember(&path);
            }
            parent = Some(child);
        }
        parent.ok_or(Errno::NOENT)
    }

    /// The directory of a blob; `None` where there is none.
    pub(crate) fn find(&self, scope: &Scope, name: &BlobName) -> Result<Option<OwnedFd>, Errno> {
        let mut parent: Option<OwnedFd> = None;
        for component in [scope.organization.as_str(), scope.project.as_str(), &name.shard] {
            let above = parent.as_ref().unwrap_or(&self.root.directory);
            match openat(above, component, TO_DIRECTORY, Mode::empty()) {
                Ok(child) => parent = Some(child),
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(errno),
            }
        }
        Ok(parent)
    }

    /// Has the entry of a blob, which lies in its directory, on the disk.
    ///
    /// Blobs are never removed, so this process syncs each once. A tree is put again with every revision of it, and most
    /// of its directories did not change.
    pub(crate) fn settle(&self, scope: &Scope, name: &BlobName, directory: &OwnedFd) -> Result<(), Errno> {
        let path = path_of(scope, name);
        if !self.is_durable(&path) {
            fsync(directory)?;
            self.remember(&path);
        }
        Ok(())
    }

    /// Remembers that the entry of a blob is on the disk.
    pub(crate) fn settled(&self, scope: &Scope, name: &BlobName) {
        self.remember(&path_of(scope, name));
    }

    fn is_durable(&self, path: &str) -> bool {
        self.durable.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    fn remember(&self, path: &str) {
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if durable.len() >= REMEMBERED {
            durable.clear();
        }
        durable.insert(path.to_owned());
    }
}

fn path_of(scope: &Scope, name: &BlobName) -> String {
    format!("/{}/{}/{}/{}", scope.organization, scope.project, name.shard, name.file)
}

/// What lies under the name of a blob.
pub(crate) enum Found {
    Nothing,
    /// A file, opened for reading, and its size.
    File(OwnedFd, u64),
    /// A link, a pipe, a directory: nothing that was put there by this crate.
    Other,
}

/// Opens a blob without following a link or waiting for anything.
pub(crate) fn look(shard: &OwnedFd, name: &BlobName) -> Result<Found, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(shard, &name.file, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(Found::Nothing),
        Err(Errno::LOOP | Errno::NXIO) => return Ok(Found::Other),
        Err(errno) => return Err(errno),
    };
    let found = fstat(&file)?;
    if rustix::fs::FileType::from_raw_mode(found.st_mode).is_file() {
        Ok(Found::File(file, found.st_size.unsigned_abs()))
    } else {
        Ok(Found::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_a_blob_is_synced_once() {
        let place = tempfile::tempdir().unwrap();
        let layout = Layout::new(Root::open(&place.path().join("blobs")).unwrap());
        let scope = Scope { organization: "acme".parse().unwrap(), project: "shop".parse().unwrap() };
        let [first, second] = [b"first", b"other"].map(|bytes| BlobName::of(Digest::of(bytes)));
        let directory = layout.ensure(&scope, &first).unwrap();
        // What cannot be synced tells whether that was tried.
        let (pipe, _writer) = std::io::pipe().unwrap();
        let pipe = OwnedFd::from(pipe);
        assert_eq!(layout.settle(&scope, &first, &pipe), Err(Errno::INVAL));
        assert_eq!(layout.settle(&scope, &first, &directory), Ok(()));
        assert_eq!(layout.settle(&scope, &first, &pipe), Ok(()));
        assert_eq!(layout.settle(&scope, &second, &pipe), Err(Errno::INVAL));
        let elsewhere = Scope { project: "depot".parse().unwrap(), ..scope };
        assert_eq!(layout.settle(&elsewhere, &first, &pipe), Err(Errno::INVAL));
    }
}
