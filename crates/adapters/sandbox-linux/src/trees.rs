//! Trees that are written once and read by every lease of their tenant.
//!
//! A tree lies under the digest of its scope and its own, owned by the user that every sandbox has inside; each lease gets
//! a mount of it that shows that user as the one the sandbox has outside, and that nobody can write. Whoever uses a tree
//! holds a shared lock on it, which ends with its process at the latest; only a tree that nobody holds is removed.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use ambit_ids::{ByteCount, Digest, Scope};
use ambit_ownership::ProcessIdentity;
use ambit_ports::sandbox::{FileBatch, SandboxError};
use ambit_sandbox_guest::wire::Request;
use ambit_staging::{Fresh, Owner, Stage, make_directory};
use rustix::fs::{FlockOperation, flock};

use crate::guest::Guest;
use crate::host_directory::detached;
use crate::sandbox::tree_name;

/// So many trees are kept, as long as they are not in use.
const TREES: usize = 32;
/// And so many bytes in them.
const BYTES: u64 = 4 << 30;
/// The user and the group of a sandbox inside.
const INSIDE: Owner = Owner { uid: 1000, gid: 1000, foreign: true };

/// The trees of a backend.
pub(crate) struct Trees {
    place: PathBuf,
    /// Nothing waits for a tree to be on the disk, so after a crash of the machine its files may be cut. A tree is
    /// therefore known by this boot as well.
    boot: String,
    made: AtomicU64,
}

/// A tree in use.
#[derive(Debug)]
pub(crate) struct Held {
    /// The digest of the batch that it came as.
    pub(crate) batch: Digest,
    pub(crate) files: u64,
    pub(crate) bytes: ByteCount,
    directory: PathBuf,
    _lock: File,
}

impl Held {
    /// Hands the tree to a guest, which keeps it at `place`; answers whether this machine can.
    pub(crate) async fn hand_to(&self, guest: &Guest, place: &Path) -> Result<bool, SandboxError> {
        let what = "keeping the tree";
        let users = guest.identity.users().map_err(SandboxError::during("looking at the guest"))?;
        let Ok(mount) = self.mount(users.as_fd()) else { return Ok(false) };
        match make_directory(place, guest.outer) {
            // By an attempt that was given up, or by another one for the same tree.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(SandboxError::during(what))?,
        }
        let sent = guest.send(&Request::Tree(tree_name(self.batch)), 0, &[mount.as_fd()]).await;
        sent.map(|()| true).map_err(SandboxError::during(what))
    }

    /// A mount of the tree in which the sandbox's user is the one that `namespace` maps it to.
    fn mount(&self, namespace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let mount = detached(&self.directory.join("tree"))?;
        map_owners(mount.as_fd(), namespace)?;
        Ok(mount)
    }
}

#[cfg(target_arch = "x86_64")]
fn map_owners(mount: BorrowedFd<'_>, namespace: BorrowedFd<'_>) -> io::Result<()> {
    Ok(ambit_sandbox_guest::raw::map_owners(mount, namespace)?)
}

#[cfg(not(target_arch = "x86_64"))]
fn map_owners(_: BorrowedFd<'_>, _: BorrowedFd<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Trees {
    /// The trees below `place`, which nobody but this user may enter.
    pub(crate) fn new(place: PathBuf) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        // Where the boot has no name, no other process finds a tree of this one.
        let boot = boot.unwrap_or_else(|_| format!("{} {:?}", std::process::id(), SystemTime::now()));
        Self { place, boot, made: AtomicU64::new(0) }
    }

    fn directory(&self, scope: &Scope, tree: Digest) -> PathBuf {
        let key = Digest::of(format!("ambit.tree/v1\n{}\n{scope}\n{tree}\n", self.boot).as_bytes());
        self.place.join(key.to_hex())
    }

    /// The tree, where it is there.
    pub(crate) fn find(&self, scope: &Scope, tree: Digest) -> Option<Held> {
        Self::hold(self.directory(scope, tree)).ok().flatten()
    }

    pub(crate) fn hold(directory: PathBuf) -> io::Result<Option<Held>> {
        let path = directory.join("about");
        let lock = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        if flock(&lock, FlockOperation::NonBlockingLockShared).is_err() {
            return Ok(None);
        }
        // Whoever removes a tree takes its name away first, under a lock that this one has not met.
        let is_same = fs::metadata(&path).is_ok_and(|there| {
            lock.metadata().is_ok_and(|held| (there.dev(), there.ino()) == (held.dev(), held.ino()))
        });
        let about = io::read_to_string(&lock)?;
        let mut words = about.split_whitespace();
        let (Some(batch), Some(files), Some(bytes), true) = (
            words.next().and_then(|word| word.parse().ok()),
            words.next().and_then(|word| word.parse().ok()),
            words.next().and_then(|word| word.parse().ok()),
            is_same,
        ) else {
            return Ok(None);
        };
        // Only the order in which trees are removed depends on it.
        let _ = lock.set_modified(SystemTime::now());
        Ok(Some(Held { batch, files, bytes: ByteCount::new(bytes), directory, _lock: lock }))
    }

    /// Writes the tree where it is not there yet. `None` where another batch has its name, or somebody removes it.
    pub(crate) async fn keep(
        &self,
        stage: &Stage<'_>,
        batch: &FileBatch,
        arrived: Digest,
    ) -> Result<Option<Held>, SandboxError> {
        let directory = self.directory(stage.scope, batch.tree);
        let hold = || {
            let held = Self::hold(directory.clone()).map_err(SandboxError::during("holding a tree"))?;
            Ok(held.filter(|held| held.batch == arrived))
        };
        if directory.exists() {
            return hold();
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}-fresh{}", std::process::id(), ProcessIdentity::own_mark());
        let fresh = Fresh::at(self.place.join(name));
        let stage = Stage { owner: INSIDE, ..*stage };
        let written = Self::write(&stage, batch, arrived, fresh.path()).await;
        let kept = written.and_then(|()| match fresh.keep(&directory) {
            // Somebody was faster. What they wrote is looked at like any other.
            Err(error) if !directory.exists() => Err(SandboxError::during("keeping a tree")(error)),
            _ => hold(),
        });
        let place = self.place.clone();
        tokio::task::spawn_blocking(move || forget_the_oldest(&place));
        kept
    }

    async fn write(
        stage: &Stage<'_>,
        batch: &FileBatch,
        arrived: Digest,
        fresh: &Path,
    ) -> Result<(), SandboxError> {
        let what = "keeping a tree";
        fs::create_dir_all(fresh).map_err(SandboxError::during(what))?;
        let bytes = stage.write(&batch.files, &fresh.join("tree")).await?;
        let about = format!("{arrived} {} {}\n", batch.files.len(), bytes.get());
        File::create_new(fresh.join("about"))
            .and_then(|mut file| file.write_all(about.as_bytes()))
            .map_err(SandboxError::during(what))
    }
}

/// Removes trees that nobody uses, the longest unused first, until few enough are left.
fn forget_the_oldest(place: &Path) {
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        // One that is being written is nobody's to remove.
        .filter(|entry| !entry.file_name().as_encoded_bytes().contains(&b'-'))
        .filter_map(|entry| {
            let about = entry.path().join("about");
            let bytes = fs::read_to_string(&about).ok()?.split_whitespace().nth(2)?.parse().ok()?;
            Some((fs::metadata(&about).ok()?.modified().ok()?, bytes, entry.path()))
        })
        .collect();
    kept.sort();
    let (mut count, mut bytes) = (kept.len(), kept.iter().map(|(_, bytes, _)| bytes).sum::<u64>());
    for (_, size, directory) in kept {
        if count <= TREES && bytes <= BYTES {
            return;
        }
        if remove(&directory).unwrap_or(false) {
            count -= 1;
            bytes -= size;
        }
    }
}

/// Removes a tree; answers whether nobody used it.
fn remove(directory: &Path) -> io::Result<bool> {
    let lock = File::open(directory.join("about"))?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(false);
    }
    let gone = directory.with_file_name(format!(
        "{}-gone-{}{}",
        std::process::id(),
        Digest::of(directory.as_os_str().as_encoded_bytes()).short(),
        ProcessIdentity::own_mark()
    ));
    fs::rename(directory, &gone)?;
    fs::remove_dir_all(gone)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay(place: &Path, name: &str, bytes: u64) -> PathBuf {
        let directory = place.join(name);
        fs::create_dir_all(directory.join("tree")).unwrap();
        fs::write(directory.join("about"), format!("{} 1 {bytes}\n", Digest::of(b"batch"))).unwrap();
        directory
    }

    #[test]
    fn a_tree_in_use_is_not_removed_and_one_that_is_not_is() {
        let place = tempfile::tempdir().unwrap();
        let [used, free, fresh] = ["used", "free", "1-0-fresh"].map(|name| lay(place.path(), name, BYTES));
        let held = Trees::hold(used.clone()).unwrap().unwrap();
        assert_eq!((held.batch, held.files, held.bytes.get()), (Digest::of(b"batch"), 1, BYTES));
        forget_the_oldest(place.path());
        assert!(used.exists() && !free.exists() && fresh.exists());
        drop(held);
        lay(place.path(), "third", BYTES);
        forget_the_oldest(place.path());
        assert!(!used.exists(), "a tree that nobody holds any more stays");
    }

    #[test]
    fn a_tree_of_another_boot_is_not_found() {
        let place = tempfile::tempdir().unwrap();
        let scope = Scope { organization: "o".parse().unwrap(), project: "p".parse().unwrap() };
        let tree = Digest::of(b"tree");
        let before = Trees { boot: "before".into(), ..Trees::new(place.path().into()) };
        lay(place.path(), before.directory(&scope, tree).file_name().unwrap().to_str().unwrap(), 1);
        assert!(before.find(&scope, tree).is_some());
        assert!(Trees::new(place.path().into()).find(&scope, tree).is_none());
    }

    #[test]
    fn what_is_not_whole_is_no_tree() {
        let place = tempfile::tempdir().unwrap();
        assert!(Trees::hold(place.path().join("absent")).unwrap().is_none());
        let directory = lay(place.path(), "cut", 1);
        fs::write(directory.join("about"), "abc").unwrap();
        assert!(Trees::hold(directory).unwrap().is_none());
    }
}
