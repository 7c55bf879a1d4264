use std::path::Path;
use std::sync::Arc;

use ambit_blueprint::{BudgetCeilings, PolicyRef};
use ambit_evidence::v1::{Actor, ActorKind};
use ambit_ids::{RevisionId, RunName};
use ambit_orchestrator::{StartError, StartRun, Started};
use ambit_ports::agent::Agent;
use ambit_projects::Wish;
use ambit_run::{AgentPin, State};
use serde_json::json;

use crate::agent::{agent as agent_of, own};
use crate::answer::Answer;
use crate::cli::{ReviseArgs, RunVerb, StartArgs};
use crate::compose::Services;
use crate::config::UserConfig;
use crate::context::{Context, ambit_in};
use crate::failure::Failure;
use crate::verbs::blueprint::{blueprint_missing, newest};
use crate::verbs::brought::Brought;
use crate::verbs::drive::{self, drive};
use crate::verbs::run_view::shown;
use crate::verbs::{export, goal, revision, run_view};

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
    let file = match arguments.agent {
        Some(file) => file,
        None => own(&UserConfig::find()?)?,
    };
    let agent = agent_of(&file, 0)?;
    let brought = Brought::read(&arguments.profile, arguments.catalog.as_deref())?;
    let services = context.open()?;
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
        agent: pin(agent.as_ref()),
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

/// Drives a run that was just started, or the one of the same name that was there.
pub(crate) async fn drive_begun(
    context: &Context,
    services: &Services,
    started: &Started,
    agent: Arc<dyn Agent>,
    file: &Path,
) -> Result<Answer, Failure> {
    if !started.existed {
        return drive(context, services, &started.run, agent).await;
    }
    context.note("a run of this name exists: it is driven on if it has not ended");
    let state =
        services.orchestrator.state(&started.run).await.map_err(|error| Failure::of(error.code(), &error))?;
    drive(context, services, &started.run, agent_of(file, turns(&state))?).await
}

/// The turns that a run has had.
fn turns(state: &State) -> u32 {
    state.dossier().map_or(0, |dossier| dossier.turns)
}

/// Starts a run, and tells a refusal as one.
pub(crate) async fn begin(services: &Services, command: StartRun) -> Result<Started, Failure> {
    services.orchestrator.start(command).await.map_err(refused)
}

pub(crate) fn refused(error: StartError) -> Failure {
    match error {
        StartError::Rejected(rejected) => Failure::new(rejected.code, rejected.detail).help(rejected.mend),
        StartError::Failed(error) => Failure::of(error.code(), error.as_ref()),
    }
}

/// The bundle of rules that decides tool calls.
pub(crate) fn tool_rules() -> Result<PolicyRef, Failure> {
    "policy://generation-tools/v1".parse().map_err(|error| Failure::of("POLICY_UNRESOLVED", &error))
}

pub(crate) fn pin(agent: &dyn Agent) -> AgentPin {
    AgentPin { id: agent.id().clone(), definition: agent.definition(), turn_quote: agent.turn_quote() }
}

/// The revision that a directory is, which becomes the next one if it is none yet.
pub(crate) async fn imported(
    context: &Context,
    services: &Services,
    dir: &Path,
) -> Result<RevisionId, Failure> {
    let revision = revision::import_once(context, services, dir).await?;
    context.note(&format!("{} is {revision}", dir.display()));
    Ok(revision)
}

async fn resume(context: &Context, named: &str, agent: Option<&Path>) -> Result<Answer, Failure> {
    let services = context.open()?;
    let (run, state) = services.run(&context.scope, named).await?;
    let project = services.project(&context.scope).await?;
    // The process that ended a run may have died before the project knew of it.
    if matches!(state, State::Ended(_)) && project.closed(&run.run).is_some() {
        return Ok(shown(&services, &run, &state).await?.last_line());
    }
    let file = match agent {
        Some(file) => file.to_owned(),
        None => own(&UserConfig::find()?)?,
    };
    drive(context, &services, &run, agent_of(&file, turns(&state))?).await
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
    // Where there is an agent of one's own, the line can be run as it stands.
    let agent = UserConfig::find().and_then(|config| own(&config)).map_or(" --agent FILE", |_| "");
    let text = format!(
        "the wish is recorded under {} of {}; the approved job stays as it is\n{request}\nstart a run on it with\n{} run start --blueprint {} --digest {} --base {} --profile {} --request {request}{agent}\n",
        wish.case,
        wish.blueprint,
        ambit_in(&context.scope),
        wish.blueprint,
        wish.digest,
        wish.revision,
        pins.profile.name
    );
    Ok(Answer::new(
        text,
        json!({"request": request, "case": wish.case, "revision": wish.revision, "blueprintDigest": wish.digest}),
    ))
}
