//! One governed step: from the moment that an agent answered with a patch until it is asked again. In between the answer
//! is read, its patch assessed, decided by the policy, recorded, applied, kept, and recorded again. No gate runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_blueprint::{Blueprint, BudgetCeilings, Document, NamedCommandCatalog};
use ambit_evidence::v1::{Actor, ActorKind};
use ambit_ids::{AgentId, ApproverId, Digest, DurationMs, GateId, MicroUsd, RevisionId, Scope};
use ambit_orchestrator::{Observer, RunRef, StartError, StartRun};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_ports::sandbox::Tap;
use ambit_projects::{ApproverCredential, Import};
use ambit_redaction::Redactor;
use ambit_run::{AgentPin, Event, State};
use ambit_source_directory::{ImportOptions, import};
use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;

use crate::compose::Services;
use crate::failure::Failure;
use crate::home::Home;
use crate::protocol::{Arm, answer, pause};
use crate::{failed, image};

/// The example application, on which the steps are made.
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/workboard");
/// The file that each step changes in one line.
const FILE: &str = "workboard/events.py";
/// A run takes so many patches before its budget is used up.
const STEPS_OF_A_RUN: u32 = 18;
/// The strictest profile that this machine meets is the one to measure.
const PROFILES: [&str; 2] = ["secure-generation-v1", "laptop-v1"];

/// A new sandbox makes ready for its first command, which is no part of any step either.
const UNTIL_IT_RESTS: DurationMs = DurationMs::new(150);

pub(crate) async fn step() -> Result<(), Failure> {
    let ground = Ground::lay().await?;
    let run = Running::start(&ground).await?;
    let mut arm = Steps { ground, run };
    answer(&mut arm).await?;
    arm.run.end().await
}

/// A project with an approved blueprint and a first revision, in a home of its own.
struct Ground {
    services: Arc<Services>,
    scope: Scope,
    blueprint: Blueprint,
    digest: Digest,
    /// The first lines of the file that is changed.
    lines: [String; 2],
    _directory: TempDir,
}

impl Ground {
    async fn lay() -> Result<Self, Failure> {
        let directory = tempfile::tempdir_in(".").map_err(failed)?;
        let place = directory.path().canonicalize().map_err(failed)?;
        let services = Services::open(&Home::at(place.join("home")))?;
        let scope = Scope {
            organization: "bench".parse().map_err(failed)?,
            project: "workboard".parse().map_err(failed)?,
        };
        let example = PathBuf::from(EXAMPLE);
        let image = image::take(&services.images).await?;
        let catalog =
            read(&example.join("ambit/named-commands.yaml"))?.replace("${image}", &image.to_string());
        let catalog = NamedCommandCatalog::parse("catalog", catalog.as_bytes());
        let catalog =
            Document::Catalog(catalog.map_err(|error| Failure::new("ARM_DOCUMENT", error.render()))?);
        services.projects.register(&scope, &catalog, "bench").await.map_err(failed)?;
        let (blueprint, digest) = approve(&services, &scope, &example).await?;

        let (base, blobs) = (example.join("base"), services.blobs.as_ref());
        let imported = import(&base, &scope, blobs, ImportOptions::default()).await.map_err(failed)?;
        let import = Import {
            tree: imported.tree.digest(),
            entries: imported.entries,
            source: "directory".to_owned(),
        };
        services.projects.import(&scope, &import, "bench").await.map_err(failed)?;
        let file = read(&base.join(FILE))?;
        let mut lines = file.lines().map(str::to_owned);
        let lines = [lines.next().unwrap_or_default(), lines.next().unwrap_or_default()];
        Ok(Self { services: Arc::new(services), scope, blueprint, digest, lines, _directory: directory })
    }

    /// A patch of the one line, from what step `number` left.
    fn patch(&self, number: u32) -> String {
        let [first, second] = &self.lines;
        let line =
            |number: u32| if number == 0 { first.clone() } else { format!("\"\"\"Step {number}.\"\"\"") };
        format!(
            "--- a/{FILE}\n+++ b/{FILE}\n@@ -1,2 +1,2 @@\n-{}\n+{}\n {second}\n",
            line(number),
            line(number + 1)
        )
    }

    async fn begin(&self, pin: AgentPin) -> Result<RunRef, Failure> {
        let mut refused = Failure::new("BACKEND_NOT_ADMITTED", "no profile is met on this machine");
        for profile in PROFILES {
            let request = StartRun {
                scope: self.scope.clone(),
                name: None,
                blueprint: self.blueprint.metadata.name.clone(),
                digest: self.digest,
                base: RevisionId::FIRST,
                profile: profile.parse().map_err(failed)?,
                tool_rules: "policy://generation-tools/v2".parse().map_err(failed)?,
                ceilings: BudgetCeilings::default(),
                agent: pin.clone(),
                request: None,
                by: Actor { kind: ActorKind::Human, id: "bench".to_owned() },
            };
            match self.services.orchestrator.start(request).await {
                Ok(started) => return Ok(started.run),
                Err(StartError::Rejected(rejected)) => refused = Failure::new(rejected.code, rejected.detail),
                Err(StartError::Failed(error) | StartError::NotBegun { source: error, .. }) => {
                    return Err(Failure::of(error.code(), error.as_ref()));
                }
            }
        }
        Err(refused)
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(failed)
}

async fn approve(services: &Services, scope: &Scope, example: &Path) -> Result<(Blueprint, Digest), Failure> {
    let credential = ApproverCredential::generate(services.entropy.as_ref());
    let approver = ApproverId::new("bench").map_err(failed)?;
    let (key, form) = (credential.public_key(), credential.form());
    services.projects.register_approver(scope, &approver, &key, form).await.map_err(failed)?;
    // The same job with the most attempts that a budget can have.
    let text = read(&example.join("ambit/bp-1.yaml"))?
        .replace("maxModelSteps: 24", "maxModelSteps: 100")
        .replace("maxPatchAttemptsPerGate: 4", "maxPatchAttemptsPerGate: 20");
    let blueprint = Blueprint::parse("blueprint", text.as_bytes())
        .map_err(|error| Failure::new("ARM_DOCUMENT", error.render()))?;
    let digest = services.projects.approve(scope, &blueprint, &credential).await.map_err(failed)?;
    Ok((blueprint, digest))
}

const PACED: &[u8] = b"an agent that answers when it is told to";

/// An agent that answers when it is told to, and tells when it was asked.
struct Paced {
    id: AgentId,
    asked: mpsc::UnboundedSender<(Instant, TurnOffer)>,
    answers: Mutex<mpsc::UnboundedReceiver<Vec<u8>>>,
}

#[async_trait]
impl Agent for Paced {
    fn id(&self) -> &AgentId {
        &self.id
    }

    fn definition(&self) -> Digest {
        Digest::of(PACED)
    }

    fn turn_quote(&self) -> MicroUsd {
        MicroUsd::ZERO
    }

    fn redactor(&self) -> Redactor {
        Redactor::by_rules()
    }

    async fn answer(&self, offer: TurnOffer, mut abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        let _ = self.asked.send((Instant::now(), offer));
        let mut answers = self.answers.lock().await;
        tokio::select! {
            answer = answers.recv() => {
                let bytes = answer.ok_or(AgentError::Finished)?;
                Ok(AgentAnswer { bytes, cost: Some(MicroUsd::ZERO) })
            }
            () = abort.raised() => Err(AgentError::Aborted),
        }
    }
}

/// Tells when the run has its sandbox, which is made beside the first turns and is no part of any step.
struct Watch {
    has_sandbox: watch::Sender<bool>,
}

impl Observer for Watch {
    fn changed(&self, state: &State, _: &[Event]) {
        if let State::Open(open) = state
            && open.sandbox.is_some()
        {
            self.has_sandbox.send_replace(true);
        }
    }

    fn gate_begins(&self, _: &GateId) -> Option<Tap> {
        None
    }
}

/// A run whose agent waits to be told what to answer.
struct Running {
    asked: mpsc::UnboundedReceiver<(Instant, TurnOffer)>,
    answers: mpsc::UnboundedSender<Vec<u8>>,
    driving: JoinHandle<Result<(), Failure>>,
    context: Value,
    steps: u32,
}

impl Running {
    async fn start(ground: &Ground) -> Result<Self, Failure> {
        let (asked_sender, asked) = mpsc::unbounded_channel();
        let (answers, answers_receiver) = mpsc::unbounded_channel();
        let id = AgentId::new("paced").map_err(failed)?;
        let pin = AgentPin { id: id.clone(), definition: Digest::of(PACED), turn_quote: MicroUsd::ZERO };
        let agent = Arc::new(Paced { id, asked: asked_sender, answers: Mutex::new(answers_receiver) });
        let run = ground.begin(pin).await?;
        let services = Arc::clone(&ground.services);
        let (has_sandbox, mut sandbox) = watch::channel(false);
        let driving = tokio::spawn(async move {
            let driven = services.orchestrator.drive(&run, agent, &Watch { has_sandbox }).await;
            driven.map(drop).map_err(failed)
        });
        let mut running = Self { asked, answers, driving, context: Value::Null, steps: 0 };
        running.wait().await?;
        let plan = json!({"plan": [
            {"id": "s1", "summary": "change a line", "work": "domain", "cases": ["AC-1"]},
        ]});
        running.tell(&plan)?;
        running.wait().await?;
        sandbox.wait_for(|has| *has).await.map_err(failed)?;
        pause(UNTIL_IT_RESTS).await;
        Ok(running)
    }

    fn tell(&self, answer: &Value) -> Result<(), Failure> {
        self.answers.send(answer.to_string().into_bytes()).map_err(|_| self.over())
    }

    fn over(&self) -> Failure {
        Failure::new("ARM_FAILED", format!("the run is over after {}", self.context["last"]))
    }

    /// Waits until the agent is asked, and answers when that was.
    async fn wait(&mut self) -> Result<Instant, Failure> {
        let Some((at, offer)) = self.asked.recv().await else { return Err(self.over()) };
        self.context = serde_json::from_str(&offer.context).map_err(failed)?;
        Ok(at)
    }

    async fn end(self) -> Result<(), Failure> {
        // An agent that is told nothing more has nothing more to propose.
        drop(self.answers);
        self.driving.await.map_err(failed)?
    }
}

struct Steps {
    ground: Ground,
    run: Running,
}

#[async_trait]
impl Arm for Steps {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        if self.run.steps == STEPS_OF_A_RUN {
            let next = Running::start(&self.ground).await?;
            std::mem::replace(&mut self.run, next).end().await?;
        }
        let run = &mut self.run;
        let before = run.context["head"].clone();
        let call = json!({
            "tool": "apply_project_patch",
            "input": {
                "revisionId": run.context["revision"],
                "expectedBaseSha": before,
                "patch": self.ground.patch(run.steps),
            },
            "planStep": "s1",
        });
        let started = Instant::now();
        run.tell(&call)?;
        let asked = run.wait().await?;
        if run.context["head"] == before {
            let why = format!("the patch was not applied: {}", run.context["last"]);
            return Err(Failure::new("ARM_FAILED", why));
        }
        run.steps += 1;
        Ok(asked.duration_since(started))
    }
}
