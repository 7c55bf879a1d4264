use ambit_blueprint::{BudgetCeilings, PolicyRef};
use ambit_evidence::Project;
use ambit_evidence::v1::{Actor, Body, Environment, Precondition, ProjectBody, entries};
use ambit_ids::{BlueprintId, Digest, DocumentName, RevisionId, RunId, RunName, Scope, limits};
use ambit_journal::{Entry, JournalError, Tip, Together};
use ambit_ports::store::{Claim, RunRef, StoreError, StreamId};
use ambit_run::{AgentPin, Command, Pins, RequestPin, State, step};

use crate::drive_error::DriveError;
use crate::orchestrator::Orchestrator;

/// What a customer asks for: a bounded request, not a permission to build anything.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// The project.
    pub scope: Scope,
    /// The name of the run. Starting twice under one name is one run.
    pub name: Option<RunName>,
    /// The blueprint.
    pub blueprint: BlueprintId,
    /// The digest of the blueprint that the customer means.
    pub digest: Digest,
    /// The revision to start from.
    pub base: RevisionId,
    /// The execution profile.
    pub profile: DocumentName,
    /// The bundle of tool rules.
    pub tool_rules: PolicyRef,
    /// Caps of the command.
    pub ceilings: BudgetCeilings,
    /// Who will answer the turns.
    pub agent: AgentPin,
    /// The revision request that the run answers.
    pub request: Option<Digest>,
    /// Who asks.
    pub by: Actor,
}

/// A run that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The run.
    pub run: RunRef,
    /// Whether it existed before, under the same name.
    pub existed: bool,
}

/// Why a run was refused. Nothing was created, and the refusal is recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Rejected {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub detail: String,
    /// What to do about it; empty where nothing is known.
    pub mend: String,
}

/// Why no run was started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The run was refused.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// A part of the platform failed; nothing was decided.
    #[error(transparent)]
    Failed(#[from] Box<DriveError>),
    /// The run exists, and the store failed before anybody could begin it.
    #[error("{run} is kept and was not begun: {source}")]
    NotBegun {
        /// The run.
        run: RunId,
        /// What failed.
        source: Box<DriveError>,
    },
}

impl StartError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rejected(rejected) => rejected.code,
            Self::Failed(error) | Self::NotBegun { source: error, .. } => error.code(),
        }
    }
}

impl From<JournalError> for StartError {
    fn from(error: JournalError) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

/// How often a start is tried again because another process took the revision number first.
const TRIES: u32 = 64;

impl Orchestrator {
    /// Starts a run, or answers the run of the same name.
    ///
    /// Everything that can refuse without creating anything refuses first: the approval, the stage, the base, the
    /// documents, the gates, and last the backend, which is measured. A refusal is recorded in the project's stream.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(&self, command: StartRun) -> Result<Started, StartError> {
        let result = self.admit(&command).await;
        if let Err(StartError::Rejected(rejected)) = &result {
            self.record_rejection(&command, rejected).await?;
        }
        result
    }

    async fn admit(&self, command: &StartRun) -> Result<Started, StartError> {
        let loaded = self.journal.load(&StreamId::Project(command.scope.clone())).await?;
        let project = Project::fold(&command.scope, &loaded.links);
        if let Some(existing) = self.named(command, &project).await? {
            return Ok(existing);
        }
        let admission = self.check(command, &project).await?;
        for _ in 0..TRIES {
            let revision = self.next_revision(&command.scope, &project).await?;
            let run = RunId::new(format!("run_{}", self.ids.next()))
                .map_err(|_| reject("ID_GENERATOR_FAILED", "the id generator answered no id", ""))?;
            let pins = admission.pins(run, revision)?;
            match self.create(pins, loaded.tip.leaf).await? {
                Created::Run(run) => return Ok(Started { run, existed: false }),
                Created::NameTaken => {
                    if let Some(existing) = self.named(command, &project).await? {
                        return Ok(existing);
                    }
                }
                Created::RevisionTaken => {}
            }
        }
        Err(reject("REVISION_CONTENDED", "too many runs start at once", "try again").into())
    }

    /// The run that has this name already. A name that another request has is refused: whoever repeats a request must get
    /// what it asked for, and nothing else.
    async fn named(&self, command: &StartRun, project: &Project) -> Result<Option<Started>, StartError> {
        let Some(name) = &command.name else { return Ok(None) };
        let holder =
            self.journal.store().claim(&command.scope, &name_key(name)).await.map_err(JournalError::from)?;
        let Some(run) = holder.and_then(|holder| RunId::new(holder).ok()) else { return Ok(None) };
        let run = RunRef { scope: command.scope.clone(), run };
        let state = self.state(&run).await.map_err(Box::new)?;
        if let Some(dossier) = state.dossier()
            && dossier.pins.backend == *self.backend()
            && self.is_asked_for(&dossier.pins, command, project).await?
        {
            return Ok(Some(Started { run, existed: true }));
        }
        let detail = format!("the name {name} belongs to a run that was asked for otherwise");
        Err(reject("RUN_NAME_TAKEN", detail, "give the run another name").into())
    }

    async fn next_revision(&self, scope: &Scope, project: &Project) -> Result<RevisionId, StartError> {
        let mut next = project.imports().map(|(revision, _)| revision).max().unwrap_or(RevisionId::FIRST);
        loop {
            next =
                next.next().ok_or_else(|| reject("REVISIONS_EXHAUSTED", "no revision number is left", ""))?;
            let key = revision_key(next);
            if self.journal.store().claim(scope, &key).await.map_err(JournalError::from)?.is_none() {
                return Ok(next);
            }
        }
    }

    /// Makes the run exist: its name, its revision number and its first record, all or none.
    async fn create(&self, pins: Pins, origin: Digest) -> Result<Created, StartError> {
        let run = RunRef { scope: pins.scope.clone(), run: pins.run.clone() };
        let mut claims = vec![Claim { key: revision_key(pins.revision), value: pins.run.to_string() }];
        claims
            .extend(pins.name.iter().map(|name| Claim { key: name_key(name), value: pins.run.to_string() }));
        let at = self.clock.now();
        let events = step(&State::Vacant, at, Command::Admit(Box::new(pins)))
            .map_err(|refusal| reject(refusal.code(), refusal.to_string(), ""))?;
        let lease = self
            .leases
            .acquire(&run.stream(), &self.owner(), at, crate::holding::LEASE_MS)
            .await
            .map_err(|error| Box::new(DriveError::from(error)))?;
        let together = Together { fence: Some(lease.fence), claims, ..Together::default() };
        let entries = entries(&self.program, &State::Vacant, &events);
        let tip = Tip { next: 0, leaf: origin };
        let result = self.journal.append(&run.stream(), tip, at, entries, together).await;
        // The run exists or does not, whatever becomes of the lease; one that is not given back ends by itself.
        let released = self.leases.release(&lease).await;
        match result {
            Ok(_) => match released {
                Ok(()) => Ok(Created::Run(run)),
                Err(error) => Err(StartError::NotBegun { run: run.run, source: Box::new(error.into()) }),
            },
            Err(JournalError::Store(StoreError::Claimed { key, .. })) if key.starts_with("run-name/") => {
                Ok(Created::NameTaken)
            }
            Err(JournalError::Store(StoreError::Claimed { .. })) => Ok(Created::RevisionTaken),
            Err(JournalError::RecordTooLarge { found, limit }) => Err(reject(
                "BLUEPRINT_TOO_LARGE",
                format!("the pins of the run have {found} bytes; a record has at most {limit}"),
                "give the blueprint fewer cases, gates or path patterns",
            )
            .into()),
            Err(error) => Err(error.into()),
        }
    }

    /// A refusal is evidence, though no run exists.
    pub(crate) async fn record_rejection(
        &self,
        command: &StartRun,
        rejected: &Rejected,
    ) -> Result<(), StartError> {
        let stream = StreamId::Project(command.scope.clone());
        let body = ProjectBody::RunRejected {
            action: "run.start".to_owned(),
            code: rejected.code.to_owned(),
            detail: recorded(&rejected.detail).to_owned(),
            blueprint: Some(command.blueprint.clone()),
            digest: Some(command.digest),
            name: command.name.clone(),
        };
        let entry = Entry {
            actor: command.by.clone(),
            precondition: Precondition::default(),
            artifact: Some(command.digest),
            environment: Environment::of_program(&self.program),
            body: Body::Project(Box::new(body)),
        };
        self.journal.append_to_end(&stream, self.clock.now(), vec![entry], &[]).await?;
        Ok(())
    }
}

/// As much of a text as a record keeps: what a backend says of itself may be long.
fn recorded(text: &str) -> &str {
    &text[..text.floor_char_boundary(limits::AGENT_TEXT_BYTES)]
}

/// What came of an attempt to make a run exist.
enum Created {
    Run(RunRef),
    NameTaken,
    RevisionTaken,
}

fn name_key(name: &RunName) -> String {
    format!("run-name/{name}")
}

fn revision_key(revision: RevisionId) -> String {
    format!("revision/{revision}")
}

pub(crate) fn reject(code: &'static str, detail: impl Into<String>, mend: impl Into<String>) -> Rejected {
    Rejected { code, detail: detail.into(), mend: mend.into() }
}

/// A revision request belongs to a case of the same blueprint; its words become the goal.
pub(crate) fn request(
    command: &StartRun,
    project: &Project,
) -> Result<Option<(RequestPin, String)>, Rejected> {
    let Some(digest) = command.request else { return Ok(None) };
    let asked = project.request(digest).ok_or_else(|| {
        reject("REQUEST_UNKNOWN", format!("the project has no revision request {digest}"), "")
    })?;
    let mut differs = Vec::new();
    if asked.blueprint != command.digest {
        differs.push((format!("the blueprint {}", asked.blueprint), format!("--digest {}", asked.blueprint)));
    }
    if asked.revision != command.base {
        differs.push((format!("the revision {}", asked.revision), format!("--base {}", asked.revision)));
    }
    if !differs.is_empty() {
        let (meant, words): (Vec<String>, Vec<String>) = differs.into_iter().unzip();
        return Err(reject(
            "REQUEST_MISMATCH",
            format!("the request belongs to {}, and the run would not start from that", meant.join(" and ")),
            format!("start it with `{}`", words.join(" ")),
        ));
    }
    Ok(Some((RequestPin { digest, case: asked.case.clone() }, asked.text.clone())))
}
