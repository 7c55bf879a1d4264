//! Steps 6 and 7: a wish becomes a request under the same blueprint, and rev-2 is compared with rev-1.

use ambit_ids::CaseId;
use ambit_projects::Wish;

use crate::failure::Failure;
use crate::lab::first::completed;
use crate::lab::stage::{Played, Stage};
use crate::story::Story;
use crate::verbs::revision::missing;

const WISH: &str = "Keep completion visible after a refresh.";

pub(crate) async fn play(stage: &Stage, story: &mut Story<'_>, first: &Played) -> Result<Played, Failure> {
    story.chapter("6. A wish is bound to a case of the same blueprint");
    let blueprint = stage
        .services
        .documents()
        .blueprint(stage.scope(), stage.approved.digest)
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let wish = Wish {
        text: WISH.to_owned(),
        revision: first.revision,
        blueprint: stage.approved.blueprint.clone(),
        digest: stage.approved.digest,
        case: CaseId::new("AC-4").map_err(|error| Failure::of("LAB_NAME", &error))?,
    };
    let request = stage
        .services
        .projects
        .request(stage.scope(), &wish, &blueprint, "customer")
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    story.check(true, format!("\"{WISH}\" is a request under AC-4"), request.to_string());
    let project = stage.services.project(stage.scope()).await?;
    let same = project.is_approved(&stage.approved.blueprint, stage.approved.digest)
        && project.request(request).is_some_and(|asked| asked.blueprint == stage.approved.digest);
    story.check(same, "the approved blueprint is the same as before", stage.approved.digest.to_string());

    let agent = stage.agent("agent-revision.yaml")?;
    let command =
        stage.command("run-wb-018", &stage.approved, first.revision, agent.as_ref(), Some(request))?;
    let second = stage.play(command, agent).await?;
    story.chapter("7. rev-1 and rev-2 are compared, and rev-2 is preview-ready");
    compare(stage, story, first, &second).await?;
    completed(story, &second);
    eligible(stage, story, &second).await?;
    Ok(second)
}

async fn compare(
    stage: &Stage,
    story: &mut Story<'_>,
    first: &Played,
    second: &Played,
) -> Result<(), Failure> {
    let (Some(one), Some(other)) = (first.state.dossier(), second.state.dossier()) else {
        story.check(false, "both runs exist", "");
        return Ok(());
    };
    let failed = |error: ambit_revisions::RevisionError| Failure::of(error.code(), &error);
    let before = stage.services.revisions.load(stage.scope(), one.head).await.map_err(failed)?;
    let after = stage.services.revisions.load(stage.scope(), other.head).await.map_err(failed)?;
    let difference =
        stage.services.revisions.difference(stage.scope(), &before, &after).await.map_err(failed)?;
    let files: Vec<String> = difference.comparison.files.iter().map(|file| file.path.to_string()).collect();
    story.check(
        files.iter().any(|file| file == "page/index.html"),
        format!("{} differs from {} in {}", second.revision, first.revision, files.join(", ")),
        difference.digest.to_string(),
    );
    Ok(())
}

async fn eligible(stage: &Stage, story: &mut Story<'_>, second: &Played) -> Result<(), Failure> {
    let verdict = stage.services.verifier().await?.eligible(stage.scope(), second.revision).await;
    let why = if verdict.is_eligible() { String::new() } else { missing(&verdict) };
    story.check(verdict.is_eligible(), format!("{} is eligible by its evidence alone", second.revision), why);
    Ok(())
}
