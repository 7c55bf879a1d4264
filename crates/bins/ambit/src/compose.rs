//! The composition root: the only place that knows which adapters exist.

use std::sync::Arc;

use ambit_blobs::DirectoryBlobs;
use ambit_broker::Broker;
use ambit_images::DirectoryImages;
use ambit_journal::Journal;
use ambit_measurements::Trust;
use ambit_orchestrator::{Documents, Orchestrator, Policies};
use ambit_ports::blobs::BlobStore;
use ambit_ports::leases::StreamLeases;
use ambit_ports::runtime::{Clock, Entropy, IdGenerator};
use ambit_ports::sandbox::LeakScan;
use ambit_ports::signer::{KeyRole, Signer};
use ambit_ports::store::Store;
use ambit_projects::Projects;
use ambit_revisions::Revisions;
use ambit_run::State;
use ambit_runtime_system::{LinuxProcesses, SystemClock, SystemEntropy, TimeOrderedIds};
use ambit_sandboxes::Sandboxes;
use ambit_signer_file::FileSigner;
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use ambit_verify::Engines;
use ambit_verify_trace::Verifier;

use crate::backends::{self, BackendName, Machine, Opened};
use crate::failure::Failure;
use crate::home::Home;

/// The program and its version, as records name it.
pub(crate) const PROGRAM: &str = concat!("ambit/", env!("CARGO_PKG_VERSION"));

/// Every service over the state of one home.
pub(crate) struct Services {
    pub(crate) journal: Journal,
    pub(crate) store: Arc<dyn Store>,
    /// The same store, for what concerns every project of the home.
    pub(crate) whole_store: Arc<SqliteStore>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) signer: Arc<dyn Signer>,
    pub(crate) images: Arc<DirectoryImages>,
    pub(crate) projects: Projects,
    pub(crate) revisions: Revisions,
    pub(crate) sandboxes: Sandboxes,
    pub(crate) leaks: Arc<dyn LeakScan>,
    pub(crate) orchestrator: Orchestrator,
    pub(crate) policies: Arc<dyn Policies>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    home: Home,
}

impl Services {
    /// Opens the state of a home, making what is not there yet.
    pub(crate) fn open(home: &Home) -> Result<Self, Failure> {
        home.make()?;
        let store = SqliteStore::open(&home.store(), StoreOptions::default())
            .map_err(|error| Failure::of(error.code(), &error))?;
        let store = Arc::new(store);
        let blobs: Arc<dyn BlobStore> = Arc::new(
            DirectoryBlobs::open(&home.blobs()).map_err(|error| Failure::of("BLOB_STORE_FAILED", &error))?,
        );
        let signer: Arc<dyn Signer> = Arc::new(
            FileSigner::create_if_absent(&home.keys()).map_err(|error| Failure::of(error.code(), &error))?,
        );
        let images = Arc::new(
            DirectoryImages::open(&home.images()).map_err(|error| Failure::of(error.code(), &error))?,
        );
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn IdGenerator> = Arc::new(TimeOrderedIds::default());
        let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
        let machine = Machine {
            images: images.clone(),
            volumes: images.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            trust: Trust::Kept,
        };
        let backend = backends::open(&BackendName::Linux, home, machine)?;
        let runtime = Runtime { home: home.clone(), clock, ids, entropy };
        Ok(Self::assemble(store, blobs, signer, images, backend, runtime))
    }

    fn assemble(
        store: Arc<SqliteStore>,
        blobs: Arc<dyn BlobStore>,
        signer: Arc<dyn Signer>,
        images: Arc<DirectoryImages>,
        backend: Opened,
        runtime: Runtime,
    ) -> Self {
        let leases: Arc<dyn StreamLeases> = store.clone();
        let whole_store = store.clone();
        let store: Arc<dyn Store> = store;
        let journal = Journal::new(store.clone(), signer.clone(), runtime.entropy.clone());
        let revisions = Revisions::new(blobs.clone());
        let leaks = backend.scan.clone();
        let sandboxes = Sandboxes::new(backend.port, blobs.clone()).witnessed_by(backend.scan);
        let broker = Broker::new(revisions.clone(), sandboxes.clone(), runtime.clock.clone());
        let policies: Arc<dyn Policies> = Arc::new(Engines::new(blobs.clone()));
        let projects =
            Projects::new(journal.clone(), blobs.clone(), runtime.clock.clone(), PROGRAM.to_owned());
        let orchestrator = Orchestrator {
            journal: journal.clone(),
            leases,
            broker,
            policies: policies.clone(),
            clock: runtime.clock.clone(),
            ids: runtime.ids,
            processes: Arc::new(LinuxProcesses),
            program: PROGRAM.to_owned(),
        };
        Self {
            journal,
            store,
            whole_store,
            blobs,
            signer,
            images,
            projects,
            revisions,
            sandboxes,
            leaks,
            orchestrator,
            policies,
            clock: runtime.clock,
            entropy: runtime.entropy,
            home: runtime.home,
        }
    }

    /// The same services, with the sandboxes of a backend.
    pub(crate) fn on(self, backend: &BackendName) -> Result<Self, Failure> {
        if *self.sandboxes.port().backend_id() == backend.id()? {
            return Ok(self);
        }
        self.with(backend, Trust::Kept)
    }

    /// The same services, with the sandboxes of a backend that is measured whatever was kept of it.
    pub(crate) fn on_anew(self, backend: &BackendName) -> Result<Self, Failure> {
        self.with(backend, Trust::Anew)
    }

    fn with(self, backend: &BackendName, trust: Trust) -> Result<Self, Failure> {
        let machine = Machine {
            images: self.images.clone(),
            volumes: self.images.clone(),
            clock: self.clock.clone(),
            ids: self.orchestrator.ids.clone(),
            trust,
        };
        let Opened { port, scan: leaks } = backends::open(backend, &self.home, machine)?;
        let sandboxes = Sandboxes::new(port, self.blobs.clone()).witnessed_by(leaks.clone());
        let broker = Broker::new(self.revisions.clone(), sandboxes.clone(), self.clock.clone());
        Ok(Self { orchestrator: Orchestrator { broker, ..self.orchestrator }, sandboxes, leaks, ..self })
    }

    /// The same services, with the sandboxes of the backend that a run began with.
    pub(crate) fn on_that_of(self, state: &State) -> Result<Self, Failure> {
        match state.dossier() {
            Some(dossier) => self.on(&BackendName::of(&dossier.pins.backend)?),
            None => Ok(self),
        }
    }

    /// A verifier that trusts the log key of this home, which lies outside of the store.
    pub(crate) async fn verifier(&self) -> Result<Verifier, Failure> {
        let key =
            self.signer.public_key(KeyRole::Log).await.map_err(|error| Failure::of(error.code(), &error))?;
        Ok(Verifier::new(self.store.clone(), self.blobs.clone(), key, self.policies.clone()))
    }

    /// The documents in the blobs.
    pub(crate) fn documents(&self) -> Documents {
        Documents::new(self.blobs.clone())
    }
}

/// The place of it all, time, ids and chance.
struct Runtime {
    home: Home,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    entropy: Arc<dyn Entropy>,
}
