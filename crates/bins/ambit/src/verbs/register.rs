use ambit_ids::{Digest, RevisionId};
use ambit_projects::Import;

use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;

/// Makes what was imported a revision of the project, and answers it with its tree.
pub(crate) async fn register(
    context: &Context,
    services: &Services,
    import: Import,
) -> Result<(RevisionId, Digest), Failure> {
    let revision = services
        .projects
        .import(&context.scope, &import, &Context::user())
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    Ok((revision, import.tree))
}
