//! The backend: what it is given, and which sandboxes of it are alive.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_control_groups::Layout;
use ambit_ids::{BackendId, Digest, LeaseId};
use ambit_measurements::{Measurements, Trust};
use ambit_ownership::is_maker_alive;
use ambit_ports::images::ImageStore;
use ambit_ports::runtime::{Clock, IdGenerator};
use ambit_ports::sandbox::{
    CapabilityManifest, FileBatch, FileReceipt, Lives, SandboxError, SandboxLease, SandboxSpec,
};
use ambit_ports::volumes::VolumeStore;

use crate::guest::Nursery;
use crate::home::{Home, Share};
use crate::measuring::MEASURED;
use crate::pool::{Pool, PoolCounts};
use crate::remembered::Memory;
use crate::retire;
use crate::sandbox::{Making, Sandbox};
use crate::slot::Fittings;
use crate::trees::Trees;

/// What the adapter is given.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A directory of its own. Everything that it keeps on disk lies below.
    pub root: PathBuf,
    /// How many slots wait ready for the next run.
    pub spare_guests: usize,
}

/// A number that no slot can know before it is asked for it.
fn nonce_of(fresh: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *Digest::of(fresh.as_bytes()).as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
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
    trees: Arc<Trees>,
    /// What leases have kept.
    memory: Memory,
    /// Where images lie that this process has asked for.
    roots: Mutex<BTreeMap<Digest, PathBuf>>,
    live: Mutex<BTreeMap<LeaseId, Arc<Sandbox>>>,
    /// One at a time makes or ends the sandbox of a lease.
    changing: Vec<tokio::sync::Mutex<()>>,
    /// What the probes found, once they ran.
    pub(crate) measured: tokio::sync::Mutex<Option<CapabilityManifest>>,
    /// What they found in another process.
    pub(crate) kept: Arc<Measurements>,
}

/// So many places of images are remembered.
const KNOWN_IMAGES: usize = 64;

fn make_private(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    std::fs::set_permissions(directory, Permissions::from_mode(0o700))
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
        layout.sweep(is_maker_alive);
        Self::with_layout(layout, settings, images, volumes, clock, ids)
    }

    fn with_layout(
        layout: Layout,
        mut settings: Settings,
        images: Arc<dyn ImageStore>,
        volumes: Arc<dyn VolumeStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, SandboxError> {
        let id = BackendId::new(Self::ID)
            .map_err(|error| SandboxError::during("naming the backend")(std::io::Error::other(error)))?;
        let leases = settings.root.join("leases");
        let what = "making the directory of the sandboxes";
        make_private(&leases).map_err(SandboxError::during(what))?;
        // The kernel's tables know places by their real names alone.
        settings.root = settings.root.canonicalize().map_err(SandboxError::during(what))?;
        let slots = settings.root.join("slots");
        Share::sweep(&slots, is_maker_alive);
        make_private(&slots).map_err(SandboxError::during("making the directory of the slots"))?;
        let trees = settings.root.join("trees");
        make_private(&trees).map_err(SandboxError::during("making the directory of the trees"))?;
        // What is being written or removed belongs to a process; what is whole to nobody.
        Share::sweep(&trees, |name| !name.contains('-') || is_maker_alive(name));
        let pool = Pool::new(Nursery::new(layout), Arc::clone(&ids), settings.spare_guests, slots);
        let kept = Measurements::in_directory(settings.root.join(MEASURED), id.clone(), Trust::Kept);
        Ok(Self {
            id,
            root: settings.root,
            images,
            volumes,
            clock,
            ids,
            pool: Arc::new(pool),
            trees: Arc::new(Trees::new(trees)),
            memory: Memory::default(),
            roots: Mutex::default(),
            live: Mutex::default(),
            changing: std::iter::repeat_with(tokio::sync::Mutex::default).take(CHANGE_LOCKS).collect(),
            measured: tokio::sync::Mutex::new(None),
            kept: Arc::new(kept),
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

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.pool.nursery().layout()
    }

    pub(crate) fn now(&self) -> ambit_ids::UnixMs {
        self.clock.now()
    }

    /// Where the files of an image lie. The store holds an image against its digest once for each process, so it is asked
    /// again only where the files are gone.
    pub(crate) async fn image_root(&self, image: Digest) -> Result<PathBuf, SandboxError> {
        let roots = || self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = roots().get(&image).cloned();
        if let Some(root) = known.filter(|root| root.is_dir()) {
            return Ok(root);
        }
        let root = self.images.root(image).await?;
        let mut roots = roots();
        if roots.len() >= KNOWN_IMAGES {
            roots.clear();
        }
        roots.insert(image, root.clone());
        Ok(root)
    }

    /// An image with nothing in it.
    pub(crate) fn empty_image(&self) -> Result<PathBuf, SandboxError> {
        let image = self.root.join("empty");
        std::fs::create_dir_all(&image).map_err(SandboxError::during("making an empty image"))?;
        Ok(image)
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

    /// Makes a sandbox from a slot that waited, and where none does that still lives, from one that is made now.
    async fn sandbox_of(
        &self,
        making: Making<'_>,
        fittings: &Arc<Fittings>,
    ) -> Result<Sandbox, SandboxError> {
        let nonce = nonce_of(&self.ids.next());
        while let Some(slot) = self.pool.take(fittings, &making.spec.scope, nonce).await {
            match Sandbox::make(making.clone(), slot, Some(nonce)).await {
                Err(SandboxError::Gone(_)) => self.pool.count_dropped(),
                made => {
                    self.pool.count(true);
                    return made;
                }
            }
        }
        self.pool.count(false);
        Sandbox::make(making, self.pool.make_whole(fittings).await?, None).await
    }

    /// Brings a tree that a lease of the same scope brought before, without its files being named again; `None` where
    /// there is none, and then [`write_files`](ambit_ports::sandbox::SandboxPort::write_files) brings it.
    ///
    /// # Errors
    /// [`SandboxError::Gone`] where the sandbox is.
    pub async fn recall_tree(
        &self,
        lease: &SandboxLease,
        tree: Digest,
    ) -> Result<Option<FileReceipt>, SandboxError> {
        let sandbox = self.sandbox(lease)?;
        let receipt = sandbox.recall(tree).await?;
        self.learn(&sandbox);
        Ok(receipt)
    }

    /// Brings a tree, and learns for the next lease which it was.
    pub(crate) async fn bring(
        &self,
        lease: &SandboxLease,
        batch: FileBatch,
    ) -> Result<FileReceipt, SandboxError> {
        let sandbox = self.sandbox(lease)?;
        let receipt = sandbox.write_files(batch).await?;
        self.learn(&sandbox);
        Ok(receipt)
    }

    fn learn(&self, sandbox: &Sandbox) {
        if let Some((tree, held)) = sandbox.first_shared() {
            self.pool.brought(&sandbox.lease.scope, tree, held, sandbox.was_foreseen());
        }
    }

    /// What the pool of slots did so far.
    #[must_use]
    pub fn pool_counts(&self) -> PoolCounts {
        self.pool.counts()
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
        let home = self.home(&id);
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        retire::clear(&home, &id).await?;
        let making = Making {
            lease: id.clone(),
            backend: &self.id,
            spec,
            blobs: self.memory.over(Arc::clone(&spec.blobs), &spec.scope),
            home,
            enforced: self.layout().enforcement(),
            shared: Arc::clone(&self.trees),
        };
        let volumes = spec.volumes.iter().cloned().zip(volumes.iter().cloned()).collect();
        let fittings = Arc::new(Fittings::new(image.to_path_buf(), volumes, spec.limits, &spec.scope));
        let beginning = self.pool.begin();
        let sandbox = self.sandbox_of(making, &fittings).await;
        self.pool.refill();
        let mut sandbox = sandbox?;
        sandbox.beginning = Mutex::new(Some(beginning));
        let lease = sandbox.lease.clone();
        self.live.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(sandbox));
        Ok(lease)
    }
}
