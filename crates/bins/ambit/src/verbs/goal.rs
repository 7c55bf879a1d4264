//! A run for a goal in words, on the repository that this is.

use std::path::Path;

use ambit_blueprint::{Blueprint, BudgetCeilings, ExecutionCapabilityProfile};
use ambit_evidence::v1::{Actor, ActorKind};
use ambit_ids::{Digest, RevisionId};
use ambit_orchestrator::StartRun;
use ambit_project_survey::{REQUESTS_FILE, Requests, blueprint_of_goal, limits};
use ambit_sandboxes::{Unmet, unmet};

use crate::agent;
use crate::answer::Answer;
use crate::ask;
use crate::bound::{Bound, Record, Texts};
use crate::cli::StartArgs;
use crate::compose::Services;
use crate::config::{Sealing, UserConfig};
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::begin::{begin, drive_begun, imported, refused, services_for, tool_rules};
use crate::verbs::brought::Brought;
use crate::verbs::hidden::keep_hidden_files;
use crate::verbs::init::{Manner, prepare, root_here};
use crate::verbs::prepared::{self, DIRECTORY, Documents, FILES};

pub(crate) async fn start(context: &Context, arguments: StartArgs) -> Result<Answer, Failure> {
    let Some(goal) = arguments.words.as_deref() else {
        return Err(Failure::new("USAGE_MISSING_ARGUMENT", "a run needs a goal, or an approved blueprint")
            .help("`ambit run start \"GOAL\"` in a repository, or `ambit run start NAME --blueprint ID --base DIR --agent FILE`"));
    };
    let ceilings = BudgetCeilings::of_start_command(arguments.max_steps, arguments.max_cost_usd)
        .map_err(|error| Failure::of("USAGE_BUDGET", &error))?;
    let root = root_here(context)?;
    let config = UserConfig::find()?;
    config.must_lie_outside(context, &root)?;
    // Before anything is made for the run: without an agent there will be none.
    let (agent, file) = agent::chosen(arguments.agent.as_deref(), &config)?;
    let bound = bound(context, &root, arguments.yes).await?;
    let context = &context.within(&bound);
    let documents = agreed(context, &bound, arguments.yes).await?;
    let blueprint = blueprint(&documents, &root, goal)?;
    let (catalog, profile) = documents.named_by_content()?;
    let brought = Brought::of(profile.clone(), catalog);

    let services = services_for(context, arguments.backend.as_ref(), arguments.name.as_ref()).await?;
    keep_hidden_files(context, &services, &blueprint, &root.join(DIRECTORY)).await?;
    let digest = approved(context, &services, &config, &blueprint).await?;
    let mut command = StartRun {
        scope: context.scope.clone(),
        name: arguments.name,
        blueprint: blueprint.metadata.name,
        digest,
        base: RevisionId::FIRST,
        profile: brought.profile.clone(),
        tool_rules: tool_rules()?,
        ceilings,
        agent: agent::pin(agent.as_ref()),
        request: None,
        by: Actor { kind: ActorKind::Human, id: Context::user() },
    };
    services.orchestrator.check_ahead(&command, &brought.documents).await.map_err(refused)?;
    brought.find_images(&services).await?;
    command.base = imported(context, &services, &root).await?;
    brought.register(context, &services).await?;
    let started = match begin(&services, command).await {
        Ok(started) => started,
        Err(failure) => return Err(with_mend(failure, &services, &profile).await),
    };
    drive_begun(context, &services, &started, agent, &file).await
}

/// Approves the blueprint of the goal, where it is not approved already: a sealed credential is opened for nothing else.
async fn approved(
    context: &Context,
    services: &Services,
    config: &UserConfig,
    blueprint: &Blueprint,
) -> Result<Digest, Failure> {
    let digest = blueprint.digest().map_err(|error| Failure::of("DOCUMENT_NOT_CANONICAL", &error))?;
    if services.project(&context.scope).await?.is_approved(&blueprint.metadata.name, digest) {
        return Ok(digest);
    }
    let credential = config.approver(context, services).await?;
    let approved = services.projects.approve(&context.scope, blueprint, &credential).await;
    approved.map_err(|error| Failure::of(error.code(), &error))
}

/// The refusal of a backend. Where it lacks only what the profile of the repository may do without, that is one line.
async fn with_mend(failure: Failure, services: &Services, profile: &ExecutionCapabilityProfile) -> Failure {
    if failure.code() != "BACKEND_NOT_ADMITTED" {
        return failure;
    }
    let Ok(manifest) = services.sandboxes.measure().await else { return failure };
    let backend = &manifest.backend_id;
    if unmet(profile, &manifest).iter().all(Unmet::is_of_whole_limits) {
        return failure.help(format!(
            "no run was created, and the base stays as it is; to run on {backend} all the same, let {DIRECTORY}/{} say `aggregateLimits: best-effort` where it says `aggregateLimits: enforced`, and start again: you are asked whether you agree to the change, or do so with --yes, and every record tells what is not bounded",
            FILES[2]
        ));
    }
    failure.help(format!("no run was created, and the base stays as it is; `ambit doctor --backend {backend}` says what is missing"))
}

/// The binding of the repository, which is prepared first where it has none.
async fn bound(context: &Context, root: &Path, is_agreed: bool) -> Result<Bound, Failure> {
    if let Some(bound) = Bound::find(&context.home, &context.scope.organization, root)? {
        return Ok(bound);
    }
    if prepared::is_written(root) {
        let message = format!(
            "you did not agree to {} here: somebody else wrote it, or the repository lay elsewhere then",
            root.join(DIRECTORY).display()
        );
        return Err(Failure::new("PREPARATION_FOREIGN", message).help(
            "nothing was started; `ambit init --replace` proposes documents of your own in its place",
        ));
    }
    if !is_agreed && !context.can_ask() {
        let message = format!("nothing is prepared for runs in {}, and nobody can be asked", root.display());
        return Err(Failure::new("PREPARATION_MISSING", message)
            .help("nothing was started; agree to what `ambit init` proposes with --yes, or run it at a terminal")
            .exiting(exit::NEEDS_APPROVAL));
    }
    context.note("nothing is prepared for runs here yet");
    let manner = if is_agreed { Manner::Yes } else { Manner::Asking };
    Ok(prepare(context, root, manner, Sealing::AtTerminal).await?.bound)
}

/// The documents as they are, if the user agreed to them or does so now.
async fn agreed(context: &Context, bound: &Bound, is_agreed: bool) -> Result<Documents, Failure> {
    let now = Texts::read(&bound.root)?;
    let changes = bound.record.agreed.changes(&now)?;
    if changes.told.is_empty() {
        return now.parse();
    }
    let told = format!("{DIRECTORY}/ says something else than what you agreed to\n{}", changes.told);
    if is_agreed {
        context.note(&told);
    } else if context.can_ask() {
        ask::show(&told);
        if !changes.is_whole {
            return Err(Failure::new("PREPARATION_CHANGED", "more has changed than can be shown here").help(
                format!("nothing was started; read {DIRECTORY}/ and agree to all of it with --yes, or bring back what it was"),
            ));
        }
        if !ask::agrees("Let runs start from it as it is now?").await? {
            return Err(Failure::new("PREPARATION_DECLINED", "nothing was started, as you said"));
        }
    } else {
        return Err(Failure::new("PREPARATION_CHANGED", told.trim_end().to_owned())
            .help("nothing was started; agree to it with --yes, or bring back what it was")
            .exiting(exit::NEEDS_APPROVAL));
    }
    let record = Record { project: bound.record.project.clone(), agreed: now };
    Bound { root: bound.root.clone(), record: record.clone() }
        .keep(&context.home, &context.scope.organization)?;
    record.agreed.parse()
}

/// The blueprint of the goal, within what the repository asks for.
fn blueprint(documents: &Documents, root: &Path, goal: &str) -> Result<Blueprint, Failure> {
    let asked = prepared::plain_file(root, &[REQUESTS_FILE], limits::REQUESTS_BYTES)?;
    let failed = |error: ambit_project_survey::RequestsError| Failure::of(error.code(), &error);
    let template = match asked {
        Some(bytes) => Requests::read(&bytes)
            .and_then(|requests| requests.narrow(&documents.template))
            .map_err(failed)?,
        None => documents.template.clone(),
    };
    let blueprint = blueprint_of_goal(&template, goal).map_err(|error| Failure::of(error.code(), &error))?;
    // What was put together must be a document, as everything that is approved is.
    let bytes = blueprint.to_canonical().map_err(|error| Failure::of("DOCUMENT_NOT_CANONICAL", &error))?;
    Blueprint::parse("the blueprint of the goal", bytes.as_bytes()).map_err(Failure::of_document)
}
