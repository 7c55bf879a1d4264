//! What happens in the world, run by run.

use std::path::Path;
use std::sync::Arc;

use ambit_blobs::DirectoryBlobs;
use ambit_blueprint::BudgetCeilings;
use ambit_broker::Broker;
use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, DurationMs, GateId, RepoPath, RevisionId, RunId, Scope};
use ambit_journal::Journal;
use ambit_orchestrator::{InboxCommand, Observer, Orchestrator, StartRun};
use ambit_ports::sandbox::Tap;
use ambit_ports::store::{RunRef, SignedHead, Store as _};
use ambit_projects::{ApproverCredential, Import, Projects, Wish};
use ambit_revision::{Contents, FileKind, Tree, TreeFile};
use ambit_revisions::Revisions;
use ambit_run::{ApprovalVerdict, Event, Observation, State};
use ambit_runtime_system::{LinuxProcesses, SystemEntropy, TimeOrderedIds};
use ambit_sandboxes::Sandboxes;
use ambit_store_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::agent::{Line, Script};
use super::clock::TestClock;
use super::documents::{blueprint, catalog, hidden};
use super::sandbox::{LookingSandbox, Trouble};
use super::site::{BundledPolicies, open_at, scope};
use super::{Consents, Runs};

const PROGRAM: &str = "ambit/test";

/// The whole control plane over one store.
struct Plane {
    orchestrator: Orchestrator,
    projects: Projects,
    store: Arc<SqliteStore>,
    blobs: Arc<DirectoryBlobs>,
    clock: Arc<TestClock>,
    sandbox: Arc<LookingSandbox>,
    credential: ApproverCredential,
    scope: Scope,
}

/// Makes the world below `path`, and answers its runs and a head of the first one from before its end.
pub(crate) async fn tell(path: &Path) -> (Runs, SignedHead) {
    let site = path.join("site");
    std::fs::create_dir(&site).unwrap();
    let plane = Plane::open(&site, scope());
    plane.found().await;
    let (completed, early_head) = plane.complete().await;
    let second = plane.complete_second().await;
    let runs = Runs {
        completed,
        second,
        cancelled: plane.cancel().await,
        denied: plane.deny().await,
        troubled: plane.trouble().await,
        expired: plane.expire().await,
        exhausted: plane.exhaust().await,
        shrunk: plane.shrink().await,
        foreign: {
            let other = Scope { organization: "other".parse().unwrap(), ..scope() };
            let plane = Plane::open(&site, other);
            plane.found().await;
            plane.complete().await.0
        },
    };
    (runs, early_head)
}

/// Makes a world below `path` in which approvals end before they are used, beside one that is used.
pub(crate) async fn tell_consents(path: &Path) -> Consents {
    let site = path.join("site");
    std::fs::create_dir(&site).unwrap();
    let plane = Plane::open(&site, scope());
    plane.found().await;
    let (projects, own) = (&plane.projects, &plane.credential);
    let (bob, name) = (ApproverCredential::generate(&SystemEntropy), "bob".parse().unwrap());
    projects.add_approver(&plane.scope, &name, &bob.public_key(), bob.form(), own).await.unwrap();
    let (blueprint, digest) = ("bp-1".parse().unwrap(), blueprint().digest().unwrap());
    Consents {
        used: plane.ask_and_use("rev-1", &bob, async || ()).await,
        revoked: plane
            .ask_and_use("rev-2", &bob, async || {
                projects.revoke_approver(&plane.scope, &name, own).await.unwrap();
            })
            .await,
        withdrawn: plane
            .ask_and_use("rev-3", own, async || {
                projects.withdraw(&plane.scope, &blueprint, digest, own).await.unwrap();
            })
            .await,
    }
}

/// Tells whoever waits what happens to a run.
struct Telling(UnboundedSender<Event>);

impl Observer for Telling {
    fn gate_begins(&self, _: &GateId) -> Option<Tap> {
        None
    }

    fn changed(&self, _: &State, events: &[Event]) {
        for event in events {
            // Nobody may be listening any more.
            let _ = self.0.send(event.clone());
        }
    }
}

/// Waits for an event of a run.
async fn until(events: &mut UnboundedReceiver<Event>, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        let event = events.recv().await.unwrap();
        if wanted(&event) {
            return event;
        }
    }
}

impl Plane {
    fn open(site: &Path, scope: Scope) -> Self {
        let (store, blobs, signer) = open_at(site);
        let clock = Arc::new(TestClock::default());
        let sandbox = Arc::new(LookingSandbox::new());
        let journal = Journal::new(store.clone(), signer, Arc::new(SystemEntropy));
        let sandboxes = Sandboxes::new(sandbox.clone(), blobs.clone());
        let orchestrator = Orchestrator {
            journal: journal.clone(),
            leases: store.clone(),
            broker: Broker::new(Revisions::new(blobs.clone()), sandboxes, clock.clone()),
            policies: Arc::new(BundledPolicies { blobs: blobs.clone() }),
            clock: clock.clone(),
            ids: Arc::new(TimeOrderedIds::default()),
            processes: Arc::new(LinuxProcesses),
            program: PROGRAM.to_owned(),
        };
        let projects = Projects::new(journal, blobs.clone(), clock.clone(), PROGRAM.to_owned());
        let credential = ApproverCredential::generate(&SystemEntropy);
        Self { orchestrator, projects, store, blobs, clock, sandbox, credential, scope }
    }

    /// An approver, the documents, their approval, and the first revision.
    async fn found(&self) {
        let approver = "alice".parse().unwrap();
        let (key, form) = (self.credential.public_key(), self.credential.form());
        self.projects.register_approver(&self.scope, &approver, &key, form).await.unwrap();
        self.projects.register(&self.scope, &catalog(), "alice").await.unwrap();
        let (files, contents) = hidden();
        Revisions::new(self.blobs.clone()).keep(&self.scope, &files, &contents).await.unwrap();
        self.projects.approve(&self.scope, &blueprint(), &self.credential).await.unwrap();
        let files = [
            ("requirements.txt", FileKind::File, "# nothing\n"),
            ("src/app.py", FileKind::File, "name = 'app'\ndone = False\n"),
            ("src/current", FileKind::Link, "app.py"),
            ("src/start", FileKind::Executable, "#!/bin/sh\n"),
            ("tests/protected/test_all.py", FileKind::File, "assert done\n"),
            ("tests/unit/test_app.py", FileKind::File, "assert name\n"),
        ];
        let mut contents = Contents::new();
        let files = files.map(|(path, kind, text)| {
            let content = contents.insert(text.as_bytes().to_vec());
            let path: RepoPath = path.parse().unwrap();
            (path, TreeFile { kind, content, size: ByteCount::new(text.len() as u64) })
        });
        let tree = Tree::from_files(files).unwrap();
        Revisions::new(self.blobs.clone()).keep(&self.scope, &tree, &contents).await.unwrap();
        let import = Import { tree: tree.digest(), entries: 6, source: "the test".to_owned() };
        assert_eq!(self.projects.import(&self.scope, &import, "alice").await.unwrap(), RevisionId::FIRST);
    }

    async fn start(&self, base: RevisionId, ceilings: BudgetCeilings, request: Option<Digest>) -> RunRef {
        let command = StartRun {
            scope: self.scope.clone(),
            name: None,
            blueprint: "bp-1".parse().unwrap(),
            digest: blueprint().digest().unwrap(),
            base,
            profile: "laptop-v1".parse().unwrap(),
            tool_rules: "policy://generation-tools/v2".parse().unwrap(),
            ceilings,
            agent: Script::pin(),
            request,
            by: ambit_evidence::v1::Actor {
                kind: ambit_evidence::v1::ActorKind::Human,
                id: "alice".to_owned(),
            },
        };
        self.orchestrator.start(command).await.unwrap().run
    }

    async fn first(&self) -> RunRef {
        self.start(RevisionId::FIRST, BudgetCeilings::default(), None).await
    }

    async fn drive(&self, run: &RunRef, script: Script) -> State {
        let (sender, _) = unbounded_channel();
        self.orchestrator.drive(run, Arc::new(script), &Telling(sender)).await.unwrap()
    }

    /// Drives a run while somebody else watches it and acts.
    async fn drive_beside<T>(
        &self,
        run: &RunRef,
        script: Script,
        beside: impl AsyncFnOnce(UnboundedReceiver<Event>) -> T,
    ) -> (State, T) {
        let (sender, events) = unbounded_channel();
        let telling = Telling(sender);
        let (state, answer) =
            tokio::join!(self.orchestrator.drive(run, Arc::new(script), &telling), beside(events));
        (state.unwrap(), answer)
    }

    /// Asks for a dependency, has it approved by somebody, and uses the approval after whatever happens meanwhile.
    async fn ask_and_use(
        &self,
        revision: &'static str,
        by: &ApproverCredential,
        meanwhile: impl AsyncFnOnce(),
    ) -> RunId {
        let run = self.first().await;
        let go = Arc::new(Notify::new());
        let add = || patch_of(revision, "requirements.txt", "# nothing", "library==1.0");
        let script = Script::new(vec![plan(), add(), ask(), add()]).waiting_before(3, &go);
        self.drive_beside(&run, script, async |mut events| {
            let asked = until(&mut events, |event| matches!(event, Event::ApprovalRequested { .. })).await;
            self.approve_by(&run, &asked, by).await;
            until(&mut events, |event| matches!(event, Event::ApprovalDecided { .. })).await;
            meanwhile().await;
            go.notify_one();
        })
        .await;
        run.run
    }

    async fn approve(&self, run: &RunRef, asked: &Event) {
        self.approve_by(run, asked, &self.credential).await;
    }

    async fn approve_by(&self, run: &RunRef, asked: &Event, by: &ApproverCredential) {
        let Event::ApprovalRequested { proposal, digest, .. } = asked else { panic!("{asked:?}") };
        let state = self.orchestrator.state(run).await.unwrap();
        let ambit_run::State::Open(open) = state else { panic!("the run is not open") };
        let ambit_run::Stage::Approval { pending, .. } = open.stage else { panic!("nothing is asked") };
        let decision = self
            .projects
            .sign_decision(&self.scope, proposal, *digest, pending.asked_at, ApprovalVerdict::Approved, by)
            .await
            .unwrap();
        self.send(run, InboxCommand::Decide(decision)).await;
    }

    async fn send(&self, run: &RunRef, command: InboxCommand) {
        self.store.send(&run.stream(), command.to_canonical().unwrap()).await.unwrap();
    }

    async fn complete(&self) -> (RunId, SignedHead) {
        let run = self.first().await;
        let script = Script::new(vec![
            say("Sure! Everything will be fine."),
            plan_of("deployment"),
            plan(),
            call("read_project_file", json!({"projectId": "ledger", "revisionId": "rev-1", "path": "a"})),
            call("read_project_file", json!({"projectId": "shop", "revisionId": "rev-1", "path": "no"})),
            call("list_project_files", json!({"projectId": "shop", "revisionId": "rev-1"})),
            call(
                "read_project_file",
                json!({"projectId": "shop", "revisionId": "rev-0", "path": "src/app.py"}),
            ),
            call("search_project_text", json!({"projectId": "shop", "revisionId": "rev-1", "text": "done"})),
            patch("src/app.py", "done = False", "done = None", None),
            gate("unit", "k-1"),
            gate("unit", "k-1"),
            patch("src/app.py", "done = None", "done = True", None),
            patch("src/app.py", "done = None", "done = True", Some("nothing was decided")),
            gate("unit", "k-2"),
            patch("requirements.txt", "# nothing", "library==1.0", None),
            ask(),
            patch("requirements.txt", "# nothing", "library==1.0", None),
            gate("unit", "k-3"),
            gate("integration", "k-4"),
        ]);
        let (state, head) = self
            .drive_beside(&run, script, async |mut events| {
                until(&mut events, |event| {
                    matches!(event, Event::CallObserved { observation: Observation::GateFinished(record), .. }
                        if record.ending == Ending::Exited { code: 1 })
                })
                .await;
                let head = self.store.head(&run.stream()).await.unwrap().unwrap();
                let asked =
                    until(&mut events, |event| matches!(event, Event::ApprovalRequested { .. })).await;
                self.approve(&run, &asked).await;
                head
            })
            .await;
        assert!(matches!(&state, State::Ended(ended) if ended.preview_ready), "{state:?}");
        (run.run, head)
    }

    async fn complete_second(&self) -> RunId {
        let wish = Wish {
            text: "Say it louder.".to_owned(),
            revision: RevisionId::new(1),
            blueprint: "bp-1".parse().unwrap(),
            digest: blueprint().digest().unwrap(),
            case: "AC-1".parse().unwrap(),
        };
        let request = self.projects.request(&self.scope, &wish, &blueprint(), "alice").await.unwrap();
        let run = self.start(RevisionId::new(1), BudgetCeilings::default(), Some(request)).await;
        let foreign =
            || call("read_project_file", json!({"projectId": "ledger", "revisionId": "rev-2", "path": "a"}));
        let script = Script::new(vec![
            plan(),
            foreign(),
            foreign(),
            patch_of("rev-2", "src/app.py", "done = True", "done = True  # !"),
            call("run_named_gate", json!({"revisionId": "rev-2", "gateId": "unit", "idempotencyKey": "k-1"})),
            call(
                "run_named_gate",
                json!({"revisionId": "rev-2", "gateId": "integration", "idempotencyKey": "k-2"}),
            ),
        ]);
        let state = self.drive(&run, script).await;
        assert!(matches!(&state, State::Ended(ended) if ended.preview_ready), "{state:?}");
        run.run
    }

    async fn cancel(&self) -> RunId {
        let run = self.first().await;
        let script =
            Script::new(vec![plan(), patch_of("rev-3", "src/app.py", "done = False", "done = None")])
                .then_silence();
        let (state, ()) = self
            .drive_beside(&run, script, async |mut events| {
                until(&mut events, |event| {
                    matches!(event, Event::CallObserved { observation: Observation::PatchApplied(_), .. })
                })
                .await;
                self.send(&run, InboxCommand::Cancel { by: "alice".to_owned() }).await;
            })
            .await;
        assert_eq!(state.stop_reason().unwrap().code(), "customer-cancelled");
        run.run
    }

    async fn deny(&self) -> RunId {
        let run = self.first().await;
        let script = Script::new(vec![
            plan(),
            patch_of("rev-4", "tests/protected/test_all.py", "assert done", "pass"),
        ]);
        let state = self.drive(&run, script).await;
        assert_eq!(state.stop_reason().unwrap().code(), "policy-denied");
        run.run
    }

    /// Drives a run until an event, and vanishes like a process that is killed.
    async fn drive_until(&self, run: &RunRef, script: Script, mut wanted: impl FnMut(&Event) -> bool) {
        let (sender, mut events) = unbounded_channel();
        let telling = Telling(sender);
        tokio::select! {
            ended = self.orchestrator.drive(run, Arc::new(script), &telling) => panic!("{ended:?}"),
            () = async { while !wanted(&events.recv().await.unwrap()) {} } => {}
        }
    }

    /// The sandbox vanishes under a gate; then the process ends while a gate runs, and another takes the run over.
    async fn trouble(&self) -> RunId {
        let run = self.first().await;
        let script = || {
            let gate = |key: &str| {
                call(
                    "run_named_gate",
                    json!({"revisionId": "rev-5", "gateId": "unit", "idempotencyKey": key}),
                )
            };
            Script::new(vec![plan(), gate("k-1"), gate("k-2")])
        };
        self.sandbox.expect([Trouble::Gone, Trouble::Hangs]);
        let mut gates = 0;
        self.drive_until(&run, script(), |event| {
            let is_gate = matches!(event, Event::CallDecided(decided)
                if decided.call.tool() == ambit_policy::ToolName::RunNamedGate);
            gates += u32::from(is_gate);
            gates == 2
        })
        .await;
        self.clock.set_forward(DurationMs::new(11_000));
        self.sandbox.expect([Trouble::Remains]);
        let state = self.drive(&run, script()).await;
        assert_eq!(state.stop_reason().unwrap().code(), "agent-stopped");
        run.run
    }

    /// The process ends while a person is asked, and nobody has answered when another takes the run over.
    async fn expire(&self) -> RunId {
        let run = self.first().await;
        let script = || {
            Script::new(vec![
                plan(),
                patch_of("rev-6", "requirements.txt", "# nothing", "library==1.0"),
                ask(),
            ])
        };
        self.drive_until(&run, script(), |event| matches!(event, Event::ApprovalRequested { .. })).await;
        self.clock.set_forward(ambit_run::APPROVAL_MS);
        let state = self.drive(&run, script()).await;
        assert_eq!(state.stop_reason().unwrap().code(), "approval-expired");
        run.run
    }

    async fn exhaust(&self) -> RunId {
        let ceilings = BudgetCeilings { max_model_steps: Some(2), ..BudgetCeilings::default() };
        let run = self.start(RevisionId::FIRST, ceilings, None).await;
        let list = || call("list_project_files", json!({"projectId": "shop", "revisionId": "rev-7"}));
        let state = self.drive(&run, Script::new(vec![plan(), list(), list()])).await;
        assert_eq!(state.stop_reason().unwrap().code(), "budget");
        run.run
    }

    /// The gate exits with 0 in the end, and one of the tests that it has on the base is gone.
    async fn shrink(&self) -> RunId {
        let run = self.first().await;
        let gate = |key: &str| {
            call("run_named_gate", json!({"revisionId": "rev-8", "gateId": "unit", "idempotencyKey": key}))
        };
        let script = Script::new(vec![
            plan(),
            patch_of("rev-8", "src/app.py", "done = False", "done = True"),
            patch_at("rev-8", "src/app.py", 1, "name = 'app'", "title = 'app'"),
            gate("k-1"),
        ]);
        let state = self.drive(&run, script).await;
        assert_eq!(state.stop_reason().unwrap().code(), "agent-stopped");
        let record = &state.dossier().unwrap().gates.records()[0];
        let codes: Vec<&str> = record.objections.iter().map(ambit_gates::Objection::code).collect();
        assert_eq!((record.ending.is_success(), codes), (true, vec!["GATE_TESTS_SHRANK"]));
        run.run
    }
}

fn say(text: &'static str) -> Line {
    Box::new(move |_| text.to_owned())
}

fn plan() -> Line {
    plan_of("domain")
}

fn plan_of(work: &'static str) -> Line {
    Box::new(move |_| {
        json!({"plan": [{"id": "s1", "summary": "Do it", "work": work, "cases": ["AC-1", "AC-2"]}]})
            .to_string()
    })
}

fn call(tool: &'static str, input: Value) -> Line {
    Box::new(move |_| json!({"tool": tool, "input": input}).to_string())
}

fn gate(gate: &'static str, key: &'static str) -> Line {
    call("run_named_gate", json!({"revisionId": "rev-1", "gateId": gate, "idempotencyKey": key}))
}

/// Asks for the approval of the proposal that was held back last.
fn ask() -> Line {
    Box::new(|context| {
        let held = &context["last"]["needsApproval"];
        let input =
            json!({"proposalId": held["proposalId"], "capability": held["capability"], "reason": "needed"});
        json!({"tool": "request_scoped_approval", "input": input}).to_string()
    })
}

fn patch(
    path: &'static str,
    before: &'static str,
    after: &'static str,
    hypothesis: Option<&'static str>,
) -> Line {
    patch_with("rev-1", path, before, after, hypothesis)
}

fn patch_of(revision: &'static str, path: &'static str, before: &'static str, after: &'static str) -> Line {
    patch_with(revision, path, before, after, None)
}

/// A patch of one line at this place.
fn patch_at(
    revision: &'static str,
    path: &'static str,
    line: u32,
    before: &'static str,
    after: &'static str,
) -> Line {
    let text = format!("--- a/{path}\n+++ b/{path}\n@@ -{line} +{line} @@\n-{before}\n+{after}\n");
    Box::new(move |context| {
        let input = json!({"revisionId": revision, "expectedBaseSha": context["head"], "patch": text});
        json!({"tool": "apply_project_patch", "input": input, "planStep": "s1"}).to_string()
    })
}

/// A patch of one line, against whatever tree is current.
fn patch_with(
    revision: &'static str,
    path: &'static str,
    before: &'static str,
    after: &'static str,
    hypothesis: Option<&'static str>,
) -> Line {
    // The line of `src/app.py` that changes is its second; every other file has one.
    let line = if path == "src/app.py" { 2 } else { 1 };
    let text = format!("--- a/{path}\n+++ b/{path}\n@@ -{line} +{line} @@\n-{before}\n+{after}\n");
    Box::new(move |context| {
        let input = json!({"revisionId": revision, "expectedBaseSha": context["head"], "patch": text});
        let mut call = json!({"tool": "apply_project_patch", "input": input, "planStep": "s1"});
        if let Some(hypothesis) = hypothesis {
            call["hypothesis"] = json!(hypothesis);
        }
        call.to_string()
    })
}
