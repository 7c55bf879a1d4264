//! The backend: what it is given, and which sandboxes of it are alive.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_control_groups::Layout;
use ambit_ids::{BackendId, Digest, Incarnation, LeaseId, UnixMs, VolumeMount};
use ambit_measurements::{Measurements, Trust};
use ambit_ownership::is_maker_alive;
use ambit_ports::images::ImageStore;
use ambit_ports::runtime::{Clock, IdGenerator};
use ambit_ports::sandbox::{
    CapabilityManifest, Enforcer, LimitEnforcement, Lives, MissingFeature, SandboxError, SandboxLease,
    SandboxSpec,
};
use ambit_ports::volumes::VolumeStore;
use ambit_staging::Owner;

use crate::home::Home;
use crate::label::Label;
use crate::measuring::MEASURED;
use crate::runtime::{NoRuntime, Runtime, RuntimeName};
use crate::sandbox::Sandbox;
use crate::stage::{Places, Staging};
use crate::{missing, retire, trial, user};

/// What the adapter is given.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A directory of its own. Everything that it keeps on disk lies below.
    pub root: PathBuf,
    /// The runtime that makes the containers.
    pub runtime: RuntimeName,
    /// The static program that keeps containers, is the first process in each, and probes them; empty where there is none
    /// for this processor family.
    pub program: &'static [u8],
}

/// Sandboxes in containers of an OCI runtime.
pub struct OciSandboxes {
    pub(crate) id: BackendId,
    settings: Settings,
    pub(crate) runtime: Result<Runtime, NoRuntime>,
    pub(crate) images: Arc<dyn ImageStore>,
    pub(crate) volumes: Arc<dyn VolumeStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    layout: Arc<Layout>,
    /// Whether it was tried that an ordinary user can have containers here.
    tried: Mutex<bool>,
    live: Mutex<BTreeMap<LeaseId, Arc<Sandbox>>>,
    /// One at a time makes or ends the sandbox of a lease.
    changing: Vec<tokio::sync::Mutex<()>>,
    /// What the probes found, once they ran.
    pub(crate) measured: tokio::sync::Mutex<Option<CapabilityManifest>>,
    /// What they found in another process.
    pub(crate) kept: Arc<Measurements>,
}

/// Enough that two leases seldom wait for each other.
const CHANGE_LOCKS: usize = 64;

impl OciSandboxes {
    /// Makes the backend `oci:RUNTIME`. A runtime that is not there shows in the first verb that needs it.
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
        // An ordinary user's containers are in none.
        let layout = Arc::new(if user::is_ordinary() { Layout::default() } else { Layout::detect() });
        layout.sweep(is_maker_alive);
        let runtime = Runtime::find(&settings.runtime);
        Self::with(runtime, layout, settings, images, volumes, clock, ids)
    }

    fn with(
        runtime: Result<Runtime, NoRuntime>,
        layout: Arc<Layout>,
        mut settings: Settings,
        images: Arc<dyn ImageStore>,
        volumes: Arc<dyn VolumeStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, SandboxError> {
        let id = backend_id(&settings.runtime)?;
        let what = "making the directory of the sandboxes";
        let leases = settings.root.join("leases");
        std::fs::create_dir_all(&leases)
            .and_then(|()| std::fs::set_permissions(&leases, Permissions::from_mode(0o700)))
            .map_err(SandboxError::during(what))?;
        settings.root = settings.root.canonicalize().map_err(SandboxError::during(what))?;
        if settings.root.to_str().is_none() {
            // A bundle holds text.
            return Err(SandboxError::during(what)(std::io::ErrorKind::InvalidFilename.into()));
        }
        let kept = Measurements::in_directory(settings.root.join(MEASURED), id.clone(), Trust::Kept);
        Ok(Self {
            id,
            settings,
            runtime,
            images,
            volumes,
            clock,
            ids,
            layout,
            tried: Mutex::default(),
            live: Mutex::default(),
            changing: std::iter::repeat_with(tokio::sync::Mutex::default).take(CHANGE_LOCKS).collect(),
            measured: tokio::sync::Mutex::new(None),
            kept: Arc::new(kept),
        })
    }

    /// A backend of its own below this one's directory.
    pub(crate) fn beside(&self, name: &str) -> Result<Self, SandboxError> {
        let settings = Settings { root: self.settings.root.join(name), ..self.settings.clone() };
        Self::with(
            self.runtime.clone(),
            Arc::clone(&self.layout),
            settings,
            Arc::clone(&self.images),
            Arc::clone(&self.volumes),
            Arc::clone(&self.clock),
            Arc::clone(&self.ids),
        )
    }

    /// Whether containers can be made here at all.
    ///
    /// # Errors
    /// [`SandboxError::Unavailable`] with everything that this machine lacks, each with its mend.
    pub fn check(&self) -> Result<(), SandboxError> {
        self.ready(0).map(drop)
    }

    /// The runtime and a user for a container, or everything that this machine lacks for one.
    pub(crate) fn ready(&self, pick: u32) -> Result<(&Runtime, Owner), SandboxError> {
        let owner = user::pick(pick);
        if !owner.foreign {
            return self.ready_without_root(owner);
        }
        let limits = self.layout.enforcement();
        let bounded = [limits.memory, limits.processes, limits.cpu]
            .iter()
            .all(|enforcer| *enforcer != Enforcer::RlimitPerProcess);
        let lacks = [
            self.lacks_runtime()?,
            (!bounded).then(missing::groups),
            self.program().is_empty().then(missing::processor_family),
        ];
        match &self.runtime {
            Ok(runtime) if bounded && !self.program().is_empty() => Ok((runtime, owner)),
            _ => Err(SandboxError::Unavailable(lacks.into_iter().flatten().collect())),
        }
    }

    /// What this machine lacks of the runtime, if it is not there; a program that is another one is an error of its own.
    fn lacks_runtime(&self) -> Result<Option<MissingFeature>, SandboxError> {
        match &self.runtime {
            Ok(_) => Ok(None),
            Err(NoRuntime::Missing(feature)) => Ok(Some(feature.clone())),
            Err(NoRuntime::Other { program, said }) => {
                let program = program.display().to_string();
                Err(SandboxError::NotARuntime { program, said: said.clone() })
            }
        }
    }

    /// Likewise for an ordinary user, who can make no control groups and needs namespaces instead.
    fn ready_without_root(&self, owner: Owner) -> Result<(&Runtime, Owner), SandboxError> {
        let Some(runtime) = self.runtime.as_ref().ok().filter(|_| !self.program().is_empty()) else {
            let lacks = [self.lacks_runtime()?, self.program().is_empty().then(missing::processor_family)];
            return Err(SandboxError::Unavailable(lacks.into_iter().flatten().collect()));
        };
        // Held while it is tried, so that all who ask meanwhile wait for one trial. What failed is tried again.
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        if !*tried {
            trial::attempt(self.empty_stage(runtime, owner)?)?;
            *tried = true;
        }
        Ok((runtime, owner))
    }

    /// The stage of a container that is never made.
    fn empty_stage(&self, runtime: &Runtime, owner: Owner) -> Result<Staging, SandboxError> {
        let image = self.empty_image()?;
        trial::sweep(self.root());
        let directory = trial::place(self.root(), &self.ids.next().to_string());
        let places = Places {
            stage: directory.join("stage"),
            fixtures: image.clone(),
            volumes: Vec::new(),
            has_volumes: false,
            has_node_modules: false,
        };
        Ok(Staging {
            places,
            tree: image.clone(),
            image,
            owner,
            disk_bytes: 0,
            program: self.program(),
            hide_unified: runtime.kind.refuses_both_hierarchies(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.settings.root
    }

    pub(crate) const fn program(&self) -> &'static [u8] {
        self.settings.program
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What its containers and groups are called.
    pub(crate) fn label(&self) -> Label {
        Label::of(&self.settings.runtime)
    }

    pub(crate) fn groups(&self) -> LimitEnforcement {
        self.layout.enforcement()
    }

    /// Whether commands have the number of root in a user namespace or a kernel in which there is nobody else.
    pub(crate) fn is_root_by_number(&self) -> bool {
        let numbered = self.runtime.as_ref().is_ok_and(|runtime| runtime.kind.user_inside() == 0);
        user::is_ordinary() && numbered
    }

    pub(crate) fn now(&self) -> UnixMs {
        self.clock.now()
    }

    /// An image with nothing in it.
    pub(crate) fn empty_image(&self) -> Result<PathBuf, SandboxError> {
        let image = self.settings.root.join("empty");
        std::fs::create_dir_all(&image).map_err(SandboxError::during("making an empty image"))?;
        Ok(image)
    }

    pub(crate) fn change_lock(&self, lease: &LeaseId) -> &tokio::sync::Mutex<()> {
        &self.changing[chosen(lease.as_str()) as usize % self.changing.len()]
    }

    pub(crate) fn home(&self, lease: &LeaseId) -> Home {
        Home::of(&self.settings.root, lease)
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
        volumes: Vec<(VolumeMount, PathBuf)>,
    ) -> Result<SandboxLease, SandboxError> {
        let id = SandboxLease::id_of(&spec.scope, &spec.run);
        let _change = self.change_lock(&id).lock().await;
        if let Some(sandbox) = self.live(&id).filter(|sandbox| !sandbox.is_gone()) {
            let mounts = sandbox.volumes.iter().map(|(mount, _)| mount);
            let is_same = sandbox.lease.image == spec.image && mounts.eq(&spec.volumes);
            return if is_same { Ok(sandbox.lease.clone()) } else { Err(SandboxError::Conflict(id)) };
        }
        let fresh = self.ids.next();
        let (runtime, owner) = self.ready(chosen(&fresh))?;
        let incarnation = Incarnation::new(format!("inc_{fresh}")).map_err(|error| {
            SandboxError::during("naming the life of the sandbox")(std::io::Error::other(error))
        })?;
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
        retire::clear(&home, &id).await?;
        let sandbox = Sandbox {
            lease: lease.clone(),
            limits: spec.limits,
            volumes,
            blobs: Arc::clone(&spec.blobs),
            home,
            runtime: runtime.clone(),
            image: image.to_path_buf(),
            owner,
            program: self.settings.program,
            layout: Arc::clone(&self.layout),
            ids: Arc::clone(&self.ids),
            label: self.label(),
            turn: tokio::sync::Mutex::default(),
            trees: Mutex::default(),
            stopped: false.into(),
        };
        // Where it is there, it is another process's, and stays.
        sandbox.home.create(owner).map_err(SandboxError::during("making the directory of the sandbox"))?;
        if let Err(error) = sandbox.furnish(&spec.fixtures).await {
            let _ = sandbox.home.remove();
            return Err(error);
        }
        self.live.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(sandbox));
        Ok(lease)
    }
}

/// What the backend of a runtime is called.
pub(crate) fn backend_id(runtime: &RuntimeName) -> Result<BackendId, SandboxError> {
    BackendId::new(format!("oci:{runtime}"))
        .map_err(|error| SandboxError::during("naming the backend")(std::io::Error::other(error)))
}

/// A number that a text chooses.
fn chosen(text: &str) -> u32 {
    let digest = Digest::of(text.as_bytes());
    let [first, second, third, fourth, ..] = *digest.as_bytes();
    u32::from_le_bytes([first, second, third, fourth])
}
