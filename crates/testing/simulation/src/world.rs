mod letters;
mod lives;
mod setup;

use std::sync::Arc;

use ambit_blueprint::{Blueprint, BudgetCeilings};
use ambit_broker::{Broker, Ground};
use ambit_evidence::Link;
use ambit_evidence::v1::{Actor, ActorKind};
use ambit_ids::{ApproverId, Content, Digest, RevisionId, RunName, Scope};
use ambit_journal::Journal;
use ambit_orchestrator::{Documents, Orchestrator, Policies, RunRef, StartRun, Started};
use ambit_ports::blobs::BlobStore;
use ambit_ports::runtime::IdGenerator;
use ambit_ports::store::StreamId;
use ambit_projects::{ApproverCredential, Import, Projects};
use ambit_revision::{Contents, FileKind, Tree, TreeFile};
use ambit_revisions::Revisions;
use ambit_run::State;
use ambit_sandboxes::Sandboxes;
use bytes::Bytes;

use crate::{
    Faults, Faulty, MemoryBlobs, MemoryStore, SimAgent, SimClock, SimEntropy, SimIds, SimSandbox, SimSigner,
    Strangers,
};
pub use lives::{Driven, Quiet, Watch};
pub use setup::{Setup, work};

/// The program as records name it.
const PROGRAM: &str = "ambit-simulation/1";

/// A project with an approved blueprint, a catalog and a base revision, in a world where every port is in memory. Control
/// planes come and go in it; what they leave behind stays.
pub struct World {
    /// The virtual clock.
    pub clock: SimClock,
    /// What goes wrong.
    pub faults: Faults,
    /// The store itself, without anything that goes wrong.
    pub store: MemoryStore,
    /// The blobs themselves, without anything that goes wrong.
    pub blobs: MemoryBlobs,
    /// The backend.
    pub sandbox: Arc<SimSandbox>,
    /// The project.
    pub scope: Scope,
    /// The blueprint.
    pub blueprint: Blueprint,
    /// Its digest.
    pub digest: Digest,
    /// The revision that runs start from.
    pub base: RevisionId,
    /// Its tree.
    pub base_tree: Tree,
    /// Who may approve.
    pub approver: ApproverId,
    /// The credential of whoever may.
    pub credential: ApproverCredential,
    ids: Arc<dyn IdGenerator>,
    entropy: Arc<SimEntropy>,
    signer: Arc<SimSigner>,
    policies: Arc<dyn Policies>,
}

impl World {
    /// Makes a world.
    pub async fn build(setup: Setup, policies: Arc<dyn Policies>) -> Self {
        let (clock, faults) = (SimClock::start(), Faults::default());
        let entropy = Arc::new(SimEntropy::new(setup.seed));
        let mut world = Self {
            clock,
            sandbox: Arc::new(SimSandbox::new(clock, faults.clone(), setup.judge)),
            faults,
            store: MemoryStore::default(),
            blobs: MemoryBlobs::default(),
            scope: setup.scope,
            digest: setup.blueprint.digest().unwrap(),
            blueprint: setup.blueprint,
            base: RevisionId::FIRST,
            base_tree: Tree::empty(),
            approver: ApproverId::new("ada").unwrap(),
            credential: ApproverCredential::generate(entropy.as_ref()),
            ids: setup.ids.unwrap_or_else(|| Arc::new(SimIds::new(setup.seed))),
            entropy,
            signer: Arc::new(SimSigner::new(setup.seed)),
            policies,
        };
        world.found(&setup.files, &setup.documents, setup.approved).await;
        world
    }

    /// What people do before a run: an approver, the documents, a first revision, an approval.
    async fn found(
        &mut self,
        files: &[(String, Vec<u8>)],
        documents: &[ambit_blueprint::Document],
        approved: bool,
    ) {
        let projects = self.projects();
        let (key, form) = (self.credential.public_key(), self.credential.form());
        projects.register_approver(&self.scope, &self.approver, &key, form).await.unwrap();
        for document in documents {
            projects.register(&self.scope, document, "ada").await.unwrap();
        }
        (self.base, self.base_tree) = self.import(files).await;
        if approved {
            projects.approve(&self.scope, &self.blueprint, &self.credential).await.unwrap();
        } else {
            let document = ambit_blueprint::Document::Blueprint(Box::new(self.blueprint.clone()));
            projects.register(&self.scope, &document, "ada").await.unwrap();
        }
    }

    /// Makes files the next revision of the project.
    pub async fn import(&self, files: &[(String, Vec<u8>)]) -> (RevisionId, Tree) {
        let mut contents = Contents::new();
        contents.extend(files.iter().map(|(_, bytes)| Content::of(bytes.clone())));
        let entries =
            files.iter().map(|(path, bytes)| (path.parse().unwrap(), TreeFile::of(FileKind::File, bytes)));
        let tree = Tree::from_files(entries).unwrap();
        let blobs: Arc<dyn BlobStore> = Arc::new(self.blobs.clone());
        Revisions::new(blobs).keep(&self.scope, &tree, &contents).await.unwrap();
        let import = Import {
            tree: tree.digest(),
            entries: files.len() as u64,
            source: "a simulated checkout".to_owned(),
        };
        (self.projects().import(&self.scope, &import, "ada").await.unwrap(), tree)
    }

    /// A journal to which nothing happens.
    #[must_use]
    pub fn journal(&self) -> Journal {
        Journal::new(Arc::new(self.store.clone()), self.signer.clone(), self.entropy.clone())
    }

    /// The service of people, to which nothing happens.
    #[must_use]
    pub fn projects(&self) -> Projects {
        let blobs = Arc::new(self.blobs.clone());
        Projects::new(self.journal(), blobs, Arc::new(self.clock), PROGRAM.to_owned())
    }

    /// A broker of a new process.
    #[must_use]
    pub fn broker(&self) -> Broker {
        let blobs: Arc<dyn BlobStore> = Arc::new(Faulty::new(self.blobs.clone(), self.faults.clone()));
        let sandboxes = Sandboxes::new(self.sandbox.clone(), blobs.clone());
        Broker::new(Revisions::new(blobs), sandboxes, Arc::new(self.clock))
    }

    /// A control plane of a new process: it remembers nothing, and shares the memory of the world with every other.
    #[must_use]
    pub fn orchestrator(&self) -> Orchestrator {
        let store = Faulty::new(self.store.clone(), self.faults.clone());
        Orchestrator {
            journal: Journal::new(Arc::new(store.clone()), self.signer.clone(), self.entropy.clone()),
            leases: Arc::new(store),
            broker: self.broker(),
            policies: self.policies.clone(),
            clock: Arc::new(self.clock),
            ids: self.ids.clone(),
            processes: Arc::new(Strangers),
            program: PROGRAM.to_owned(),
        }
    }

    /// A request for a run of the approved blueprint.
    #[must_use]
    pub fn request(&self, agent: &SimAgent, name: Option<&str>) -> StartRun {
        StartRun {
            scope: self.scope.clone(),
            name: name.map(|name| RunName::new(name).unwrap()),
            blueprint: self.blueprint.metadata.name.clone(),
            digest: self.digest,
            base: self.base,
            profile: "secure-generation-v1".parse().unwrap(),
            tool_rules: "policy://generation-tools/v2".parse().unwrap(),
            ceilings: BudgetCeilings::default(),
            agent: agent.pin(),
            request: None,
            by: Actor { kind: ActorKind::Human, id: "ada".to_owned() },
        }
    }

    /// Starts a run that nothing refuses.
    pub async fn start(&self, agent: &SimAgent) -> RunRef {
        let Started { run, existed } = self.orchestrator().start(self.request(agent, None)).await.unwrap();
        assert!(!existed);
        run
    }

    /// The checked records of a run.
    pub async fn links(&self, run: &RunRef) -> Vec<Link> {
        self.journal().load(&run.stream()).await.unwrap().links
    }

    /// The kinds of the records of a run, in order.
    pub async fn kinds(&self, run: &RunRef) -> Vec<&'static str> {
        self.links(run).await.iter().map(|link| link.record.kind()).collect()
    }

    /// The checked records of the project.
    pub async fn project_links(&self) -> Vec<Link> {
        self.journal().load(&StreamId::Project(self.scope.clone())).await.unwrap().links
    }

    /// The state that the records of a run lead to.
    pub async fn state(&self, run: &RunRef) -> State {
        ambit_orchestrator::fold(&self.links(run).await).unwrap()
    }

    /// What a run stands on.
    pub async fn ground(&self, run: &RunRef) -> Ground {
        let state = self.state(run).await;
        let documents = Documents::new(Arc::new(self.blobs.clone()));
        documents.ground(&state.dossier().unwrap().pins).await.unwrap()
    }

    /// A blob of the project.
    #[must_use]
    pub fn blob(&self, digest: Digest) -> Option<Bytes> {
        let owned = self.blobs.all().into_iter().find(|(scope, of, _)| *scope == self.scope && *of == digest);
        owned.map(|(_, _, bytes)| bytes)
    }
}
