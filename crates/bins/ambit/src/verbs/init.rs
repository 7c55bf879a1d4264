//! From a repository to the documents of its runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ambit_blueprint::AggregateLimits;
use ambit_evidence::CredentialForm;
use ambit_ids::ImageName;
use ambit_images::{CaptureRequest, Tool};
use ambit_ports::images::{Image, ImageStore as _};
use ambit_project_survey::{Plan, Survey, profile, survey, survey_of_source};
use ambit_sandboxes::unmet;
use ambit_source_directory::{ImportOptions, files};
use serde_json::json;

use crate::answer::Answer;
use crate::ask;
use crate::bound::{Bound, Record, Texts, innermost, project_of};
use crate::cli::InitArgs;
use crate::compose::Services;
use crate::config::{Sealing, UserConfig, resolved};
use crate::context::Context;
use crate::failure::{Failure, exit};
use crate::verbs::doctor::profiles;
use crate::verbs::image::search_path;
use crate::verbs::init_page::Proposal;
use crate::verbs::packages;
use crate::verbs::prepared::{self, DIRECTORY, FILES};

pub(crate) async fn run(context: &Context, arguments: InitArgs) -> Result<Answer, Failure> {
    let root = match &arguments.dir {
        Some(dir) => dir.canonicalize().map_err(|error| {
            Failure::new("SURVEY_NOT_A_DIRECTORY", format!("{} is not a directory: {error}", dir.display()))
        })?,
        None => root_here(context)?,
    };
    if prepared::is_written(&root) && !arguments.replace {
        let message = format!(
            "{} holds documents already, and they were left as they are",
            root.join(DIRECTORY).display()
        );
        return Err(Failure::new("PREPARATION_EXISTS", message)
            .help("`ambit init --replace` writes new ones in their place"));
    }
    let manner = if arguments.yes { Manner::Yes } else { Manner::Asking };
    let sealing = if arguments.unsealed { Sealing::Never } else { Sealing::AtTerminal };
    let ready = prepare(context, &root, manner, sealing).await?;
    let mut text = if ready.was_shown { String::new() } else { format!("{}\n", ready.page) };
    text.push_str(&format!(
        "image               {} ({})\nwritten             {} in {}\n                    read them, change them, commit them\ncredential          {}, {}\nproject             {}\n",
        ready.image.name,
        ready.image.size_bytes,
        FILES.join(", "),
        root.join(DIRECTORY).display(),
        ready.key.display(),
        kept(ready.form),
        ready.bound.record.project
    ));
    let project = if context.is_project_named {
        format!(" --project {}", context.scope.project)
    } else {
        String::new()
    };
    text.push_str(&format!(
        "next                ambit{project} run start \"GOAL\"   in {}\n",
        root.display()
    ));
    let mut told = ready.json;
    told["project"] = json!(ready.bound.record.project);
    told["image"] = json!(ready.image);
    told["files"] = json!(FILES.map(|name| format!("{DIRECTORY}/{name}")));
    told["credentialFile"] = json!(ready.key);
    told["credential"] = json!(ready.form);
    Ok(Answer::new(text, told).prose())
}

/// How the credential is kept, and what that is worth.
fn kept(form: CredentialForm) -> &'static str {
    match form {
        CredentialForm::Sealed => "sealed with your passphrase",
        CredentialForm::Open => {
            "open\n                    whatever runs as you can read it, and approve; `ambit approver seal` seals it"
        }
    }
}

/// Whether the person at the terminal is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Where there is one; else nothing is done.
    Asking,
    /// Nothing is asked, and every default taken.
    Yes,
}

/// A repository whose runs can start.
pub(crate) struct Ready {
    pub(crate) bound: Bound,
    page: String,
    json: serde_json::Value,
    image: Image,
    key: PathBuf,
    form: CredentialForm,
    was_shown: bool,
}

/// The top directory of the repository that the current directory is in.
pub(crate) fn root_here(context: &Context) -> Result<PathBuf, Failure> {
    innermost(Path::new("."), context.bound.as_ref().map(|bound| bound.root.as_path()))
}

/// Looks, proposes, asks, and makes everything that a run on the repository needs but an agent.
pub(crate) async fn prepare(
    context: &Context,
    root: &Path,
    manner: Manner,
    sealing: Sealing,
) -> Result<Ready, Failure> {
    let config = UserConfig::find()?;
    config.must_lie_outside(context, root)?;
    must_not_hold_state(context, root)?;
    let seen = look(root).await?;
    let can_ask = manner == Manner::Asking && context.can_ask();
    if manner == Manner::Asking && !can_ask {
        return Err(cannot_ask(root, &seen));
    }
    let mut answers = Vec::new();
    if can_ask {
        for question in &seen.questions {
            let labels: Vec<&str> = question.choices.iter().map(|choice| choice.label.as_str()).collect();
            answers.push(ask::which(&question.asks, &labels).await?);
        }
    }
    let found = seen.found.clone();
    let plan = seen.settle(&answers).map_err(|error| {
        Failure::of(error.code(), &error).help(
            "nothing was written; write the documents yourself: `ambit blueprint new`, and docs/documents.md has a catalog",
        )
    })?;
    let services = context.open()?;
    let limits = limits_here(&services).await?;
    let known = known_image(&services, &plan).await?;
    let proposal = Proposal { root, found: &found, plan: &plan, image: known.as_ref(), limits };
    let (page, json) = (proposal.page(), proposal.json());
    if can_ask {
        ask::show(&page);
        let question = format!("Write this to {DIRECTORY}/ and let your runs here start from it?");
        if !ask::agrees(&question).await? {
            return Err(Failure::new("PREPARATION_DECLINED", "nothing was written, as you said"));
        }
    }
    // Before anything that takes its time: whoever gives no passphrase has waited for nothing.
    let form = config.make_key(context, &services, sealing).await?;
    let project = if context.is_project_named { context.scope.project.clone() } else { project_of(root)? };
    let volumes = packages::capture(context, &services, root, &project, &plan.volumes).await?;
    let image = match known {
        Some(image) => image,
        None => capture(context, &services, root, &plan).await?,
    };
    let texts = Texts {
        blueprint: plan.blueprint(&Context::user()),
        commands: plan.catalog(image.digest, &volumes),
        profile: profile(limits),
    };
    texts.parse()?;
    let bound = Bound { root: root.to_owned(), record: Record { project, agreed: texts } };
    config.register(&context.within(&bound), &services).await?;
    bound.record.agreed.write(root)?;
    bound.keep(&context.home, &context.scope.organization)?;
    Ok(Ready { bound, page, json, image, key: config.approver_key(), form, was_shown: can_ask })
}

/// The repository as runs get to see it.
async fn look(root: &Path) -> Result<Survey, Failure> {
    let seen = match files(root, ImportOptions::default()).await {
        Ok(source) => {
            let told = source.iter().filter_map(|path| std::str::from_utf8(path.as_bytes()).ok());
            let source: BTreeSet<String> = told.map(str::to_owned).collect();
            survey_of_source(root, &source)
        }
        // A run says the same; what can be proposed is proposed until it is mended.
        Err(error) => survey(root).map(|mut seen| {
            seen.remarks.push(format!("no run can start from the directory as it is: {error}"));
            seen
        }),
    };
    seen.map_err(|error| Failure::of(error.code(), &error))
}

/// Whatever a repository holds can be read by agents.
fn must_not_hold_state(context: &Context, root: &Path) -> Result<(), Failure> {
    if !resolved(context.home.path()).starts_with(root) {
        return Ok(());
    }
    let message = format!("{} holds the state of this program, with its keys", root.display());
    Err(Failure::new("IMPORT_HOLDS_HOME", message)
        .help("nothing was changed; name the directory of the project alone, or keep the state elsewhere"))
}

fn cannot_ask(root: &Path, seen: &Survey) -> Failure {
    let mut asked: Vec<&str> = seen.questions.iter().map(|question| question.asks.as_str()).collect();
    let whether = format!("whether to write what is proposed to {}", root.join(DIRECTORY).display());
    asked.push(&whether);
    Failure::new("PREPARATION_NEEDS_ANSWER", format!("nobody can be asked: {}", asked.join("; ")))
        .help("nothing was written; run it at a terminal, or agree to everything with --yes")
        .exiting(exit::NEEDS_APPROVAL)
}

/// How limits on a sandbox as a whole hold on this machine: as the strictest profile that it meets demands.
async fn limits_here(services: &Services) -> Result<AggregateLimits, Failure> {
    let manifest = services.sandboxes.measure().await.map_err(|error| Failure::of(error.code(), &error))?;
    let met = profiles()?.into_iter().find(|profile| unmet(profile, &manifest).is_empty());
    met.map(|profile| profile.spec.required.aggregate_limits).ok_or_else(|| {
        Failure::new(
            "BACKEND_NOT_ADMITTED",
            "no sandbox on this machine meets any profile; nothing was written",
        )
        .help("`ambit doctor` says what is missing")
    })
}

/// The name of the image with these tools.
fn image_name(plan: &Plan) -> Result<ImageName, Failure> {
    let names: Vec<&str> = plan.tools.iter().map(|tool| tool.as_str()).collect();
    ImageName::new(format!("tools-{}", names.join("-"))).map_err(|error| Failure::of("USAGE_VALUE", &error))
}

/// The image that holds exactly these tools, where it was captured before.
async fn known_image(services: &Services, plan: &Plan) -> Result<Option<Image>, Failure> {
    let failed = |error: ambit_ports::images::ImageError| Failure::of(error.code(), &error);
    let Some(digest) = services.images.named(&image_name(plan)?).await.map_err(failed)? else {
        return Ok(None);
    };
    let image = services.images.find(digest).await.map_err(failed)?;
    let has = |name: &str| image.tools.iter().any(|tool| tool == name);
    Ok(plan.tools.iter().all(|tool| has(tool.as_str())).then_some(image))
}

/// The directories that do not lie in the repository. Tools are asked what they need, which runs them, and a repository may
/// bring what is called like one: an environment that was entered stands first in the search path.
fn outside(root: &Path, directories: Vec<PathBuf>) -> Vec<PathBuf> {
    let lies_within = |place: &Path| place.starts_with(root) || resolved(place).starts_with(root);
    directories.into_iter().filter(|place| !lies_within(place)).collect()
}

async fn capture(context: &Context, services: &Services, root: &Path, plan: &Plan) -> Result<Image, Failure> {
    let tools: Result<Vec<Tool>, _> = plan.tools.iter().map(|tool| tool.as_str().parse()).collect();
    let tools = tools.map_err(|error| Failure::of("USAGE_TOOL", &error))?;
    context.note("capturing the tools and everything that they need");
    let search_path = outside(root, search_path());
    let request = CaptureRequest { name: image_name(plan)?, tools, search_path };
    let report = services.images.capture(request).await.map_err(|error| {
        Failure::of(error.code(), &error)
            .help("nothing was written; install what is missing, and do the same again")
    })?;
    let image = report.image;
    context.note(&format!("image {} ({})", image.name, image.size_bytes));
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_is_looked_for_in_the_repository() {
        let machine = tempfile::tempdir().unwrap();
        let at = |path: &str| machine.path().canonicalize().unwrap().join(path);
        for directory in ["repository/.venv/bin", "bin"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        std::os::unix::fs::symlink(at("repository/.venv"), at("entered")).unwrap();
        std::os::unix::fs::symlink(at("bin"), at("repository/linked")).unwrap();
        let said =
            ["repository/.venv/bin", "entered/bin", "repository/linked", "repository", "bin", "absent"];
        let left = outside(&at("repository"), said.map(at).to_vec());
        assert_eq!(left, ["bin", "absent"].map(at));
    }
}
