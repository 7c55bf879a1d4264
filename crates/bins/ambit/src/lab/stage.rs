use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_blueprint::{Blueprint, BudgetCeilings, Document, NamedCommandCatalog};
use ambit_evidence::Link;
use ambit_evidence::v1::{Actor, ActorKind};
use ambit_ids::{ApproverId, BlueprintId, Digest, DocumentName, RevisionId, RunName, Scope};
use ambit_images::{CaptureRequest, Tool};
use ambit_orchestrator::{RunRef, StartRun};
use ambit_ports::agent::Agent;
use ambit_ports::store::StreamId;
use ambit_projects::ApproverCredential;
use ambit_run::State;
use ambit_sandboxes::unmet;

use ambit_verify_trace::Verdict;

use crate::agent::{agent, pin};
use crate::cli::LabArgs;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::home::Home;
use crate::input_file::read_document;
use crate::lab::example::EXAMPLE;
use crate::story::Story;
use crate::verbs::begin::{begin, tool_rules};
use crate::verbs::blueprint::digest_of;
use crate::verbs::doctor::profiles;
use crate::verbs::image::search_path;
use crate::verbs::{export, revision, trace};
use crate::watch::Narrator;

/// What the lab plays on: a fresh home with the example application in it.
pub(crate) struct Stage {
    pub(crate) context: Context,
    pub(crate) services: Services,
    pub(crate) approved: Chosen,
    pub(crate) draft: Chosen,
    pub(crate) base: RevisionId,
    profile: DocumentName,
    example: PathBuf,
    keep: Option<PathBuf>,
    _temporary: Option<Temporary>,
}

/// A blueprint by its name and the digest of its content.
pub(crate) struct Chosen {
    pub(crate) blueprint: BlueprintId,
    pub(crate) digest: Digest,
}

/// A run that was played to its end.
pub(crate) struct Played {
    pub(crate) run: String,
    pub(crate) reference: RunRef,
    pub(crate) state: State,
    pub(crate) links: Vec<Link>,
    pub(crate) revision: RevisionId,
}

impl Stage {
    /// Makes the home, captures the image, registers the documents, approves bp-1 and imports rev-0.
    pub(crate) async fn set(
        context: &Context,
        arguments: &LabArgs,
        story: &mut Story<'_>,
    ) -> Result<Self, Failure> {
        story.chapter("The stage");
        let (root, temporary) = root(arguments)?;
        let example = root.join("workboard");
        unpack(&example)?;
        let scope = Scope { organization: id("northstar")?, project: id("workboard")? };
        let lab = context.elsewhere(Home::at(root.join("home")), scope.clone());
        let services = lab.open()?;

        let image = capture(&services).await?;
        story.done("an image holds python3, git and sh of this machine, and nothing else", image.to_string());
        let profile = choose_profile(&services, arguments).await?;
        story.done(format!("the backend is measured and meets {profile}"), "");

        let catalog = catalog(&example, image)?;
        let registered = services
            .projects
            .register(&scope, &Document::Catalog(catalog), "lab")
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        story.done(
            "the command catalog is registered, with every image by its digest",
            registered.to_string(),
        );

        let (approved, draft) = documents(&services, &scope, &example).await?;
        story.done(
            format!("{} is approved by a credential that no run can read", approved.blueprint),
            approved.digest.to_string(),
        );
        let (base, tree) = revision::import(&lab, &services, &example.join("base")).await?;
        story.check(base == RevisionId::FIRST, format!("the application is {base}"), tree.to_string());

        Ok(Self {
            context: lab,
            services,
            approved,
            draft,
            base,
            profile,
            example,
            keep: arguments.out.clone(),
            _temporary: temporary,
        })
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.context.scope
    }

    /// The agent of one of the example's transcripts.
    pub(crate) fn agent(&self, name: &str) -> Result<Arc<dyn Agent>, Failure> {
        agent(&self.example.join("ambit").join(name), 0)
    }

    /// A request for a run on the example.
    pub(crate) fn command(
        &self,
        name: &str,
        chosen: &Chosen,
        base: RevisionId,
        agent: &dyn Agent,
        request: Option<Digest>,
    ) -> Result<StartRun, Failure> {
        Ok(StartRun {
            scope: self.scope().clone(),
            name: Some(RunName::new(name).map_err(|error| Failure::of("LAB_NAME", &error))?),
            blueprint: chosen.blueprint.clone(),
            digest: chosen.digest,
            base,
            profile: self.profile.clone(),
            tool_rules: tool_rules()?,
            ceilings: BudgetCeilings::default(),
            agent: pin(agent),
            request,
            by: Actor { kind: ActorKind::Human, id: "customer".to_owned() },
        })
    }

    /// Starts a run and sees it to its end.
    pub(crate) async fn play(&self, command: StartRun, agent: Arc<dyn Agent>) -> Result<Played, Failure> {
        let started = begin(&self.services, command).await?;
        self.context.note(&format!("  ...   {} is running", started.run.run));
        let narrator = Narrator::new(true);
        self.services
            .orchestrator
            .drive(&started.run, agent, &narrator)
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        self.played(started.run).await
    }

    /// A run as its evidence tells it.
    pub(crate) async fn played(&self, reference: RunRef) -> Result<Played, Failure> {
        let loaded = self
            .services
            .journal
            .load(&reference.stream())
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        let state = ambit_orchestrator::fold(&loaded.links)
            .map_err(|error| Failure::of("RECORD_UNREADABLE", &error))?;
        let revision = state.dossier().map_or(RevisionId::FIRST, |dossier| dossier.pins.revision);
        Ok(Played { run: reference.run.to_string(), reference, state, links: loaded.links, revision })
    }

    /// The records of the project itself.
    pub(crate) async fn project_links(&self) -> Result<Vec<Link>, Failure> {
        let stream = StreamId::Project(self.scope().clone());
        let loaded =
            self.services.journal.load(&stream).await.map_err(|error| Failure::of(error.code(), &error))?;
        Ok(loaded.links)
    }

    /// Derives everything again from what is stored.
    pub(crate) async fn verify(&self, story: &mut Story<'_>) -> Result<(), Failure> {
        story.chapter("The evidence");
        let report = self.services.verifier().await?.verify_project(self.scope()).await;
        story.check(
            report.verdict == Verdict::Proved,
            "every run, record, head, patch, gate and decision is derived again",
            trace::summary(&report),
        );
        Ok(())
    }

    /// Keeps the bundles of runs, where that was asked for.
    pub(crate) async fn keep(&self, runs: &[&Played]) -> Result<Option<PathBuf>, Failure> {
        let Some(dir) = &self.keep else { return Ok(None) };
        for played in runs {
            let out = dir.join(format!("{}-bundle", played.revision));
            let tar = dir.join(format!("{}-bundle.tar", played.revision));
            export::run(&self.context, &played.run, &out, Some(&tar)).await?;
        }
        Ok(Some(dir.clone()))
    }
}

/// A directory that is removed with whatever is in it.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        open_for_removal(&self.0);
        // What cannot be removed lies in the directory for temporary files, where it belongs to nobody's state.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes the directories of images writable, which their own owner could not empty otherwise.
fn open_for_removal(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_for_removal(&entry.path());
        }
    }
}

/// Where the lab keeps its home: the directory that was named, which must be new, or a temporary one.
fn root(arguments: &LabArgs) -> Result<(PathBuf, Option<Temporary>), Failure> {
    use std::os::unix::fs::DirBuilderExt as _;
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::new("USAGE_DIRECTORY", format!("{} cannot be made: {error}", path.display()))
            .help("name a directory that does not exist, in one that you can write to")
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    if let Some(out) = &arguments.out {
        builder.create(out).map_err(|error| failed(out, &error))?;
        let out = out.canonicalize().map_err(|error| failed(out, &error))?;
        return Ok((out, None));
    }
    let temporary = std::env::temp_dir().join(format!("ambit-lab-{}", std::process::id()));
    builder.create(&temporary).map_err(|error| failed(&temporary, &error))?;
    Ok((temporary.clone(), Some(Temporary(temporary))))
}

fn unpack(dir: &Path) -> Result<(), Failure> {
    for (name, bytes) in EXAMPLE {
        let path = dir.join(name);
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(|error| Failure::of("LAB_UNPACK", &error))?;
    }
    Ok(())
}

pub(crate) fn id<T: std::str::FromStr<Err = ambit_ids::IdError>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| Failure::of("LAB_NAME", &error))
}

async fn capture(services: &Services) -> Result<Digest, Failure> {
    let tools: Result<Vec<Tool>, _> = ["python3", "git", "sh"].iter().map(|tool| tool.parse()).collect();
    let request = CaptureRequest {
        name: id("workboard-tools")?,
        tools: tools.map_err(|error| Failure::of("IMAGE_TOOL_MISSING", &error))?,
        search_path: search_path(),
    };
    let report = services.images.capture(request).await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(report.image.digest)
}

/// The profile that was asked for, else the strictest that this machine meets.
async fn choose_profile(services: &Services, arguments: &LabArgs) -> Result<DocumentName, Failure> {
    if let Some(profile) = &arguments.profile {
        return Ok(profile.clone());
    }
    let manifest = services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))?;
    let met = profiles()?.into_iter().find(|profile| unmet(profile, &manifest).is_empty());
    met.map(|profile| profile.metadata.name).ok_or_else(|| {
        Failure::new("BACKEND_NOT_ADMITTED", "no profile is met on this machine")
            .help("`ambit doctor` says what is missing")
    })
}

fn catalog(example: &Path, image: Digest) -> Result<NamedCommandCatalog, Failure> {
    let file = example.join("ambit/named-commands.yaml");
    let text = std::fs::read_to_string(&file).map_err(|error| Failure::of("LAB_UNPACK", &error))?;
    let text = text.replace("${image}", &image.to_string());
    NamedCommandCatalog::parse("named-commands.yaml", text.as_bytes())
        .map_err(|error| Failure::new(error.code().to_string(), error.render()))
}

/// Approves bp-1 with a credential that exists only here, and registers the draft without approving it.
async fn documents(services: &Services, scope: &Scope, example: &Path) -> Result<(Chosen, Chosen), Failure> {
    let failed = |error: ambit_projects::ProjectError| Failure::of(error.code(), &error);
    let credential = ApproverCredential::generate(services.entropy.as_ref());
    let approver = ApproverId::new("lab-approver").map_err(|error| Failure::of("LAB_NAME", &error))?;
    let (key, form) = (credential.public_key(), credential.form());
    services.projects.register_approver(scope, &approver, &key, form).await.map_err(failed)?;
    let blueprint: Blueprint = read_document(&example.join("ambit/bp-1.yaml"), Blueprint::parse)?;
    let digest = services.projects.approve(scope, &blueprint, &credential).await.map_err(failed)?;
    let approved = Chosen { blueprint: blueprint.metadata.name, digest };
    let draft: Blueprint = read_document(&example.join("ambit/bp-draft.yaml"), Blueprint::parse)?;
    let name = draft.metadata.name.clone();
    let document = Document::Blueprint(Box::new(draft));
    let draft = Chosen { blueprint: name, digest: digest_of(&document)? };
    services.projects.register(scope, &document, "lab").await.map_err(failed)?;
    Ok((approved, draft))
}
