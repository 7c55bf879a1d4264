//! The lab: the whole story on the example application, on real parts, in a home of its own.

mod example;
mod extra;
mod first;
mod revision;
mod smoke;
mod stage;

use serde_json::json;

use crate::answer::Answer;
use crate::cli::LabArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::lab::stage::Stage;
use crate::story::Story;

pub(crate) use smoke::run as smoke;

/// Plays the lab. Every fact is read from the evidence; the scripted agent asserts nothing.
pub(crate) async fn run(context: &Context, arguments: LabArgs) -> Result<Answer, Failure> {
    let mut story = Story::new(context, "Northstar Workboard: from bp-1 to rev-2");
    let stage = Stage::set(context, &arguments, &mut story).await?;
    let first = first::play(&stage, &mut story, arguments.without_bug).await?;
    let second = revision::play(&stage, &mut story, &first).await?;
    extra::play(&stage, &mut story).await?;
    stage.verify(&mut story).await?;
    let kept = stage.keep(&[&first, &second]).await?;
    let closing = kept.as_ref().map_or_else(
        || "nothing was kept; `ambit lab --out DIR` keeps the home and the bundles\n".to_owned(),
        |dir| {
            format!(
                "kept in {}; look around with\n  AMBIT_HOME={}/home ambit --org northstar --project workboard run list\n",
                dir.display(),
                dir.display()
            )
        },
    );
    story.end(&closing, &json!({"runs": [first.run, second.run], "kept": kept}))
}
