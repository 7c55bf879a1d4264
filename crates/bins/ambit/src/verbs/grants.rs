use std::fmt::Write as _;

use ambit_ids::Digest;
use ambit_orchestrator::{RunRef, grants};
use ambit_policy::{Grant, Plane};
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::failure::Failure;

/// Lists every grant of the project, plane by plane. A plane in which nobody may do anything is told too.
pub(crate) async fn run(context: &Context) -> Result<Answer, Failure> {
    let services = context.open()?;
    let project = services.project(&context.scope).await?;
    let mut states = Vec::new();
    for run in services.run_ids(&context.scope).await? {
        let run = RunRef { scope: context.scope.clone(), run };
        let state = services.orchestrator.state(&run).await;
        states.push(state.map_err(|error| Failure::of(error.code(), &error))?);
    }
    let grants = grants(&context.scope, &project, &states, services.clock.now());
    let (mut page, mut planes) = (String::new(), Map::new());
    for plane in Plane::ALL {
        let of_plane: Vec<&Grant> = grants.iter().filter(|grant| grant.plane() == *plane).collect();
        let _ = writeln!(page, "{plane}");
        if of_plane.is_empty() {
            let _ = writeln!(page, "  nobody may do anything here");
        }
        for grant in &of_plane {
            let ends = grant.ends().map(|ends| format!(", until {ends}")).unwrap_or_default();
            let kept = grant.credential().map(|kept| format!(", credential {kept}")).unwrap_or_default();
            let _ = writeln!(
                page,
                "  {:<16}  {}: {}{ends}{kept}",
                grant.kind().as_str(),
                grant.holder(),
                short(grant.object())
            );
            let _ = writeln!(page, "    {}", grant.revocation());
        }
        planes.insert(plane.as_str().to_owned(), json!(of_plane));
    }
    Ok(Answer::new(page, json!({"planes": Value::Object(planes)})))
}

/// The object of a grant with its digests as they are told elsewhere. Their whole is in JSON, and in the command that revokes it.
fn short(object: &str) -> String {
    let words =
        object.split(' ').map(|word| word.parse::<Digest>().map_or(word.to_owned(), |digest| digest.short()));
    words.collect::<Vec<_>>().join(" ")
}
