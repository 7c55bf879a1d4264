//! A sandbox: a guest in the hands of one run.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ambit_control_groups::Gauges;
use ambit_ids::{BackendId, ByteCount, Digest, ExecutionLimits, LeaseId, VolumeMount};
use ambit_ports::blobs::BlobStore;
use ambit_ports::sandbox::{
    FileBatch, FileReceipt, Fixture, LimitEnforcement, SandboxError, SandboxLease, SandboxSpec,
};
use ambit_sandbox_guest::wire::{Request, Response, Sizes, TREE_NAME_BYTES, Volumes};
use ambit_staging::{Fresh, Stage, batch_digest};

use crate::guest::Guest;
use crate::home::Home;
use crate::pool::Beginning;
use crate::slot::{Prepared, Slot};
use crate::trees::{Held, Trees};
use crate::turn::Turn;

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
    gauges: OnceLock<Gauges>,
    /// The trees that were brought.
    trees: Mutex<BTreeMap<Digest, Brought>>,
    /// The tree that the guest had before one was brought.
    foreseen: Mutex<Option<Prepared>>,
    /// Whether it was told which tree came first.
    is_learned: AtomicBool,
    was_foreseen: AtomicBool,
    /// Those that leases share.
    shared: Arc<Trees>,
    stopped: AtomicBool,
    /// Until its first command has ended.
    pub(crate) beginning: Mutex<Option<Beginning>>,
}

/// A tree that was brought.
struct Brought {
    /// The digest of the batch that it came as.
    batch: Digest,
    /// What keeps it where it is, where others may use it too.
    held: Option<Arc<Held>>,
}

impl Brought {
    /// What the guest calls it. One that others use goes by what is in it, so that no other comes to have its name.
    fn name(&self, tree: Digest) -> Digest {
        if self.held.is_some() { self.batch } else { tree }
    }
}

/// What a sandbox is made of, beside its slot.
#[derive(Clone)]
pub(crate) struct Making<'a> {
    pub(crate) lease: LeaseId,
    pub(crate) backend: &'a BackendId,
    pub(crate) spec: &'a SandboxSpec,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) home: Home,
    pub(crate) enforced: LimitEnforcement,
    pub(crate) shared: Arc<Trees>,
}

/// The name of a tree as the guest takes it.
pub(crate) fn tree_name(digest: Digest) -> [u8; TREE_NAME_BYTES] {
    let mut name = [0; TREE_NAME_BYTES];
    name.copy_from_slice(digest.to_hex().as_bytes());
    name
}

/// How large the volumes of a command are that may write so much.
pub(crate) fn sizes(disk_bytes: ByteCount) -> Sizes {
    /// One file for this many bytes, and some for the smallest volumes.
    const BYTES_PER_FILE: u64 = 4096;
    const LEAST_FILES: u64 = 1024;
    // A volume that has at least one block: the kernel takes a size of zero for no limit at all.
    let disk_bytes = disk_bytes.get().max(BYTES_PER_FILE);
    Sizes { disk_bytes, disk_files: (disk_bytes / BYTES_PER_FILE).max(LEAST_FILES) }
}

impl Sandbox {
    /// Hands a slot to a run. One that waited was asked to answer with `proof`, and is [`Gone`](SandboxError::Gone) where
    /// it does not.
    pub(crate) async fn make(
        making: Making<'_>,
        slot: Slot,
        proof: Option<u64>,
    ) -> Result<Self, SandboxError> {
        let Making { lease, backend, spec, blobs, home, enforced, shared } = making;
        let Slot { guest, incarnation, share, volumes, applied, tree, counted, .. } = slot;
        home.take_over(share).map_err(SandboxError::during("taking a sandbox over"))?;
        let lease = SandboxLease {
            lease,
            incarnation,
            backend: backend.clone(),
            run: spec.run.clone(),
            scope: spec.scope.clone(),
            image: spec.image,
        };
        let sandbox = Self {
            lease,
            limits: spec.limits,
            mounts: volumes,
            blobs,
            home,
            enforced,
            gauges: OnceLock::new(),
            guest,
            turn: tokio::sync::Mutex::new(Turn::of(applied, counted)),
            shared,
            trees: Mutex::default(),
            foreseen: Mutex::new(tree),
            is_learned: AtomicBool::new(false),
            was_foreseen: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            beginning: Mutex::default(),
        };
        match sandbox.move_in(&spec.fixtures, proof).await {
            Ok(()) => Ok(sandbox),
            Err(error) => {
                let _ = sandbox.home.remove();
                Err(error)
            }
        }
    }

    async fn move_in(&self, fixtures: &[Fixture], proof: Option<u64>) -> Result<(), SandboxError> {
        for fixture in fixtures {
            let is_name =
                !fixture.name.starts_with('.') && !fixture.name.contains('/') && !fixture.name.is_empty();
            if !is_name {
                return Err(SandboxError::during("staging the fixtures")(io::ErrorKind::InvalidInput.into()));
            }
            self.stage().write(&fixture.files, &self.home.fixture(&fixture.name)).await?;
        }
        match proof {
            Some(nonce) => self.proven(nonce).await,
            None => Ok(()),
        }
    }

    async fn proven(&self, wanted: u64) -> Result<(), SandboxError> {
        match self.guest.receive().await {
            Ok((Response::Proven { nonce }, [door, ..])) if nonce == wanted => {
                let foreseen = self.foreseen.lock().unwrap_or_else(PoisonError::into_inner);
                if let (Some(prepared), Some(door), Ok(mut turn)) = (&*foreseen, door, self.turn.try_lock()) {
                    turn.stands_ready(prepared.volumes, door);
                }
                Ok(())
            }
            _ => Err(SandboxError::Gone(self.lease.lease.clone())),
        }
    }

    fn stage(&self) -> Stage<'_> {
        Stage { scope: &self.lease.scope, blobs: &self.blobs, owner: self.guest.outer }
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
        let name = self.trees().get(&tree).map_or(tree, |brought| brought.name(tree));
        Volumes { tree: tree_name(name), sizes: sizes(limits.disk_bytes), declared }
    }

    fn trees(&self) -> std::sync::MutexGuard<'_, BTreeMap<Digest, Brought>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings a tree.
    pub(crate) async fn write_files(&self, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        self.check_alive()?;
        let arrived = batch_digest(&batch.files);
        let known = self.trees().get(&batch.tree).map(|brought| brought.batch);
        let receipt = |bytes| FileReceipt {
            incarnation: self.lease.incarnation.clone(),
            tree: batch.tree,
            files: batch.files.len() as u64,
            bytes,
        };
        match known {
            Some(known) if known == arrived => {
                let bytes = batch.files.iter().map(|file| file.size.get()).sum();
                return Ok(receipt(ByteCount::new(bytes)));
            }
            Some(_) => return Err(SandboxError::TreeMismatch { expected: batch.tree, found: arrived }),
            None => {}
        }
        let held = match self.foreseen(batch.tree, Some(arrived)) {
            Some(prepared) => {
                let bytes = prepared.held.bytes;
                self.adopt(prepared).await;
                return Ok(receipt(bytes));
            }
            None if self.guest.can_share() => self.shared.keep(&self.stage(), &batch, arrived).await?,
            None => None,
        };
        if let Some(held) = held {
            let bytes = held.bytes;
            if self.share(batch.tree, held).await? {
                return Ok(receipt(bytes));
            }
        }
        // Under a name of its own until it is whole, so that no command can name half a tree.
        let place = self.home.tree(batch.tree);
        let fresh = Fresh::beside(&place);
        let bytes = self.stage().write(&batch.files, fresh.path()).await?;
        self.keep_fresh(fresh, batch.tree, arrived)?;
        self.hint(self.volumes(batch.tree, &self.limits, 0)).await;
        Ok(receipt(bytes))
    }

    /// Gives a tree its name, unless somebody who brought the same was faster.
    fn keep_fresh(&self, fresh: Fresh, tree: Digest, arrived: Digest) -> Result<(), SandboxError> {
        let mut trees = self.trees();
        if trees.get(&tree).is_none_or(|brought| brought.batch != arrived) {
            fresh.keep(&self.home.tree(tree)).map_err(SandboxError::during("keeping the tree"))?;
            trees.insert(tree, Brought { batch: arrived, held: None });
        }
        Ok(())
    }

    /// Brings a tree that a lease of the same scope brought before, without its files being named again; `None` where
    /// there is none.
    pub(crate) async fn recall(&self, tree: Digest) -> Result<Option<FileReceipt>, SandboxError> {
        self.check_alive()?;
        if self.has_tree(tree) || !self.guest.can_share() {
            return Ok(None);
        }
        let receipt = |held: &Held| FileReceipt {
            incarnation: self.lease.incarnation.clone(),
            tree,
            files: held.files,
            bytes: held.bytes,
        };
        if let Some(prepared) = self.foreseen(tree, None) {
            let receipt = receipt(&prepared.held);
            self.adopt(prepared).await;
            return Ok(Some(receipt));
        }
        let Some(held) = self.shared.find(&self.lease.scope, tree) else { return Ok(None) };
        let receipt = receipt(&held);
        Ok(self.share(tree, held).await?.then_some(receipt))
    }

    /// The tree that is in the guest already, where it is this one, and came as this batch.
    fn foreseen(&self, tree: Digest, batch: Option<Digest>) -> Option<Prepared> {
        let mut foreseen = self.foreseen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |prepared: &mut Prepared| {
            prepared.tree == tree && batch.is_none_or(|batch| prepared.held.batch == batch)
        };
        foreseen.take_if(is_it)
    }

    /// Takes that tree for one that was brought.
    async fn adopt(&self, prepared: Prepared) {
        self.was_foreseen.store(true, Ordering::Relaxed);
        let Prepared { tree, held, volumes } = prepared;
        self.trees().insert(tree, Brought { batch: held.batch, held: Some(held) });
        let wanted = self.volumes(tree, &self.limits, 0);
        if wanted != volumes {
            self.hint(wanted).await;
        }
    }

    /// Whether a tree was in the slot before it was brought.
    pub(crate) fn was_foreseen(&self) -> bool {
        self.was_foreseen.load(Ordering::Relaxed)
    }

    /// Hands a shared tree to the guest; answers whether this machine can.
    async fn share(&self, tree: Digest, held: Held) -> Result<bool, SandboxError> {
        let is_handed = |brought: &Brought| brought.batch == held.batch && brought.held.is_some();
        let has_it = self.trees().values().any(is_handed);
        if !has_it && !held.hand_to(&self.guest, &self.home.tree(held.batch)).await? {
            return Ok(false);
        }
        self.trees().insert(tree, Brought { batch: held.batch, held: Some(Arc::new(held)) });
        self.hint(self.volumes(tree, &self.limits, 0)).await;
        Ok(true)
    }

    /// The tree that was brought first, where it is shared; answered once.
    pub(crate) fn first_shared(&self) -> Option<(Digest, Arc<Held>)> {
        let trees = self.trees();
        let (tree, brought) = trees.first_key_value()?;
        if self.is_learned.swap(true, Ordering::Relaxed) || trees.len() > 1 {
            return None;
        }
        Some((*tree, Arc::clone(brought.held.as_ref()?)))
    }

    /// Lets the guest prepare the volumes of the next command while nobody waits. What comes of it shows when the command
    /// does, and only that reads the answer: of many hints without a command the last are not given.
    pub(crate) async fn hint(&self, volumes: Volumes) {
        if let Ok(mut turn) = self.turn.try_lock()
            && turn.may_hint(volumes)
        {
            let _ = self.guest.send(&Request::Prepare(volumes), 0, &[]).await;
        }
    }

    /// Whether the workspace is a copy of this tree.
    pub(crate) async fn copies(&self, tree: Digest) -> io::Result<bool> {
        let mut turn = self.turn.lock().await;
        self.settled(&mut turn).await?;
        let volumes = self.volumes(tree, &self.limits, 0);
        turn.forget_the_door(volumes);
        self.guest.send(&Request::Prepare(volumes), 0, &[]).await?;
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
        turn.begin_anew(volumes);
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
        self.trees().contains_key(&tree)
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

    /// The counters of its control group.
    pub(crate) fn gauges(&self) -> &Gauges {
        self.gauges.get_or_init(|| Gauges::open(&self.guest.group))
    }

    /// Its first command has ended.
    pub(crate) fn has_begun(&self) {
        drop(self.beginning.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Whether it was stopped on purpose.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}
