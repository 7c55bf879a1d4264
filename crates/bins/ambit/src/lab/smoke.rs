//! The four attacks that must never work: an unapproved digest, more than the budget, work after a cancellation, and the
//! eyes of another tenant.

use ambit_ids::{RunId, Scope};
use ambit_policy::SideEffect;
use ambit_run::{CallOutcome, Event, Phase, State};
use serde_json::json;

use crate::answer::Answer;
use crate::cli::LabArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::lab::extra;
use crate::lab::first::{draft_is_refused, events, record};
use crate::lab::stage::{Played, Stage, id};
use crate::story::Story;

/// Tries the attacks on a fresh home with the example in it.
pub(crate) async fn run(context: &Context) -> Result<Answer, Failure> {
    let mut story = Story::new(context, "Four attacks");
    let arguments = LabArgs { out: None, profile: None, without_bug: false };
    let stage = Stage::set(context, &arguments, &mut story).await?;
    story.chapter("1. A digest that nobody approved");
    draft_is_refused(&stage, &mut story).await?;
    let spent = overspend(&stage, &mut story).await?;
    story.chapter("3. A cancellation while a gate is running");
    extra::cancel_while_checking(&stage, &mut story).await?;
    other_tenant(&stage, &mut story, &spent).await?;
    story.end("nothing of it had an effect\n", &json!({}))
}

async fn overspend(stage: &Stage, story: &mut Story<'_>) -> Result<Played, Failure> {
    story.chapter("2. More money and more steps than the budget has");
    let agent = stage.agent("agent-overspend.yaml")?;
    let command = stage.command("smoke-cost", &stage.approved, stage.base, agent.as_ref(), None)?;
    let spent = stage.play(command, agent).await?;
    stopped_by(story, &spent, "maxToolCostUsd")?;

    let agent = stage.agent("agent-extra.yaml")?;
    let mut command = stage.command("smoke-steps", &stage.approved, stage.base, agent.as_ref(), None)?;
    command.ceilings.max_model_steps = Some(1);
    let stepped = stage.play(command, agent).await?;
    stopped_by(story, &stepped, "maxModelSteps")?;
    Ok(spent)
}

fn stopped_by(story: &mut Story<'_>, played: &Played, limit: &str) -> Result<(), Failure> {
    let events = events(&played.links)?;
    let reached = events.iter().find_map(|(seq, event)| match event {
        Event::LimitReached { limit: reached } if reached.to_string().contains(limit) => Some(*seq),
        _ => None,
    });
    let reason = match &played.state {
        State::Ended(ended) if ended.phase == Phase::Failed => ended.reason.to_string(),
        _ => "it did not stop".to_owned(),
    };
    story.check(
        reached.is_some() && reason.contains(limit),
        format!("the run is stopped, and its reason names {limit} ({reason})"),
        record(reached),
    );
    let after = events.iter().any(|(seq, event)| {
        reached.is_some_and(|reached| *seq > reached)
            && matches!(event, Event::CallDecided(decided)
                if decided.outcome == CallOutcome::Perform && decided.call.tool().side_effect() != SideEffect::None)
    });
    story.check(reached.is_some() && !after, "no effect comes after it", "");
    Ok(())
}

/// Another tenant is answered as if the run did not exist.
async fn other_tenant(stage: &Stage, story: &mut Story<'_>, real: &Played) -> Result<(), Failure> {
    story.chapter("4. The id of a run in the hands of another tenant");
    let other = Scope { organization: id("intruder")?, project: stage.scope().project.clone() };
    let absent: RunId = id("run_00000000000000000000000000")?;
    let asked = answer_to(stage, &other, real.reference.run.as_str()).await;
    let blank = answer_to(stage, &other, absent.as_str()).await;
    let same = asked.replace(real.reference.run.as_str(), "ID") == blank.replace(absent.as_str(), "ID");
    story.check(same, format!("the answer is the one for a run that does not exist: {asked}"), "");
    let own = stage.services.run(stage.scope(), real.reference.run.as_str()).await.is_ok();
    story.check(own, "its owner sees it", real.reference.run.to_string());
    let artifact = real.state.dossier().map(|dossier| dossier.head);
    if let Some(tree) = artifact {
        let found = stage.services.revisions.load(&other, tree).await;
        story.check(
            found.is_err(),
            "nor is there a source tree for another tenant to read",
            tree.to_string(),
        );
    }
    Ok(())
}

async fn answer_to(stage: &Stage, scope: &Scope, run: &str) -> String {
    match stage.services.run(scope, run).await {
        Ok(_) => "it is there".to_owned(),
        Err(failure) => failure.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}
