use std::path::{Path, PathBuf};

use ambit_blueprint::BudgetCeilings;
use ambit_evidence::v1::{Actor, ActorKind};
use ambit_ids::{RevisionId, RunName};
use ambit_orchestrator::StartRun;
use ambit_projects::Wish;
use ambit_run::{ProfilePin, State};
use serde_json::json;

use crate::agent::{self, agent as agent_of, own};
use crate::answer::Answer;
use crate::cli::{DEFAULT_PROFILE, ReviseArgs, RunVerb, StartArgs};
use crate::config::UserConfig;
use crate::context::{Context, ambit_in};
use crate::failure::Failure;
use crate::verbs::begin::{begin, drive_begun, imported, refused, services_for, tool_rules, turns};
use crate::verbs::blueprint::{blueprint_missing, newest};
use crate::verbs::brought::Brought;
use crate::verbs::drive::{self, drive};
use crate::verbs::run_view::shown;
use crate::verbs::{checklist, export, goal, run_view};

pub(crate) async fn run(context: &Context, verb: RunVerb) -> Result<Answer, Failure> {
    match verb {
        RunVerb::Start(arguments) if arguments.blueprint.is_none() => goal::start(context, *arguments).await,
        RunVerb::Start(arguments) => start(context, *arguments).await,
        RunVerb::List => run_view::list(context).await,
        RunVerb::Show { run } => run_view::show(context, &run).await,
        RunVerb::Watch { run } => run_view::watch(context, &run).await,
        RunVerb::Cancel { run } => drive::cancel(context, &run).await,
        RunVerb::Resume { run, agent } => resume(context, &run, agent.as_deref()).await,
        RunVerb::Revise(arguments) => revise(context, arguments).await,
        RunVerb::Checklist { run } => checklist::run(context, &run).await,
        RunVerb::Export { run, out } => export::run(context, &run, &out).await,
    }
}

async fn start(context: &Context, arguments: StartArgs) -> Result<Answer, Failure> {
    // Whatever can be wrong with the command itself is, before anything is kept for it.
    let ceilings = BudgetCeilings::of_start_command(arguments.max_steps, arguments.max_cost_usd)
        .map_err(|error| Failure::of("USAGE_BUDGET", &error))?;
    let (Some(blueprint), Some(base)) = (arguments.blueprint, arguments.base) else {
        return Err(Failure::new("USAGE_MISSING_ARGUMENT", "--blueprint needs --base"));
    };
    let name = arguments.words.map(RunName::new).transpose();
    let name = name.map_err(|error| Failure::of("USAGE_VALUE", &error))?;
    let file = named_or_own(arguments.agent.as_deref())?;
    let agent = agent_of(&file, 0)?;
    let brought = Brought::read(&arguments.profile, arguments.catalog.as_deref())?;
    let services = services_for(context, arguments.backend.as_ref(), name.as_ref()).await?;
    let project = services.project(&context.scope).await?;
    let digest = arguments
        .digest
        .or_else(|| newest(&project, &blueprint))
        .ok_or_else(|| blueprint_missing(context, &project, &blueprint))?;
    let named = base.parse::<RevisionId>().ok();
    let mut command = StartRun {
        scope: context.scope.clone(),
        name,
        blueprint,
        digest,
        base: named.unwrap_or(RevisionId::FIRST),
        profile: brought.profile.clone(),
        tool_rules: tool_rules()?,
        ceilings,
        agent: agent::pin(agent.as_ref()),
        request: arguments.request,
        by: Actor { kind: ActorKind::Human, id: Context::user() },
    };
    services.orchestrator.check_ahead(&command, &brought.documents).await.map_err(refused)?;
    brought.find_images(&services).await?;
    if named.is_none() {
        command.base = imported(context, &services, Path::new(&base)).await?;
    }
    brought.register(context, &services).await?;
    let started = begin(&services, command).await?;
    drive_begun(context, &services, &started, agent, &file).await
}

/// The file of the agent that was named, or else of the user's own.
fn named_or_own(named: Option<&Path>) -> Result<PathBuf, Failure> {
    named.map_or_else(|| own(&UserConfig::find()?), |file| Ok(file.to_owned()))
}

async fn resume(context: &Context, named: &str, agent: Option<&Path>) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, state) = services.run(&context.scope, named).await?;
    let project = services.project(&context.scope).await?;
    // The process that ended a run may have died before the project knew of it.
    if matches!(state, State::Ended(_)) && project.closed(&run.run).is_some() {
        return Ok(shown(&services, &run, &state).await?.last_line());
    }
    let file = named_or_own(agent)?;
    let services = services.on_that_of(&state)?;
    drive(context, &services, &run, agent_of(&file, turns(&state))?).await
}

/// The option that names a profile, where it is not the one of a start that names none.
fn profile_option(pinned: &ProfilePin) -> String {
    let name = &pinned.name;
    if name.as_str() == DEFAULT_PROFILE { String::new() } else { format!(" --profile {name}") }
}

async fn revise(context: &Context, arguments: ReviseArgs) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (_, state) = services.run(&context.scope, &arguments.run).await?;
    let Some(dossier) = state.dossier() else {
        return Err(Failure::new("RUN_NOT_FOUND", "there is no such run"));
    };
    let pins = &dossier.pins;
    let blueprint = services
        .documents()
        .blueprint(&context.scope, pins.blueprint.digest)
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let wish = Wish {
        text: arguments.text,
        revision: pins.revision,
        blueprint: pins.blueprint.id.clone(),
        digest: pins.blueprint.digest,
        case: arguments.case,
    };
    let request = services
        .projects
        .request(&context.scope, &wish, &blueprint, &Context::user())
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let text = format!(
        "the wish is recorded under {} of {}; the approved job stays as it is\n{request}\nstart a run on it with\n{} run start --blueprint {} --digest {} --base {} --request {request}{}{}\n",
        wish.case,
        wish.blueprint,
        ambit_in(&context.scope),
        wish.blueprint,
        wish.digest,
        wish.revision,
        profile_option(&pins.profile),
        agent::option(&pins.agent)
    );
    Ok(Answer::new(
        text,
        json!({"request": request, "case": wish.case, "revision": wish.revision, "blueprintDigest": wish.digest}),
    )
    .prose())
}
