mod diff;
mod export;

use std::path::Path;

use ambit_ids::{Digest, RevisionId, RunId};
use ambit_ports::store::RunRef;
use ambit_projects::Import;
use ambit_revision::Tree;
use ambit_run::State;
use ambit_source_directory::{ImportOptions, import as import_directory};
use ambit_verify_trace::{Eligibility, EligibilityStanding};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::{RevisionImportArgs, RevisionVerb};
use crate::compose::Services;
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::import_git;
use crate::verbs::register::register;
use crate::verbs::unread::{check_holds_no_credential, check_holds_no_keys, unread};

pub(crate) async fn run(context: &Context, verb: RevisionVerb) -> Result<Answer, Failure> {
    let services = context.open().map_err(|failure| match verb {
        RevisionVerb::Eligible { .. } => failure.of_a_proof(),
        _ => failure,
    })?;
    match verb {
        RevisionVerb::Import(RevisionImportArgs {
            git: Some(source),
            at,
            branch,
            without_submodules,
            ..
        }) => {
            let asked = import_git::Asked { source, at, branch, without_submodules };
            import_git::run(context, &services, asked).await
        }
        RevisionVerb::Import(RevisionImportArgs { dir, .. }) => {
            let dir =
                dir.ok_or_else(|| Failure::new("USAGE", "name a directory, or a repository with --git"))?;
            let (revision, tree) = import(context, &services, &dir).await?;
            Ok(Answer::new(
                format!("{} is {revision}\n{tree}\n", dir.display()),
                json!({"revision": revision, "tree": tree}),
            ))
        }
        RevisionVerb::Log => log(context, &services).await,
        RevisionVerb::Show { revision } => show(context, &services, revision).await,
        RevisionVerb::Diff(asked) => diff::run(context, &services, &asked).await,
        RevisionVerb::Export(arguments) => export::run(context, &services, *arguments).await,
        RevisionVerb::Eligible { revision } => {
            eligible(context, &services, revision).await.map_err(Failure::of_a_proof)
        }
    }
}

/// Makes a directory the next revision of the project.
pub(crate) async fn import(
    context: &Context,
    services: &Services,
    dir: &Path,
) -> Result<(RevisionId, Digest), Failure> {
    let import = read(context, services, dir, "nothing was imported").await?;
    register(context, services, import).await
}

/// The newest revision that was imported with exactly this content, or else a new one: asking again for the same run
/// is asking for the same base.
pub(crate) async fn import_once(
    context: &Context,
    services: &Services,
    dir: &Path,
) -> Result<RevisionId, Failure> {
    let import = read(context, services, dir, "no run was started, and nothing was imported").await?;
    let project = services.project(&context.scope).await?;
    let same = project.imports().filter(|(_, tree)| *tree == import.tree).map(|(revision, _)| revision).max();
    match same {
        Some(revision) => Ok(revision),
        None => Ok(register(context, services, import).await?.0),
    }
}

async fn read(context: &Context, services: &Services, dir: &Path, kept: &str) -> Result<Import, Failure> {
    check_holds_no_keys(context, dir, kept)?;
    let imported = import_directory(dir, &context.scope, services.blobs.as_ref(), ImportOptions::default())
        .await
        .map_err(|error| unread(&error, kept))?;
    check_holds_no_credential(services.blobs.as_ref(), &context.scope, &imported.tree, kept).await?;
    let tree = imported.tree.digest();
    Ok(Import { tree, entries: imported.entries, source: "directory".to_owned() })
}

/// The columns of what a revision came from, where it has no more.
const ORIGIN: usize = 30;

/// A revision of a project: where it came from and where it stands.
#[derive(Clone)]
struct Known {
    revision: RevisionId,
    tree: Digest,
    run: Option<RunId>,
    /// The name of that run.
    run_name: Option<String>,
    preview_ready: bool,
    parent: Option<RevisionId>,
    /// Where an import came from, as its importer named it.
    source: Option<String>,
    state: String,
}

async fn known(context: &Context, services: &Services) -> Result<Vec<Known>, Failure> {
    let project = services.project(&context.scope).await?;
    let mut revisions: Vec<Known> = project
        .imports()
        .map(|(revision, tree)| Known {
            revision,
            tree,
            run: None,
            run_name: None,
            preview_ready: false,
            parent: None,
            source: project.import_source(revision).map(str::to_owned),
            state: "imported".to_owned(),
        })
        .collect();
    for run in services.run_ids(&context.scope).await? {
        let run = RunRef { scope: context.scope.clone(), run };
        let state =
            services.orchestrator.state(&run).await.map_err(|error| Failure::of(error.code(), &error))?;
        let Some(dossier) = state.dossier() else { continue };
        let preview_ready = matches!(&state, State::Ended(ended) if ended.preview_ready);
        revisions.push(Known {
            revision: dossier.pins.revision,
            tree: dossier.head,
            run: Some(run.run),
            run_name: dossier.pins.name.as_ref().map(ToString::to_string),
            preview_ready,
            parent: Some(dossier.pins.base.id),
            source: None,
            state: match (&state, preview_ready) {
                (_, true) => "preview-ready".to_owned(),
                (State::Ended(ended), false) => format!("ineligible: {}", ended.reason),
                _ => "in progress".to_owned(),
            },
        });
    }
    revisions.sort_by_key(|known| known.revision);
    Ok(revisions)
}

async fn find(context: &Context, services: &Services, revision: RevisionId) -> Result<Known, Failure> {
    let mut all = known(context, services).await?.into_iter();
    all.find(|known| known.revision == revision).ok_or_else(|| not_found(context, revision))
}

fn not_found(context: &Context, revision: RevisionId) -> Failure {
    Failure::new("REVISION_NOT_FOUND", format!("{} has no revision {revision}", context.scope))
        .help("`ambit revision log` lists the revisions")
}

/// What a revision came from.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// A run, by its name or else its id.
    Run(&'a str),
    /// A commit.
    Commit(&'a str),
    /// A commit of which submodules were left out.
    PartOfCommit(&'a str),
    /// A directory.
    Directory,
}

impl Origin<'_> {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Commit(_) => "commit",
            Self::PartOfCommit(_) => "part-of-commit",
            Self::Directory => "directory",
        }
    }

    /// The same for a row: of a commit its first digits.
    fn told(self) -> String {
        let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
        match self {
            Self::Run(named) => format!("run {named}"),
            Self::Commit(commit) => format!("commit {}", short(commit)),
            Self::PartOfCommit(commit) => format!("commit {} in part", short(commit)),
            Self::Directory => "directory".to_owned(),
        }
    }
}

impl Known {
    fn origin(&self) -> Origin<'_> {
        let source = self.source.as_deref().unwrap_or_default();
        match (&self.run, import_git::whole_commit_of(source), import_git::commit_of(source)) {
            (Some(run), ..) => Origin::Run(self.run_name.as_deref().unwrap_or(run.as_str())),
            (None, Some(commit), _) => Origin::Commit(commit),
            (None, None, Some(commit)) => Origin::PartOfCommit(commit),
            (None, None, None) => Origin::Directory,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "revision": self.revision, "tree": self.tree, "run": self.run, "name": self.run_name,
            "parent": self.parent, "previewReady": self.preview_ready, "state": self.state,
            "commit": self.source.as_deref().and_then(import_git::commit_of), "cameFrom": self.origin().as_str(),
        })
    }
}

async fn log(context: &Context, services: &Services) -> Result<Answer, Failure> {
    let revisions = known(context, services).await?;
    let mut text = String::new();
    let widest = revisions.iter().map(|known| known.origin().told().len()).max().unwrap_or_default();
    for known in revisions.iter().rev() {
        let parent = known.parent.map(|parent| format!("on {parent}")).unwrap_or_default();
        text.push_str(&format!(
            "{:<8} {:<9} {}  {:<width$}  {}\n",
            known.revision.to_string(),
            parent,
            known.tree.short(),
            known.origin().told(),
            known.state,
            width = widest.min(ORIGIN)
        ));
    }
    if revisions.is_empty() {
        text.push_str("no revision yet; `ambit revision import DIR` makes the first\n");
    }
    let list: Vec<Value> = revisions.iter().map(Known::to_json).collect();
    Ok(Answer::new(text, json!({"revisions": list})).prose())
}

async fn show(context: &Context, services: &Services, revision: RevisionId) -> Result<Answer, Failure> {
    let known = find(context, services, revision).await?;
    let tree = load(context, services, known.tree).await?;
    let origin = match known.origin() {
        Origin::Run(_) => {
            let name = known.run_name.as_deref().map(|name| format!("{name}  ")).unwrap_or_default();
            format!("run    {name}{}", known.run.as_ref().map(RunId::as_str).unwrap_or_default())
        }
        Origin::Commit(commit) => format!("commit {commit}"),
        Origin::PartOfCommit(commit) => format!("commit {commit}, without its submodules"),
        Origin::Directory => "from   a directory".to_owned(),
    };
    let text = format!(
        "{revision} ({})\ntree   {}\nfiles  {}, {}\n{origin}\n",
        known.state,
        known.tree,
        tree.file_count(),
        tree.content_bytes()
    );
    let mut json = known.to_json();
    json["files"] = json!(tree.file_count());
    json["bytes"] = json!(tree.content_bytes());
    Ok(Answer::new(text, json))
}

async fn load(context: &Context, services: &Services, tree: Digest) -> Result<Tree, Failure> {
    services.revisions.load(&context.scope, tree).await.map_err(|error| Failure::of(error.code(), &error))
}

async fn eligible(context: &Context, services: &Services, revision: RevisionId) -> Result<Answer, Failure> {
    let verdict = services.verifier().await?.eligible(&context.scope, revision).await;
    if verdict.run.is_none() && is_absent(context, services, revision).await {
        return Err(not_found(context, revision));
    }
    let code = match verdict.standing {
        EligibilityStanding::Eligible => exit::OK,
        EligibilityStanding::Ineligible => exit::REFUTED,
        EligibilityStanding::Unknown => exit::UNVERIFIED,
    };
    let text = match &verdict.missing {
        None => format!("{revision} is eligible for preview: every link of its evidence holds\n"),
        Some(_) => {
            let why = missing(&verdict);
            let why = why.strip_prefix(&format!("{revision}: ")).unwrap_or(&why);
            format!("{revision} is not eligible: {why}\n")
        }
    };
    Ok(Answer::of(text, &verdict)?.prose().exiting(code))
}

/// Whether the project certainly has no such revision. Where its records cannot be read, the verdict says so.
async fn is_absent(context: &Context, services: &Services, revision: RevisionId) -> bool {
    let scope = &context.scope;
    let claimed = services.store.claim(scope, &format!("revision/{revision}")).await;
    let project = services.projects.project(scope).await;
    matches!((claimed, project), (Ok(None), Ok(project)) if project.import(revision).is_none())
}

/// The link that keeps a revision from being eligible, with the check that found it.
pub(crate) fn missing(verdict: &Eligibility) -> String {
    verdict.missing.as_ref().map_or_else(String::new, |missing| match missing.check {
        Some(check) => format!("{} ({})", missing.finding, check.as_str()),
        None => missing.finding.to_string(),
    })
}
