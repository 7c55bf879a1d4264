use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ambit_ids::{Digest, Scope};
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, fsync, mkdirat, openat, openat2};
use rustix::io::Errno;

use crate::root::{Root, TO_DIRECTORY};

/// How many entries are remembered as durable before all are forgotten. Each costs one `fsync` when met anew.
const REMEMBERED: usize = 65_536;

/// Where blobs lie, and which entries of the directories above them are known to be on the disk.
pub(crate) struct Layout {
    pub(crate) root: Root,
    durable: Mutex<BTreeSet<String>>,
    /// Whether the kernel opens a path of several components in one call that follows no link.
    goes_at_once: AtomicBool,
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
        Self { root, durable: Mutex::new(BTreeSet::new()), goes_at_once: AtomicBool::new(true) }
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

    /// What lies under the name of a blob, opened without following a link anywhere on the way.
    ///
    /// Where the kernel can (Linux 5.6 and later, unless a filter is in the way) it goes the way at once, and otherwise
    /// step by step: reading a small blob costs little else than these calls.
    pub(crate) fn open(&self, scope: &Scope, name: &BlobName) -> Result<Found, Errno> {
        if self.goes_at_once.load(Ordering::Relaxed) {
            let way = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            let path = &path_of(scope, name)[1..];
            match openat2(&self.root.directory, path, TO_BLOB, Mode::empty(), way) {
                // Another error is told as it is met going step by step.
                Err(Errno::NOSYS | Errno::PERM) => self.goes_at_once.store(false, Ordering::Relaxed),
                Err(Errno::NOENT) => return Ok(Found::Nothing),
                Err(_) => {}
                Ok(file) => return found(file),
            }
        }
        match self.find(scope, name)? {
            Some(shard) => look(&shard, name),
            None => Ok(Found::Nothing),
        }
    }

    /// The directory of a blob, made where it is missing. No entry on the way to it is known to be on the disk.
    pub(crate) fn make(&self, scope: &Scope, name: &BlobName) -> Result<OwnedFd, Errno> {
        let mut parent: Option<OwnedFd> = None;
        for component in [scope.organization.as_str(), scope.project.as_str(), &name.shard] {
            let above = parent.as_ref().unwrap_or(&self.root.directory);
            let child = match openat(above, component, TO_DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) => {
                    match mkdirat(above, component, Mode::RWXU) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(errno),
                    }
                    openat(above, component, TO_DIRECTORY, Mode::empty())?
                }
                opened => opened?,
            };
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

    /// Has the entries of directories of blobs on the disk, and those of what lies above them: one sync for each directory
    /// that holds any of them.
    pub(crate) fn settle_ways(&self, scope: &Scope, shards: &[&str]) -> Result<(), Errno> {
        let organization =
            openat(&self.root.directory, scope.organization.as_str(), TO_DIRECTORY, Mode::empty())?;
        let project = openat(&organization, scope.project.as_str(), TO_DIRECTORY, Mode::empty())?;
        let [of_organization, of_project, of_shards] = ways_of(scope, shards);
        for (above, paths) in
            [(&self.root.directory, of_organization), (&organization, of_project), (&project, of_shards)]
        {
            if !paths.iter().all(|path| self.is_durable(path)) {
                fsync(above)?;
                paths.iter().for_each(|path| self.remember(path));
            }
        }
        Ok(())
    }

    /// Remembers that the entries of blobs are on the disk, and those of everything above them.
    pub(crate) fn settled(&self, scope: &Scope, shards: &[&str], blobs: impl Iterator<Item = Digest>) {
        ways_of(scope, shards).iter().flatten().for_each(|path| self.remember(path));
        blobs.for_each(|digest| self.remember(&path_of(scope, &BlobName::of(digest))));
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

/// What is remembered of the organisation, the project, and directories of blobs within it.
fn ways_of(scope: &Scope, shards: &[&str]) -> [Vec<String>; 3] {
    let organization = format!("/{}", scope.organization);
    let project = format!("{organization}/{}", scope.project);
    let shards = shards.iter().map(|shard| format!("{project}/{shard}")).collect();
    [vec![organization], vec![project], shards]
}

fn path_of(scope: &Scope, name: &BlobName) -> String {
    format!("/{}/{}/{}/{}", scope.organization, scope.project, name.shard, name.file)
}

const TO_BLOB: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

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
    match openat(shard, &name.file, TO_BLOB, Mode::empty()) {
        Ok(file) => found(file),
        Err(Errno::NOENT) => Ok(Found::Nothing),
        Err(Errno::LOOP | Errno::NXIO) => Ok(Found::Other),
        Err(errno) => Err(errno),
    }
}

fn found(file: OwnedFd) -> Result<Found, Errno> {
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
    fn a_blob_is_found_at_once_as_it_is_step_by_step() {
        let place = tempfile::tempdir().unwrap();
        let layout = Layout::new(Root::open(&place.path().join("blobs")).unwrap());
        let scope = Scope { organization: "acme".parse().unwrap(), project: "shop".parse().unwrap() };
        let names = [b"file", b"link", b"none", b"loop"].map(|bytes| BlobName::of(Digest::of(bytes)));
        let [file, link, _, through] = names.each_ref().map(|name| {
            let _ = layout.ensure(&scope, name).unwrap();
            place.path().join("blobs").join(&path_of(&scope, name)[1..])
        });
        std::fs::write(&file, "four").unwrap();
        std::os::unix::fs::symlink(&file, link).unwrap();
        let (shard, elsewhere) = (through.parent().unwrap(), place.path().join("elsewhere"));
        std::fs::rename(shard, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, shard).unwrap();
        std::fs::write(&through, "four").unwrap();
        let told = |name: &BlobName| match layout.open(&scope, name) {
            Ok(Found::Nothing) => "nothing".to_owned(),
            Ok(Found::File(_, size_bytes)) => format!("a file of {size_bytes}"),
            Ok(Found::Other) => "something else".to_owned(),
            Err(errno) => format!("{errno:?}"),
        };
        let at_once = names.each_ref().map(told);
        assert_eq!(at_once[..3], ["a file of 4", "something else", "nothing"]);
        layout.goes_at_once.store(false, Ordering::Relaxed);
        assert_eq!(names.each_ref().map(told), at_once);
        assert_ne!(at_once[3], "a file of 4", "a link on the way is not followed");
    }

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
