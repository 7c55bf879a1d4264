//! How a run begins, whatever it begins from.

use std::path::Path;
use std::sync::Arc;

use ambit_blueprint::PolicyRef;
use ambit_ids::{RevisionId, RunName};
use ambit_orchestrator::{StartError, StartRun, Started};
use ambit_ports::agent::Agent;
use ambit_run::State;

use crate::agent::agent as agent_of;
use crate::answer::Answer;
use crate::backends::BackendName;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::drive::drive;
use crate::verbs::revision;

/// The services with the backend of the run that is to start: the one that was asked for, or else that of the run which
/// has the name already.
pub(crate) async fn services_for(
    context: &Context,
    backend: Option<&BackendName>,
    name: Option<&RunName>,
) -> Result<Services, Failure> {
    let services = context.open()?;
    if let Some(backend) = backend {
        return services.on(backend);
    }
    let Some(name) = name else { return Ok(services) };
    match services.called(&context.scope, name).await? {
        Some(state) => services.on_that_of(&state),
        None => Ok(services),
    }
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
pub(crate) fn turns(state: &State) -> u32 {
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
        StartError::NotBegun { .. } => Failure::of(error.code(), &error)
            .help("`ambit run resume RUN` goes on with it once the store can be written"),
    }
}

/// The bundle of rules that decides tool calls.
pub(crate) fn tool_rules() -> Result<PolicyRef, Failure> {
    "policy://generation-tools/v2".parse().map_err(|error| Failure::of("POLICY_UNRESOLVED", &error))
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
