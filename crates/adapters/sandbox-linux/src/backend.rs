//! The backend: what it is given, and which sandboxes of it are alive.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{BackendId, Digest, Incarnation, LeaseId};
use ambit_ports::images::ImageStore;
use ambit_ports::runtime::{Clock, IdGenerator};
use ambit_ports::sandbox::{CapabilityManifest, Lives, SandboxError, SandboxLease, SandboxSpec};
use ambit_ports::volumes::VolumeStore;

use crate::cgroup::Layout;
use crate::guest::{Nursery, io_error};
use crate::home::Home;
use crate::pool::Pool;
use crate::sandbox::{Making, Sandbox};
use crate::{machine, retire};

/// What the adapter is given.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A directory of its own. Everything that it keeps on disk lies below.
    pub root: PathBuf,
    /// How many guests wait ready for the next run.
    pub spare_guests: usize,
}

/// Sandboxes of the Linux kernel.
pub struct LinuxSandboxes {
    pub(crate) id: BackendId,
    root: PathBuf,
    pub(crate) images: Arc<dyn ImageStore>,
    pub(crate) volumes: Arc<dyn VolumeStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    pool: Arc<Pool>,
    live: Mutex<BTreeMap<LeaseId, Arc<Sandbox>>>,
    /// One at a time makes or ends the sandbox of a lease.
    changing: Vec<tokio::sync::Mutex<()>>,
    /// What the probes found, once they ran.
    pub(crate) measured: tokio::sync::Mutex<Option<CapabilityManifest>>,
}

/// Enough that two leases seldom wait for each other.
const CHANGE_LOCKS: usize = 64;

impl LinuxSandboxes {
    /// The backend's name.
    pub const ID: &'static str = "linux";

    /// Makes the backend. Nothing is started before the first verb that needs it.
    ///
    /// # Errors
    /// [`SandboxError::Io`] where the directory cannot be made.
    pub fn new(
        settings: Settings,
        images: Arc<dyn ImageStore>,
        volumes: Arc<dyn VolumeStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, SandboxError> {
        let layout = Layout::detect();
        layout.sweep(machine::is_process_alive);
        Self::with_layout(layout, settings, images, volumes, clock, ids)
    }

    fn with_layout(
        layout: Layout,
        settings: Settings,
        images: Arc<dyn ImageStore>,
        volumes: Arc<dyn VolumeStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, SandboxError> {
        let id = BackendId::new(Self::ID)
            .map_err(|error| io_error("naming the backend")(std::io::Error::other(error)))?;
        let leases = settings.root.join("leases");
        std::fs::create_dir_all(&leases)
            .and_then(|()| std::fs::set_permissions(&leases, Permissions::from_mode(0o700)))
            .map_err(io_error("making the directory of the sandboxes"))?;
        let pool = Pool::new(Nursery::new(layout), Arc::clone(&ids), settings.spare_guests);
        Ok(Self {
            id,
            root: settings.root,
            images,
            volumes,
            clock,
            ids,
            pool: Arc::new(pool),
            live: Mutex::default(),
            changing: std::iter::repeat_with(tokio::sync::Mutex::default).take(CHANGE_LOCKS).collect(),
            measured: tokio::sync::Mutex::new(None),
        })
    }

    /// A backend of its own below this one's directory, with its own spawner.
    pub(crate) fn beside(&self, name: &str) -> Result<Self, SandboxError> {
        let settings = Settings { root: self.root.join(name), spare_guests: 0 };
        let layout = self.layout().clone();
        Self::with_layout(
            layout,
            settings,
            Arc::clone(&self.images),
            Arc::clone(&self.volumes),
            Arc::clone(&self.clock),
            Arc::clone(&self.ids),
        )
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.pool.nursery().layout()
    }

    pub(crate) fn now(&self) -> ambit_ids::UnixMs {
        self.clock.now()
    }

    /// An image with nothing in it.
    pub(crate) fn empty_image(&self) -> Result<PathBuf, SandboxError> {
        let image = self.root.join("empty");
        std::fs::create_dir_all(&image).map_err(io_error("making an empty image"))?;
        Ok(image)
    }

    /// Whether the workspace of a live sandbox is a copy of this tree.
    pub(crate) async fn copies_the_tree(&self, lease: &SandboxLease, tree: Digest) -> bool {
        match self.sandbox(lease) {
            Ok(sandbox) => sandbox.copies(tree).await.unwrap_or(false),
            Err(_) => false,
        }
    }

    /// Kills a guest as an accident would; answers whether there was one.
    pub(crate) async fn lose_guest(&self, lease: &SandboxLease) -> bool {
        let Some(sandbox) = self.live(&lease.lease) else { return false };
        sandbox.guest.process.kill().is_ok() && sandbox.guest.process.ended().await
    }

    /// Ends the spawner as an accident would, and with it every guest of this backend; answers whether that of the lease
    /// ended.
    pub(crate) async fn lose_spawner(&self, lease: &SandboxLease) -> bool {
        let Some(sandbox) = self.live(&lease.lease) else { return false };
        self.pool.nursery().lose_spawner().await;
        sandbox.guest.process.ended().await
    }

    pub(crate) fn change_lock(&self, lease: &LeaseId) -> &tokio::sync::Mutex<()> {
        let [first, ..] = *Digest::of(lease.as_str().as_bytes()).as_bytes();
        &self.changing[usize::from(first) % self.changing.len()]
    }

    pub(crate) fn home(&self, lease: &LeaseId) -> Home {
        Home::of(&self.root, lease)
    }

    fn live(&self, lease: &LeaseId) -> Option<Arc<Sandbox>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).get(lease).cloned()
    }

    /// The sandbox of exactly this life. Whether it is still alive, it answers itself.
    pub(crate) fn sandbox(&self, lease: &SandboxLease) -> Result<Arc<Sandbox>, SandboxError> {
        self.live(&lease.lease)
            .filter(|sandbox| sandbox.lease.incarnation == lease.incarnation)
            .ok_or_else(|| SandboxError::Gone(lease.lease.clone()))
    }

    /// Takes the sandbox of this life out of use, before it is ended.
    pub(crate) fn withdraw(&self, lease: &SandboxLease, lives: Lives) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant =
            |sandbox: &&Arc<Sandbox>| lives == Lives::Every || sandbox.lease.incarnation == lease.incarnation;
        if let Some(sandbox) = live.get(&lease.lease).filter(is_meant) {
            sandbox.mark_stopped();
            live.remove(&lease.lease);
        }
    }

    /// Makes the sandbox of a run from the directory of an image, and those of its volumes in their order.
    pub(crate) async fn allocate_from(
        &self,
        spec: &SandboxSpec,
        image: &Path,
        volumes: &[PathBuf],
    ) -> Result<SandboxLease, SandboxError> {
        let id = SandboxLease::id_of(&spec.scope, &spec.run);
        let _change = self.change_lock(&id).lock().await;
        if let Some(sandbox) = self.live(&id).filter(|sandbox| !sandbox.is_gone()) {
            let is_same = sandbox.lease.image == spec.image && sandbox.mounts == spec.volumes;
            return if is_same { Ok(sandbox.lease.clone()) } else { Err(SandboxError::Conflict(id)) };
        }
        let incarnation = Incarnation::new(format!("inc_{}", self.ids.next()))
            .map_err(|error| io_error("naming the life of the sandbox")(std::io::Error::other(error)))?;
        let lease = SandboxLease {
            lease: id.clone(),
            incarnation,
            backend: self.id.clone(),
            run: spec.run.clone(),
            scope: spec.scope.clone(),
            image: spec.image,
        };
        let home = self.home(&id);
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        retire::clear(&home, &lease).await?;
        let making = Making {
            lease: lease.clone(),
            limits: spec.limits,
            fixtures: &spec.fixtures,
            volumes: spec.volumes.iter().cloned().zip(volumes).collect(),
            blobs: Arc::clone(&spec.blobs),
            home,
            enforced: self.layout().enforcement(),
            image,
        };
        let sandbox = Sandbox::make(making, self.pool.take().await?).await;
        self.pool.refill();
        self.live.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(sandbox?));
        Ok(lease)
    }
}
