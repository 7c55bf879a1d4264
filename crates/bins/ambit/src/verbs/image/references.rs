//! Who needs an image: the command catalogs of projects, and runs that have not ended.

use std::collections::BTreeSet;

use ambit_evidence::DocumentKey;
use ambit_ids::{Digest, Scope};
use ambit_orchestrator::RunRef;
use ambit_run::State;

use crate::compose::Services;
use crate::failure::Failure;

/// Every image that a catalog of any project of the home names, or that a run needs which has not ended. What cannot be
/// read may name any image, so that it is a failure.
pub(super) async fn needed(services: &Services) -> Result<BTreeSet<Digest>, Failure> {
    let mut needed = BTreeSet::new();
    let scopes = services.whole_store.scopes().await.map_err(|error| Failure::of(error.code(), &error))?;
    for scope in scopes {
        for (_, images) in catalogs(services, &scope).await? {
            needed.extend(images);
        }
        needed.extend(open_runs(services, &scope).await?);
    }
    Ok(needed)
}

/// The catalogs of a project that name an image.
pub(super) async fn catalogs_with(
    services: &Services,
    scope: &Scope,
    image: Digest,
) -> Result<Vec<DocumentKey>, Failure> {
    let catalogs = catalogs(services, scope).await?;
    Ok(catalogs.into_iter().filter(|(_, images)| images.contains(&image)).map(|(key, _)| key).collect())
}

/// The catalogs of a project, each with the images that it names.
async fn catalogs(
    services: &Services,
    scope: &Scope,
) -> Result<Vec<(DocumentKey, BTreeSet<Digest>)>, Failure> {
    let project = services.project(scope).await?;
    let mut catalogs = Vec::new();
    for (key, digest) in project.documents().filter(|(key, _)| key.kind == "NamedCommandCatalog") {
        let catalog = services
            .documents()
            .catalog(scope, digest)
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        let images = catalog.spec.commands.iter().map(|command| command.image).collect();
        catalogs.push((key.clone(), images));
    }
    Ok(catalogs)
}

async fn open_runs(services: &Services, scope: &Scope) -> Result<BTreeSet<Digest>, Failure> {
    let project = services.project(scope).await?;
    let mut images = BTreeSet::new();
    for run in services.run_ids(scope).await? {
        if project.closed(&run).is_some() {
            continue;
        }
        let run = RunRef { scope: scope.clone(), run };
        let state =
            services.orchestrator.state(&run).await.map_err(|error| Failure::of(error.code(), &error))?;
        if !matches!(state, State::Ended(_)) {
            images.extend(state.dossier().map(|dossier| dossier.pins.image));
        }
    }
    Ok(images)
}
