//! The composition root: the only place that knows which adapters exist.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_blobs::DirectoryBlobs;
use ambit_blueprint::PolicySet;
use ambit_broker::Broker;
use ambit_ids::{ByteCount, Digest, Scope, limits};
use ambit_images::DirectoryImages;
use ambit_journal::Journal;
use ambit_orchestrator::{Documents, Orchestrator, Policies, PolicyUnusable};
use ambit_policy_rules::RuleEngine;
use ambit_ports::blobs::BlobStore;
use ambit_ports::leases::StreamLeases;
use ambit_ports::policy::PolicyEngine;
use ambit_ports::runtime::{Clock, Entropy, IdGenerator};
use ambit_ports::sandbox::SandboxPort;
use ambit_ports::signer::{KeyRole, Signer};
use ambit_ports::store::Store;
use ambit_projects::Projects;
use ambit_revisions::Revisions;
use ambit_runtime_system::{LinuxProcesses, SystemClock, SystemEntropy, TimeOrderedIds};
use ambit_sandbox_linux::{LinuxSandboxes, Settings};
use ambit_sandboxes::Sandboxes;
use ambit_signer_file::FileSigner;
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use ambit_verify_trace::Verifier;
use async_trait::async_trait;

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
    pub(crate) orchestrator: Orchestrator,
    pub(crate) policies: Arc<dyn Policies>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
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
        let settings = Settings { root: home.sandboxes(), spare_guests: 0 };
        let linux = LinuxSandboxes::new(settings, images.clone(), images.clone(), clock.clone(), ids.clone())
            .map_err(|error| Failure::of(error.code(), &error))?;
        let port: Arc<dyn SandboxPort> = Arc::new(linux);
        Ok(Self::assemble(store, blobs, signer, images, port, Runtime { clock, ids, entropy }))
    }

    fn assemble(
        store: Arc<SqliteStore>,
        blobs: Arc<dyn BlobStore>,
        signer: Arc<dyn Signer>,
        images: Arc<DirectoryImages>,
        port: Arc<dyn SandboxPort>,
        runtime: Runtime,
    ) -> Self {
        let leases: Arc<dyn StreamLeases> = store.clone();
        let whole_store = store.clone();
        let store: Arc<dyn Store> = store;
        let journal = Journal::new(store.clone(), signer.clone(), runtime.entropy.clone());
        let revisions = Revisions::new(blobs.clone());
        let sandboxes = Sandboxes::new(port, blobs.clone());
        let broker = Broker::new(revisions.clone(), sandboxes.clone(), runtime.clock.clone());
        let policies: Arc<dyn Policies> = Arc::new(RulePolicies::new(blobs.clone()));
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
            orchestrator,
            policies,
            clock: runtime.clock,
            entropy: runtime.entropy,
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

/// Time, ids and chance.
struct Runtime {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    entropy: Arc<dyn Entropy>,
}

/// The rule engine of every policy set, made once.
pub(crate) struct RulePolicies {
    blobs: Arc<dyn BlobStore>,
    engines: Mutex<BTreeMap<Digest, Arc<dyn PolicyEngine>>>,
}

impl RulePolicies {
    pub(crate) fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs, engines: Mutex::default() }
    }

    async fn make(&self, scope: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        let unusable = |why: String| PolicyUnusable { policy, why };
        let limit = ByteCount::new(limits::DOCUMENT_BYTES as u64);
        let bytes =
            self.blobs.get(scope, policy, limit).await.map_err(|error| unusable(error.to_string()))?;
        let set = PolicySet::read(&bytes).map_err(|error| unusable(error.to_string()))?;
        let bundle = Documents::new(self.blobs.clone())
            .bundle(scope, set.tool_rules.digest)
            .await
            .map_err(|error| unusable(error.to_string()))?;
        let rules = bundle.tool_rules().ok_or_else(|| unusable("the bundle has no tool rules".to_owned()))?;
        let engine = RuleEngine::new(policy, rules).map_err(|error| unusable(error.to_string()))?;
        Ok(Arc::new(engine))
    }
}

#[async_trait]
impl Policies for RulePolicies {
    async fn engine(&self, scope: &Scope, policy: Digest) -> Result<Arc<dyn PolicyEngine>, PolicyUnusable> {
        if let Some(engine) = self.engines.lock().unwrap_or_else(PoisonError::into_inner).get(&policy) {
            return Ok(engine.clone());
        }
        let engine = self.make(scope, policy).await?;
        self.engines.lock().unwrap_or_else(PoisonError::into_inner).insert(policy, engine.clone());
        Ok(engine)
    }
}
