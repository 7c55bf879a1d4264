use std::sync::Arc;

use ambit_broker::{Assessment, Broker, Ground, Performed};
use ambit_gates::BaseTests;
use ambit_ids::{ByteCount, Digest, RevisionId};
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::SandboxLease;
use ambit_run::{Amounts, Finding, InFlight, ProposedCall, ToolCall};
use ambit_sandboxes::Needs;
use ambit_simulation::{OneEngine, Permissive, Reply, Setup, World};

/// A run that was admitted, with its ground and a sandbox.
pub(crate) struct Bench {
    pub(crate) world: World,
    pub(crate) broker: Broker,
    pub(crate) ground: Ground,
    pub(crate) lease: SandboxLease,
    pub(crate) head: Digest,
    /// What is known of the gate on the base.
    pub(crate) base_tests: Option<BaseTests>,
}

impl Bench {
    pub(crate) async fn new(setup: Setup) -> Self {
        let world = World::build(setup, Arc::new(OneEngine(Arc::new(Permissive)))).await;
        let run = world.start(&world.agent(|_| Reply::Finished)).await;
        let (broker, ground) = (world.broker(), world.ground(&run).await);
        let command = ground.catalog.command(&"unit".parse().unwrap()).unwrap();
        let needs = Needs {
            scope: world.scope.clone(),
            run: run.run.clone(),
            image: command.image,
            limits: command.resources.limits,
            fixtures: Vec::new(),
            volumes: Vec::new(),
        };
        let manifest = broker.sandboxes().measure().await.unwrap();
        let lease = broker.sandboxes().allocate(needs, &manifest).await.unwrap().receipt;
        let head = world.base_tree.digest();
        Self { world, broker, ground, lease, head, base_tests: None }
    }

    pub(crate) async fn assess(&self, call: ToolCall, patch: Option<&str>) -> Assessment {
        let patch = patch.map(|text| text.as_bytes().to_vec());
        let proposed = ProposedCall { call, patch, step: None, hypothesis: None };
        self.broker.assess(&self.ground, self.head, &proposed).await.unwrap()
    }

    /// Performs a call as it was assessed.
    pub(crate) async fn perform(&self, call: ToolCall, finding: &Finding) -> Performed {
        let expected_tree = match finding {
            Finding::Patch(finding) => Some(finding.tree),
            Finding::Clear | Finding::Refused(_) => None,
        };
        self.perform_expecting(call, expected_tree).await
    }

    pub(crate) async fn perform_expecting(&self, call: ToolCall, expected_tree: Option<Digest>) -> Performed {
        let flight = InFlight {
            turn: 1,
            attempt: u32::from(matches!(call, ToolCall::RunNamedGate { .. })),
            call,
            intent: 7,
            reserved: Amounts::default(),
            tree: self.head,
            expected_tree,
            base_tests: self.base_tests,
        };
        let (_handle, abort) = AbortHandle::new();
        self.broker.perform(&self.ground, Some(&self.lease), &flight, None, abort).await
    }

    fn own(&self) -> RevisionId {
        self.ground.pins.revision
    }

    pub(crate) fn read(&self, path: &str) -> ToolCall {
        ToolCall::ReadProjectFile {
            project_id: self.world.scope.project.clone(),
            revision_id: self.own(),
            path: path.parse().unwrap(),
        }
    }

    pub(crate) fn search(&self, text: &str, under: Option<&str>) -> ToolCall {
        ToolCall::SearchProjectText {
            project_id: self.world.scope.project.clone(),
            revision_id: self.own(),
            text: text.to_owned(),
            under: under.map(|path| path.parse().unwrap()),
        }
    }

    pub(crate) fn list(&self) -> ToolCall {
        let project_id = self.world.scope.project.clone();
        ToolCall::ListProjectFiles { project_id, revision_id: self.own(), under: None }
    }

    pub(crate) fn patch(&self, patch: &str) -> ToolCall {
        ToolCall::ApplyProjectPatch {
            revision_id: self.own(),
            expected_base_sha: self.head,
            patch: Digest::of(patch.as_bytes()),
            patch_bytes: ByteCount::new(patch.len() as u64),
        }
    }

    pub(crate) fn gate(&self) -> ToolCall {
        ToolCall::RunNamedGate {
            revision_id: self.own(),
            gate_id: "unit".parse().unwrap(),
            idempotency_key: "k-1".parse().unwrap(),
        }
    }
}
