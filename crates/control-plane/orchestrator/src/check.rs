use ambit_blueprint::{
    Blueprint, CatalogCommand, Document, DocumentKind, ExecutionCapabilityProfile, NamedCommandCatalog,
    PolicySetError, PolicySubject,
};
use ambit_evidence::Project;
use ambit_ids::{BackendId, Digest, GateId, RevisionId, RunId, limits};
use ambit_ports::blobs::BlobError;
use ambit_ports::store::{RunRef, StreamId};
use ambit_revisions::RevisionError;
use ambit_run::{Circumstances, Limits, PinnedDocuments, Pins, RequestPin, RevisionPin, Rules, State};
use ambit_sandboxes::{NotAdmitted, unmet};

use crate::admission::{Documents, MissingDocument, NeedsConflict, sandbox_needs};
use crate::drive_error::DriveError;
use crate::library::{Library, LibraryError, ResolvedProfile};
use crate::orchestrator::Orchestrator;
use crate::start::{Rejected, StartError, StartRun, reject, request};

/// A request that passed every check. What is left to find is a number for its revision.
pub(crate) struct Admission<'a> {
    command: &'a StartRun,
    blueprint: Blueprint,
    resolved: ResolvedProfile,
    catalog: NamedCommandCatalog,
    policy: Digest,
    base: RevisionPin,
    request: Option<(RequestPin, String)>,
    backend: BackendId,
}

impl Orchestrator {
    /// Checks a request, cheapest first. Nothing is created by it.
    pub(crate) async fn check<'a>(
        &self,
        command: &'a StartRun,
        project: &Project,
    ) -> Result<Admission<'a>, StartError> {
        let blueprint = self.actionable(command, project).await?;
        let base = self.base(command, project).await?;
        self.check_hidden_files(&command.scope, &blueprint, Some(base.tree)).await?;
        let library = self.library(command, project).await?;
        let (resolved, policy, catalog) = self.fitting(command, &library).await?;
        check_gates(&blueprint, &catalog, CATALOG_REGISTERED)?;
        let request = request(command, project)?;
        self.check_backend(&resolved).await?;
        let backend = self.backend().clone();
        Ok(Admission { command, blueprint, resolved, catalog, policy, base, request, backend })
    }

    /// Checks what can be checked of a request before there is a revision to start from: the approval, the stage, the
    /// profile, the catalog and the gates. `brought` are the profile and the catalog that come with the request; they
    /// need not be registered. The base and the revision request are not looked at. Nothing is created by it.
    ///
    /// # Errors
    /// [`StartError`]. A refusal is recorded as one of [`start`](Self::start) is.
    pub async fn check_ahead(&self, command: &StartRun, brought: &[Document]) -> Result<(), StartError> {
        let result = self.ahead(command, brought).await;
        if let Err(StartError::Rejected(rejected)) = &result {
            self.record_rejection(command, rejected).await?;
        }
        result
    }

    async fn ahead(&self, command: &StartRun, brought: &[Document]) -> Result<(), StartError> {
        let loaded = self.journal.load(&StreamId::Project(command.scope.clone())).await?;
        let project = Project::fold(&command.scope, &loaded.links);
        let blueprint = self.actionable(command, &project).await?;
        self.check_hidden_files(&command.scope, &blueprint, None).await?;
        let mut library = self.library(command, &project).await?;
        let mut mend = CATALOG_REGISTERED;
        // The profile comes first: it says which catalog may come along.
        for profile in brought.iter().filter(|document| matches!(document, Document::Profile(_))) {
            library.bring(profile.clone()).map_err(|error| library_rejection(&error))?;
        }
        for document in brought {
            let Document::Catalog(catalog) = document else { continue };
            let (_, profile) =
                library.profile(&command.profile).map_err(|error| library_rejection(&error))?;
            is_named(catalog, profile)?;
            if library.bring(document.clone()).map_err(|error| library_rejection(&error))? {
                mend = CATALOG_NEW;
            }
        }
        let (_, _, catalog) = self.fitting(command, &library).await?;
        Ok(check_gates(&blueprint, &catalog, mend)?)
    }

    /// The blueprint of a request, which is approved and can be acted in.
    async fn actionable(&self, command: &StartRun, project: &Project) -> Result<Blueprint, StartError> {
        if !project.is_approved(&command.blueprint, command.digest) {
            return Err(not_approved(command, project).into());
        }
        let documents = Documents::new(self.broker.revisions().blobs().clone());
        let blueprint = documents.blueprint(&command.scope, command.digest).await.map_err(unusable)?;
        if !blueprint.spec.stage.is_actionable() {
            let detail = format!(
                "the blueprint is at the stage {}; only generate can be acted in",
                blueprint.spec.stage
            );
            return Err(reject("STAGE_NOT_ACTIONABLE", detail, "").into());
        }
        Ok(blueprint)
    }

    /// The profile of a request, its policy digest and its catalog, under rules that can be used.
    async fn fitting(
        &self,
        command: &StartRun,
        library: &Library,
    ) -> Result<(ResolvedProfile, Digest, NamedCommandCatalog), StartError> {
        let documents = Documents::new(self.broker.revisions().blobs().clone());
        let (resolved, policy) = self.resolve(command, library).await?;
        self.policies.engine(&command.scope, policy).await.map_err(|unusable| {
            reject("POLICY_UNUSABLE", unusable.to_string(), "check the bundle of tool rules")
        })?;
        let catalog =
            documents.catalog(&command.scope, resolved.policies.commands.digest).await.map_err(unusable)?;
        Ok((resolved, policy, catalog))
    }

    async fn library(&self, command: &StartRun, project: &Project) -> Result<Library, StartError> {
        let documents = Documents::new(self.broker.revisions().blobs().clone());
        let library = Library::of(&command.scope, project, &documents).await;
        library.map_err(|error| library_rejection(&error))
    }

    /// The profile that a request names with everything that it refers to, and the digest of the whole.
    async fn resolve(
        &self,
        command: &StartRun,
        library: &Library,
    ) -> Result<(ResolvedProfile, Digest), StartError> {
        let blobs = self.broker.revisions().blobs();
        let resolved = library
            .resolve(&command.scope, &command.profile, &command.tool_rules, blobs.as_ref())
            .await
            .map_err(|error| library_rejection(&error))?;
        let policy = resolved.policies.digest().map_err(|error| library_rejection(&error.into()))?;
        Ok((resolved, policy))
    }

    /// Whether a run that exists is the one that a request asks for: the same job from the same revision, by the same
    /// agent, under the same policy and within the same bounds.
    pub(crate) async fn is_asked_for(
        &self,
        pins: &Pins,
        command: &StartRun,
        project: &Project,
    ) -> Result<bool, StartError> {
        let same = pins.blueprint.id == command.blueprint
            && pins.blueprint.digest == command.digest
            && pins.base.id == command.base
            && pins.profile.name == command.profile
            && pins.agent == command.agent
            && pins.request.as_ref().map(|request| request.digest) == command.request;
        if !same {
            return Ok(false);
        }
        let documents = Documents::new(self.broker.revisions().blobs().clone());
        let blueprint = documents.blueprint(&command.scope, command.digest).await.map_err(unusable)?;
        let library = self.library(command, project).await?;
        let (resolved, policy) = self.resolve(command, &library).await?;
        let budget = blueprint.spec.run_budget.min(&resolved.profile.spec.run_budget).min(&command.ceilings);
        Ok(policy == pins.policy && Limits::from(&budget) == pins.limits)
    }

    /// The revision to start from, with a tree that can be read whole.
    async fn base(&self, command: &StartRun, project: &Project) -> Result<RevisionPin, StartError> {
        let gone = |detail: String| {
            StartError::from(reject(
                "BASE_REVISION_GONE",
                detail,
                "see `ambit revision log` for the revisions that there are",
            ))
        };
        let tree = match project.import(command.base) {
            Some(tree) => tree,
            None => self
                .made_by_run(command, command.base)
                .await?
                .ok_or_else(|| gone(format!("the project has no revision {}", command.base)))?,
        };
        self.broker.revisions().load(&command.scope, tree).await.map_err(|error| match error {
            RevisionError::Blob { tree: digest, source } if stumbled(&source) => {
                unusable(MissingDocument::Blob { what: "the base revision", digest, source })
            }
            error => gone(format!("the tree of {} cannot be read: {error}", command.base)),
        })?;
        Ok(RevisionPin { id: command.base, tree })
    }

    /// The tree of a revision that a run of this project completed. What a run left behind partially is no base.
    async fn made_by_run(
        &self,
        command: &StartRun,
        revision: RevisionId,
    ) -> Result<Option<Digest>, StartError> {
        let key = format!("revision/{revision}");
        let holder = self
            .journal
            .store()
            .claim(&command.scope, &key)
            .await
            .map_err(ambit_journal::JournalError::from)?;
        let Some(run) = holder.and_then(|holder| RunId::new(holder).ok()) else { return Ok(None) };
        let run = RunRef { scope: command.scope.clone(), run };
        match self.state(&run).await.map_err(Box::new)? {
            State::Ended(ended) if ended.preview_ready => Ok(Some(ended.dossier.head)),
            _ => Err(reject(
                "REVISION_INELIGIBLE",
                format!("{revision} is not preview-ready"),
                "start from a revision that a completed run produced",
            )
            .into()),
        }
    }

    /// Measures the backend and holds it against the profile.
    async fn check_backend(&self, resolved: &ResolvedProfile) -> Result<(), StartError> {
        let manifest = self.broker.sandboxes().measure().await.map_err(|error| {
            let mend = match error.code() {
                "STORAGE_FULL" => {
                    "no run was created, and the base stays as it is; free space on the disk of the sandboxes, and start again"
                }
                _ => "no run was created, and the base stays as it is; `ambit doctor` says what is missing and how to mend it",
            };
            reject(error.code(), told(&error), mend)
        })?;
        let unmet = unmet(&resolved.profile, &manifest);
        if unmet.is_empty() {
            return Ok(());
        }
        let refused = NotAdmitted { profile: resolved.profile.metadata.name.to_string(), unmet };
        Err(reject(
            "BACKEND_NOT_ADMITTED",
            refused.to_string(),
            "no run was created, and the base stays as it is; `ambit doctor` says which profiles this machine meets, and `--profile` names one",
        )
        .into())
    }
}

/// An error with what caused it: whoever reads the refusal has nothing else.
fn told(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// A document that is gone, altered or no document of its kind refuses a request; storage that stumbles decides nothing.
fn unusable(error: MissingDocument) -> StartError {
    match &error {
        MissingDocument::Blob { source, .. } if stumbled(source) => Box::new(DriveError::from(error)).into(),
        _ => reject(error.code(), error.to_string(), "register the document anew").into(),
    }
}

const fn stumbled(error: &BlobError) -> bool {
    matches!(error, BlobError::Io(_) | BlobError::NoSpace(_))
}

fn not_approved(command: &StartRun, project: &Project) -> Rejected {
    // A draft and an unknown digest are answered alike; the approved digests are no secret of the project.
    let approved: Vec<String> =
        project.approved_digests(&command.blueprint).map(|digest| digest.to_string()).collect();
    let mend = if approved.is_empty() {
        "approve it with `ambit blueprint approve`".to_owned()
    } else {
        format!("approved are {}", approved.join(", "))
    };
    let detail = format!("{} with the digest {} is not approved", command.blueprint, command.digest);
    reject("BLUEPRINT_NOT_APPROVED", detail, mend)
}

fn library_rejection(error: &LibraryError) -> StartError {
    let mend = match error {
        LibraryError::NoProfile { .. } => {
            "`ambit profile list` lists those that come along; one of your own is named by its file: `--profile FILE`"
        }
        LibraryError::Changed { kind: DocumentKind::ExecutionCapabilityProfile, .. } => {
            "nothing was registered; give the changed profile another name in its metadata"
        }
        LibraryError::Changed { .. } => {
            "nothing was registered; give the changed catalog a new version, and with it a profile of your own that names this version: `--catalog FILE --profile FILE`"
        }
        LibraryError::Policy(PolicySetError::Unresolved { subject: PolicySubject::Commands, .. }) => {
            "the profile refers to it by this name and this version: give a catalog whose metadata says both with `--catalog FILE`, or name another profile"
        }
        LibraryError::Policy(PolicySetError::Unresolved { .. }) => {
            "let the profile refer to what comes along: `ambit profile show secure-generation-v1` lists it"
        }
        _ => "",
    };
    reject(error.code(), error.to_string(), mend).into()
}

/// Whether a catalog that comes with a request is the one that the profile refers to. Any other would be registered and
/// never looked at.
fn is_named(catalog: &NamedCommandCatalog, profile: &ExecutionCapabilityProfile) -> Result<(), Rejected> {
    let named = &profile.spec.policy_refs.commands;
    let (name, version) = (catalog.metadata.name.as_str(), catalog.metadata.version);
    if named.name().as_str() == name && named.version() == version {
        return Ok(());
    }
    Err(reject(
        "CATALOG_NOT_NAMED",
        format!("the catalog is {name} v{version}, and the profile {} names {named}", profile.metadata.name),
        format!(
            "nothing was registered; write name {} and version {} into the metadata of the catalog, or name it in a profile of your own: `--profile FILE`",
            named.name(),
            named.version()
        ),
    ))
}

/// What to do where a command is missing in a catalog that the project has.
const CATALOG_REGISTERED: &str = "name commands of the catalog as gates, or add them to a new version of it and name that version in a profile of your own: `--catalog FILE --profile FILE`";
/// The same for a catalog that is not registered.
const CATALOG_NEW: &str =
    "nothing was registered; name commands of the catalog as gates, or add them to the catalog";

/// Whether the catalog has every command of the blueprint, and one sandbox can hold them all.
fn check_gates(blueprint: &Blueprint, catalog: &NamedCommandCatalog, mend: &str) -> Result<(), Rejected> {
    let missing: Vec<&str> = blueprint.commands_missing_in(catalog).into_iter().map(GateId::as_str).collect();
    if !missing.is_empty() {
        return Err(reject(
            "GATE_UNKNOWN",
            format!("the catalog has no command {}", missing.join(", ")),
            mend,
        ));
    }
    let hidden = blueprint.spec.gates.iter().filter_map(|gate| gate.hidden_check.as_ref());
    let named = blueprint.spec.gates.iter().map(|gate| &gate.id).chain(hidden);
    let commands: Vec<&CatalogCommand> = named.filter_map(|id| catalog.command(id)).collect();
    sandbox_needs(commands).map_err(|conflict| match conflict {
        NeedsConflict::NoCommand => reject("RUN_WITHOUT_GATE", "the blueprint has no gate", ""),
        NeedsConflict::Images(one, other) => reject(
            "IMAGE_MIXED",
            format!("the gates name two images, {one} and {other}"),
            "let every gate of a blueprint use one image: a run has one sandbox",
        ),
        NeedsConflict::Fixture(name) => reject(
            "FIXTURE_MIXED",
            format!("the gates take the fixture {name} from two places"),
            "give the two fixtures different names",
        ),
        NeedsConflict::Volumes => reject(
            "VOLUMES_TOO_MANY",
            format!("the gates name more than {} volumes together", limits::RUN_VOLUMES),
            "let gates share volumes: a run has one sandbox",
        ),
    })?;
    Ok(())
}

impl Admission<'_> {
    /// The pins of the run.
    pub(crate) fn pins(&self, run: RunId, revision: RevisionId) -> Result<Pins, Rejected> {
        let documents = PinnedDocuments {
            blueprint: (&self.blueprint, self.command.digest),
            profile: (&self.resolved.profile, self.resolved.digest),
            catalog: (&self.catalog, self.resolved.policies.commands.digest),
            policy: self.policy,
        };
        let circumstances = Circumstances {
            scope: self.command.scope.clone(),
            run,
            name: self.command.name.clone(),
            base: self.base.clone(),
            revision,
            ceilings: self.command.ceilings,
            backend: self.backend.clone(),
            agent: self.command.agent.clone(),
            request: self.request.clone(),
            rules: Rules::NEWEST,
        };
        Pins::derive(&documents, circumstances)
            .map_err(|error| reject("BLUEPRINT_UNFIT", error.to_string(), "register a catalog that fits it"))
    }
}
