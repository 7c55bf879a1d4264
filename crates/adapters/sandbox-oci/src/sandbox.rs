//! A sandbox: a directory in the hands of one run, in which containers are made one after the other.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_control_groups::{GroupLimits, Layout};
use ambit_ids::{Digest, ExecutionLimits, VolumeMount};
use ambit_ports::blobs::BlobStore;
use ambit_ports::runtime::IdGenerator;
use ambit_ports::sandbox::{FileBatch, FileReceipt, Fixture, NamedCommand, SandboxError, SandboxLease};
use ambit_staging::{Fresh, Owner, Stage, batch_digest};
use tokio::sync::mpsc;

use crate::bundle::{Config, Making};
use crate::container::{Container, Plan};
use crate::groups::Groups;
use crate::hold::Hold;
use crate::home::{Home, Record};
use crate::label::Label;
use crate::runtime::Runtime;
use crate::stage::{Places, Staging};

/// A live sandbox.
pub(crate) struct Sandbox {
    pub(crate) lease: SandboxLease,
    pub(crate) limits: ExecutionLimits,
    /// The declared volumes, each with its directory.
    pub(crate) volumes: Vec<(VolumeMount, PathBuf)>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) home: Home,
    pub(crate) runtime: Runtime,
    /// The directory of the image.
    pub(crate) image: PathBuf,
    pub(crate) owner: Owner,
    pub(crate) program: &'static [u8],
    pub(crate) layout: Arc<Layout>,
    pub(crate) ids: Arc<dyn IdGenerator>,
    /// What its containers and groups are called.
    pub(crate) label: Label,
    /// Held by the one execution at a time.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// The trees that were brought, each with the digest of the batch that it came as.
    pub(crate) trees: Mutex<BTreeMap<Digest, Digest>>,
    pub(crate) stopped: AtomicBool,
}

impl Sandbox {
    /// Brings the fixtures and writes the record.
    pub(crate) async fn furnish(&self, fixtures: &[Fixture]) -> Result<(), SandboxError> {
        for fixture in fixtures {
            let is_name =
                !fixture.name.starts_with('.') && !fixture.name.contains('/') && !fixture.name.is_empty();
            if !is_name {
                return Err(SandboxError::during("staging the fixtures")(io::ErrorKind::InvalidInput.into()));
            }
            self.stage().write(&fixture.files, &self.home.fixtures().join(&fixture.name)).await?;
        }
        let record =
            Record { incarnation: self.lease.incarnation.clone(), ended: false, groups: None, keeper: None };
        self.home.write_record(&record).map_err(SandboxError::during("recording the sandbox"))
    }

    fn stage(&self) -> Stage<'_> {
        Stage { scope: &self.lease.scope, blobs: &self.blobs, owner: self.owner }
    }

    /// Refuses a volume that the sandbox was not made with.
    pub(crate) fn check_volumes(&self, named: &[VolumeMount]) -> Result<(), SandboxError> {
        match named.iter().find(|named| !self.volumes.iter().any(|(mount, _)| mount == *named)) {
            Some(VolumeMount { name, digest }) => {
                Err(SandboxError::VolumeMissing { name: name.clone(), digest: *digest })
            }
            None => Ok(()),
        }
    }

    /// Makes the container of a command, which waits for its start. `present` goes with the last of it.
    pub(crate) async fn container(
        &self,
        command: &NamedCommand,
        limits: &ExecutionLimits,
        present: mpsc::Sender<()>,
    ) -> Result<Container, SandboxError> {
        let id = self.label.container(&self.ids.next());
        let directory = self.home.container(&id);
        let places = Places {
            stage: directory.join("stage"),
            fixtures: self.home.fixtures(),
            volumes: self
                .volumes
                .iter()
                .filter(|(mount, _)| command.volumes.contains(mount))
                .map(|(mount, root)| (mount.name.as_str().to_owned(), root.clone()))
                .collect(),
            has_volumes: !self.volumes.is_empty(),
            has_node_modules: self.volumes.iter().any(|(mount, _)| mount.name.as_str() == "node_modules"),
        };
        let kind = self.runtime.kind;
        let config =
            Config::of(&Making { kind, id: &id, owner: self.owner, places: &places, command, limits });
        let groups = if self.owner.foreign { Some(self.new_groups(&id)?) } else { None };
        let plan = Plan {
            runtime: self.runtime.clone(),
            directory,
            config,
            groups,
            limits: GroupLimits {
                memory_bytes: limits.memory_bytes.get(),
                processes: kind.processes(u64::from(limits.processes)),
                cpu_millis: u64::from(limits.cpu_millis),
            },
            staging: Staging {
                places,
                image: self.image.clone(),
                tree: self.home.tree(command.tree),
                owner: self.owner,
                disk_bytes: limits.disk_bytes.get(),
                program: self.program,
                hide_unified: kind.refuses_both_hierarchies(),
            },
            id,
        };
        let mut container = Container::stage(plan, present).await?;
        if let Hold::Cell(cell) = &container.hold {
            self.note(|record| record.keeper = Some(cell.keeper.clone()))?;
        }
        container.start().await?;
        Ok(container)
    }

    /// The groups of a container, which stand in the record before anything is in them.
    fn new_groups(&self, container: &str) -> Result<Groups, SandboxError> {
        let groups = Groups::make(&self.layout, container)
            .map_err(SandboxError::during("making the control groups"))?;
        match self.note(|record| record.groups = Some(groups.clone())) {
            Ok(()) => Ok(groups),
            Err(error) => {
                groups.remove();
                Err(error)
            }
        }
    }

    /// Notes in the record by what a container can be ended, where the sandbox goes on.
    fn note(&self, change: impl FnOnce(&mut Record)) -> Result<(), SandboxError> {
        let noted = self.home.change(|record| {
            let goes_on = !record.ended && record.incarnation == self.lease.incarnation;
            if goes_on {
                change(record);
            }
            goes_on
        });
        match noted.map_err(SandboxError::during("recording the container"))? {
            Some(true) => Ok(()),
            _ => Err(SandboxError::Gone(self.lease.lease.clone())),
        }
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
        let fresh = Fresh::beside(&place);
        let bytes = self.stage().write(&batch.files, fresh.path()).await?;
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody who brought the same was faster.
        if trees.get(&batch.tree) != Some(&arrived) {
            fresh.keep(&place).map_err(SandboxError::during("keeping the tree"))?;
            trees.insert(batch.tree, arrived);
        }
        Ok(receipt(bytes))
    }

    /// Whether a tree was brought.
    pub(crate) fn has_tree(&self, tree: Digest) -> bool {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&tree)
    }

    /// Whether it was ended, here or in another process.
    pub(crate) fn is_gone(&self) -> bool {
        let lives = |record: Record| !record.ended && record.incarnation == self.lease.incarnation;
        self.stopped.load(Ordering::Acquire) || !self.home.read_record().ok().flatten().is_some_and(lives)
    }

    /// Refuses what is asked of a sandbox that is gone.
    pub(crate) fn check_alive(&self) -> Result<(), SandboxError> {
        if self.is_gone() { Err(SandboxError::Gone(self.lease.lease.clone())) } else { Ok(()) }
    }

    /// Marks it as stopped on purpose.
    pub(crate) fn mark_stopped(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// The error of a container of which something is left.
    pub(crate) fn unproven(&self, left: u32) -> SandboxError {
        SandboxError::DestructionUnproven {
            lease: self.lease.lease.clone(),
            remaining: vec![("processes or control groups of a container".into(), left)],
        }
    }
}
