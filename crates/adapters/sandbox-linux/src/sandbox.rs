//! A sandbox: a guest in the hands of one run.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{Digest, ExecutionLimits, VolumeMount};
use ambit_ports::blobs::BlobStore;
use ambit_ports::sandbox::{FileBatch, FileReceipt, Fixture, LimitEnforcement, SandboxError, SandboxLease};
use ambit_sandbox_guest::wire::{Request, Response, TREE_NAME_BYTES, Volumes};

use crate::cgroup::{GroupLimits, Usage};
use crate::filter;
use crate::guest::{Guest, io_error, refused};
use crate::home::{Home, Record};
use crate::host_directory::HostDirectory;
use crate::staging::{Stage, batch_digest, discard};

/// A live sandbox.
pub(crate) struct Sandbox {
    pub(crate) lease: SandboxLease,
    pub(crate) limits: ExecutionLimits,
    /// The declared volumes, in the order in which the guest knows them.
    pub(crate) mounts: Vec<VolumeMount>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) home: Home,
    /// What enforces the limits of the whole.
    pub(crate) enforced: LimitEnforcement,
    pub(crate) guest: Guest,
    /// Held by the one execution at a time.
    pub(crate) turn: tokio::sync::Mutex<Turn>,
    /// The trees that were brought, each with the digest of the batch that it came as.
    trees: Mutex<BTreeMap<Digest, Digest>>,
    stopped: AtomicBool,
}

/// Whose turn it is, and in what state the last one left the guest.
#[derive(Default)]
pub(crate) struct Turn {
    /// The guest was asked to take the volumes of the last command away, and did not answer yet.
    finishing: bool,
    /// The limits that the control group has.
    pub(crate) applied: Option<GroupLimits>,
    /// What the control group counted up to the end of the last command.
    pub(crate) counted: Option<Usage>,
}

/// What a sandbox is made of, beside its guest.
pub(crate) struct Making<'a> {
    pub(crate) lease: SandboxLease,
    pub(crate) limits: ExecutionLimits,
    pub(crate) fixtures: &'a [Fixture],
    /// The declared volumes, each with its directory.
    pub(crate) volumes: Vec<(VolumeMount, &'a PathBuf)>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) home: Home,
    pub(crate) enforced: LimitEnforcement,
    /// The directory of the image.
    pub(crate) image: &'a Path,
}

impl Sandbox {
    /// Hands a guest to a run.
    pub(crate) async fn make(making: Making<'_>, guest: Guest) -> Result<Self, SandboxError> {
        let Making { lease, limits, fixtures, volumes, blobs, home, enforced, image } = making;
        home.create(guest.outer).map_err(io_error("making the directory of the sandbox"))?;
        let sandbox = Self {
            lease,
            limits,
            mounts: volumes.iter().map(|(mount, _)| mount.clone()).collect(),
            blobs,
            home,
            enforced,
            guest,
            turn: tokio::sync::Mutex::default(),
            trees: Mutex::default(),
            stopped: AtomicBool::new(false),
        };
        match sandbox.furnish(fixtures, &volumes, image).await {
            Ok(()) => Ok(sandbox),
            Err(error) => {
                let _ = sandbox.home.remove();
                Err(error)
            }
        }
    }

    async fn furnish(
        &self,
        fixtures: &[Fixture],
        volumes: &[(VolumeMount, &PathBuf)],
        image: &Path,
    ) -> Result<(), SandboxError> {
        let record = Record {
            incarnation: self.lease.incarnation.clone(),
            process: self.guest.identity.clone(),
            group: self.guest.group.clone(),
        };
        for fixture in fixtures {
            let is_name =
                !fixture.name.starts_with('.') && !fixture.name.contains('/') && !fixture.name.is_empty();
            if !is_name {
                return Err(io_error("staging the fixtures")(io::ErrorKind::InvalidInput.into()));
            }
            self.stage().write(&fixture.files, &self.home.fixture(&fixture.name)).await?;
        }
        for (mount, root) in volumes {
            self.bring(mount, root).await.map_err(io_error("bringing a volume"))?;
        }
        self.assemble(image, &record).await
    }

    fn stage(&self) -> Stage<'_> {
        Stage { scope: &self.lease.scope, blobs: &self.blobs, owner: self.guest.outer }
    }

    /// Hands a declared volume to the guest. What comes of it shows when the root is assembled.
    async fn bring(&self, mount: &VolumeMount, root: &Path) -> io::Result<()> {
        let name = CString::new(mount.name.as_str())?;
        let root = HostDirectory::of(root, self.guest.by_path)?;
        let request = Request::Bring { name: &name, path: &root.path };
        let variable = name.count_bytes() + root.path.count_bytes();
        let beside: Vec<BorrowedFd<'_>> = root.mount.iter().map(OwnedFd::as_fd).collect();
        self.guest.send(&request, variable, &beside).await
    }

    /// Lets the guest build the root, and meanwhile writes the record by which the sandbox can be ended.
    async fn assemble(&self, image: &Path, record: &Record) -> Result<(), SandboxError> {
        let image = HostDirectory::of(image, self.guest.by_path).map_err(io_error("opening the image"))?;
        let share = HostDirectory::of(self.home.path(), self.guest.by_path)
            .map_err(io_error("opening the staged files"))?;
        let filter = filter::program(self.enforced.memory);
        let request = Request::Assemble { image: &image.path, share: &share.path, filter: &filter };
        let mounts: Vec<BorrowedFd<'_>> =
            [&image.mount, &share.mount].into_iter().flatten().map(OwnedFd::as_fd).collect();
        let variable = image.path.count_bytes() + share.path.count_bytes() + filter.len();
        self.guest.send(&request, variable, &mounts).await.map_err(io_error("assembling the root"))?;
        self.home.write_record(record).map_err(io_error("recording the sandbox"))?;
        match self.guest.receive().await.map_err(io_error("assembling the root"))?.0 {
            Response::Assembled => Ok(()),
            Response::Failed(failed) => Err(refused(failed)),
            _ => Err(io_error("assembling the root")(io::ErrorKind::InvalidData.into())),
        }
    }

    /// Which of the declared volumes these are, as the guest takes them.
    pub(crate) fn declared(&self, volumes: &[VolumeMount]) -> Result<u32, SandboxError> {
        volumes.iter().try_fold(0, |declared, volume| {
            let at = self.mounts.iter().position(|mount| mount == volume);
            let bit = at.and_then(|at| 1_u32.checked_shl(u32::try_from(at).ok()?));
            let VolumeMount { name, digest } = volume;
            let bit =
                bit.ok_or_else(|| SandboxError::VolumeMissing { name: name.clone(), digest: *digest })?;
            Ok(declared | bit)
        })
    }

    /// The volumes of a command on this tree, with these of the declared ones.
    pub(crate) fn volumes(&self, tree: Digest, limits: &ExecutionLimits, declared: u32) -> Volumes {
        /// One file for this many bytes, and some for the smallest volumes.
        const BYTES_PER_FILE: u64 = 4096;
        const LEAST_FILES: u64 = 1024;
        let mut name = [0; TREE_NAME_BYTES];
        name.copy_from_slice(tree.to_hex().as_bytes());
        // A volume that has at least one block: the kernel takes a size of zero for no limit at all.
        let disk_bytes = limits.disk_bytes.get().max(BYTES_PER_FILE);
        let disk_files = (disk_bytes / BYTES_PER_FILE).max(LEAST_FILES);
        Volumes { tree: name, disk_bytes, disk_files, declared }
    }

    /// Brings a tree.
    pub(crate) async fn write_files(&self, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        self.check_alive()?;
        let arrived = batch_digest(&batch.files);
        let known = self.trees.lock().unwrap_or_else(PoisonError::into_inner).get(&batch.tree).copied();
        let receipt = |bytes| FileReceipt {
            incarnation: self.lease.incarnation.clone(),
            tree: batch.tree,
            files: batch.files.len() as u64,
            bytes,
        };
        match known {
            Some(known) if known == arrived => {
                let bytes = batch.files.iter().map(|file| file.size.get()).sum();
                return Ok(receipt(ambit_ids::ByteCount::new(bytes)));
            }
            Some(_) => return Err(SandboxError::TreeMismatch { expected: batch.tree, found: arrived }),
            None => {}
        }
        // Under a name of its own until it is whole, so that no command can name half a tree.
        let place = self.home.tree(batch.tree);
        let fresh = place.with_extension(arrived.short());
        let bytes = match self.stage().write(&batch.files, &fresh).await {
            Ok(bytes) => bytes,
            Err(error) => {
                discard(&fresh);
                return Err(error);
            }
        };
        std::fs::rename(&fresh, &place).map_err(io_error("keeping the tree"))?;
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).insert(batch.tree, arrived);
        self.hint(self.volumes(batch.tree, &self.limits, 0)).await;
        Ok(receipt(bytes))
    }

    /// Lets the guest prepare the volumes of the next command while nobody waits. What comes of it shows when the command
    /// does.
    pub(crate) async fn hint(&self, volumes: Volumes) {
        if let Ok(_turn) = self.turn.try_lock() {
            let _ = self.guest.send(&Request::Prepare(volumes), 0, &[]).await;
        }
    }

    /// Whether the workspace is a copy of this tree.
    pub(crate) async fn copies(&self, tree: Digest) -> io::Result<bool> {
        let mut turn = self.turn.lock().await;
        self.settled(&mut turn).await?;
        self.guest.send(&Request::Prepare(self.volumes(tree, &self.limits, 0)), 0, &[]).await?;
        self.guest
            .receive_until(|response, _| match response {
                Response::Prepared { copied } => Some(copied),
                _ => None,
            })
            .await
    }

    /// Asks the guest to take the volumes of a command away, and then to prepare the next: most likely the same again.
    pub(crate) async fn settle(&self, turn: &mut Turn, volumes: Volumes) {
        turn.finishing = self.guest.send(&Request::Finish, 0, &[]).await.is_ok();
        let _ = self.guest.send(&Request::Prepare(volumes), 0, &[]).await;
    }

    /// Waits until the volumes of the last command are gone, because what they held counts as memory of the sandbox.
    pub(crate) async fn settled(&self, turn: &mut Turn) -> io::Result<()> {
        if turn.finishing {
            let finished = |response, _| matches!(response, Response::Finished).then_some(());
            self.guest.receive_until(finished).await?;
            turn.finishing = false;
        }
        Ok(())
    }

    /// Whether a tree was brought.
    pub(crate) fn has_tree(&self, tree: Digest) -> bool {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&tree)
    }

    /// Whether its processes were stopped or have ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.stopped.load(Ordering::Acquire) || self.guest.process.has_ended()
    }

    /// Refuses what is asked of a sandbox that is gone.
    pub(crate) fn check_alive(&self) -> Result<(), SandboxError> {
        if self.is_gone() { Err(SandboxError::Gone(self.lease.lease.clone())) } else { Ok(()) }
    }

    /// Marks it as stopped on purpose.
    pub(crate) fn mark_stopped(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Whether it was stopped on purpose.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}
