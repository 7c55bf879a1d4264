use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{
    BackendId, ByteCount, Digest, EffectKey, GateId, Incarnation, LeaseId, RepoPath, VolumeMount,
};
use ambit_ports::sandbox::{
    BatchFileKind, FileReceipt, Maker, NamedCommand, SandboxError, SandboxLease, SandboxSpec,
};
use ambit_revision::{FileKind, Tree, TreeFile};
use bytes::Bytes;
use tokio::sync::watch;

use super::{Judge, Outcome};

/// A command that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The identity under which it was asked for.
    pub effect: EffectKey,
    /// The gate.
    pub gate: GateId,
    /// The tree that it ran on.
    pub tree: Digest,
    /// The life of the sandbox.
    pub incarnation: Incarnation,
}

/// What a command runs on.
pub struct Execution<'a> {
    /// The gate.
    pub gate: &'a GateId,
    /// The digest of the tree.
    pub tree: Digest,
    /// The volumes that it finds below `/volumes`.
    pub volumes: &'a [VolumeMount],
    files: &'a BTreeMap<RepoPath, Bytes>,
}

impl Execution<'_> {
    /// The text of a file of the tree; empty where there is none.
    #[must_use]
    pub fn text(&self, path: &str) -> String {
        let bytes = path.parse().ok().and_then(|path: RepoPath| self.files.get(&path));
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    }
}

struct Life {
    lease: SandboxLease,
    spec: SandboxSpec,
    trees: BTreeMap<Digest, BTreeMap<RepoPath, Bytes>>,
    running: u32,
    killed: watch::Sender<bool>,
    maker: Maker,
}

/// The sandboxes that exist, and what was run in any of them.
#[derive(Default)]
pub(super) struct Living {
    lives: BTreeMap<LeaseId, Life>,
    born: u32,
    pub(super) executed: Vec<Executed>,
}

impl Living {
    /// The sandbox of the run, or a new life of it where there is none.
    pub(super) fn allocate(&mut self, backend: &BackendId, spec: SandboxSpec) -> SandboxLease {
        let id = SandboxLease::id_of(&spec.scope, &spec.run);
        if let Some(life) = self.lives.get(&id) {
            return life.lease.clone();
        }
        self.born += 1;
        let lease = SandboxLease {
            lease: id.clone(),
            incarnation: Incarnation::new(format!("inc_{:06}", self.born)).unwrap(),
            backend: backend.clone(),
            run: spec.run.clone(),
            scope: spec.scope.clone(),
            image: spec.image,
        };
        let (killed, _) = watch::channel(false);
        let life = Life {
            lease: lease.clone(),
            spec,
            trees: BTreeMap::new(),
            running: 0,
            killed,
            maker: Maker::Lives,
        };
        self.lives.insert(id, life);
        lease
    }

    fn life(&mut self, lease: &SandboxLease) -> Result<&mut Life, SandboxError> {
        self.lives
            .get_mut(&lease.lease)
            .filter(|life| life.lease.incarnation == lease.incarnation)
            .ok_or_else(|| SandboxError::Gone(lease.lease.clone()))
    }

    pub(super) fn spec(&mut self, lease: &SandboxLease) -> Result<SandboxSpec, SandboxError> {
        self.life(lease).map(|life| life.spec.clone())
    }

    /// The bytes of a file of a tree that was brought.
    pub(super) fn file(&mut self, lease: &SandboxLease, tree: Digest, path: &RepoPath) -> Option<Bytes> {
        self.life(lease).ok()?.trees.get(&tree)?.get(path).cloned()
    }

    /// Takes a tree that is what its digest says.
    pub(super) fn bring(
        &mut self,
        lease: &SandboxLease,
        tree: Digest,
        files: Vec<(RepoPath, BatchFileKind, Bytes)>,
    ) -> Result<FileReceipt, SandboxError> {
        let entries = files.iter().map(|(path, kind, bytes)| {
            let kind = match kind {
                BatchFileKind::File => FileKind::File,
                BatchFileKind::Executable => FileKind::Executable,
                BatchFileKind::Link => FileKind::Link,
            };
            (path.clone(), TreeFile::of(kind, bytes))
        });
        let found = Tree::from_files(entries).map_or_else(|_| Digest::of(b""), |tree| tree.digest());
        if found != tree {
            return Err(SandboxError::TreeMismatch { expected: tree, found });
        }
        let bytes = files.iter().map(|(_, _, bytes)| bytes.len() as u64).sum();
        let receipt = FileReceipt {
            incarnation: lease.incarnation.clone(),
            tree,
            files: files.len() as u64,
            bytes: ByteCount::new(bytes),
        };
        let files = files.into_iter().map(|(path, _, bytes)| (path, bytes)).collect();
        self.life(lease)?.trees.insert(tree, files);
        Ok(receipt)
    }

    /// Stops what runs in a sandbox and answers how much it was. A sandbox that is gone has nothing.
    pub(super) fn kill(&mut self, lease: &LeaseId) -> u32 {
        let Some(life) = self.lives.get_mut(lease) else { return 0 };
        life.killed.send_replace(true);
        std::mem::take(&mut life.running)
    }

    /// Whether the lease names the life that its sandbox is in now.
    pub(super) fn is_current(&self, lease: &SandboxLease) -> bool {
        self.lives.get(&lease.lease).is_some_and(|life| life.lease.incarnation == lease.incarnation)
    }

    pub(super) fn remove(&mut self, lease: &LeaseId) {
        self.kill(lease);
        self.lives.remove(lease);
    }

    pub(super) fn clear(&mut self) {
        for lease in self.lives.keys().cloned().collect::<Vec<_>>() {
            self.remove(&lease);
        }
    }

    pub(super) fn orphan(&mut self) {
        for life in self.lives.values_mut() {
            life.maker = Maker::Gone;
        }
    }

    /// Every sandbox, with what is known of whoever made it.
    pub(super) fn makers(&self) -> Vec<(LeaseId, Maker)> {
        self.lives.iter().map(|(lease, life)| (lease.clone(), life.maker)).collect()
    }

    pub(super) fn leases(&self) -> Vec<SandboxLease> {
        self.lives.values().map(|life| life.lease.clone()).collect()
    }
}

/// A command that runs. Where it is dropped before its end, since the control plane is gone, its processes stay.
pub(super) struct Running {
    lives: Arc<Mutex<Living>>,
    lease: LeaseId,
    pub(super) killed: watch::Receiver<bool>,
}

impl Running {
    pub(super) fn begin(
        lives: &Arc<Mutex<Living>>,
        lease: &SandboxLease,
        command: &NamedCommand,
        judge: &Judge,
    ) -> Result<(Outcome, Self), SandboxError> {
        let mut locked = lives.lock().unwrap_or_else(PoisonError::into_inner);
        let life = locked.life(lease)?;
        let files = life.trees.get(&command.tree).ok_or(SandboxError::TreeMissing(command.tree))?;
        if let Some(VolumeMount { name, digest }) =
            command.volumes.iter().find(|volume| !life.spec.volumes.contains(volume)).cloned()
        {
            return Err(SandboxError::VolumeMissing { name, digest });
        }
        let outcome =
            judge(&Execution { gate: &command.gate, tree: command.tree, volumes: &command.volumes, files });
        life.running += 1;
        let killed = life.killed.subscribe();
        locked.executed.push(Executed {
            effect: command.effect.clone(),
            gate: command.gate.clone(),
            tree: command.tree,
            incarnation: lease.incarnation.clone(),
        });
        Ok((outcome, Self { lives: lives.clone(), lease: lease.lease.clone(), killed }))
    }

    /// The command has ended, and nothing of it is left.
    pub(super) fn end(self) {
        let mut lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(life) = lives.lives.get_mut(&self.lease) {
            life.running = life.running.saturating_sub(1);
        }
    }
}
