//! What `ambit run start "GOAL"` needs where the user stands: a model, its key, a configuration that nobody else reads, and
//! the tools of the repository.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ambit_agent_models::ModelAgentDocument;
use ambit_evidence::CredentialForm;
use ambit_ids::limits;
use ambit_project_survey::{Plan, survey};

use crate::agent::{agent, own};
use crate::config::UserConfig;
use crate::context::Context;
use crate::failure::Failure;
use crate::input_file::read_bytes;
use crate::verbs::doctor::Finding;
use crate::verbs::image::search_path;
use crate::verbs::init::root_here;

pub(super) fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = root_here(context).ok();
    match UserConfig::find() {
        Err(failure) => findings.push(of_failure("configuration", &failure)),
        Ok(config) => {
            // Where nothing can be checked no run starts, and none reads the configuration.
            let root = root.as_deref().filter(|root| can_be_checked(context, root));
            if let Some(Err(failure)) = root.map(|root| config.must_lie_outside(context, root)) {
                findings.push(of_failure("configuration", &failure).wrong());
            }
            findings.push(model(&config));
            findings.extend(credential(&config));
        }
    }
    findings.extend(root.as_deref().and_then(|root| repository(context, root)));
    findings
}

pub(super) fn of_failure(what: &str, failure: &Failure) -> Finding {
    let (message, help) = failure.parts();
    let mend =
        ["nothing was started; ", "nothing was changed; "].iter().find_map(|told| help.strip_prefix(told));
    Finding::missing(what, message, mend.unwrap_or(help))
}

/// The model that answers where no agent is named, and whether it could be asked: its key is looked for, and not used.
fn model(config: &UserConfig) -> Finding {
    let found = || -> Result<String, Failure> {
        let file = own(config)?;
        agent(&file, 0)?;
        let bytes = read_bytes(&file, limits::DOCUMENT_BYTES)?;
        // Whatever is no model follows a transcript, and needs nothing.
        Ok(match ModelAgentDocument::read(&file, &bytes) {
            Ok(document) => {
                format!("{} over {} at {}", document.model(), document.wire(), document.base_url())
            }
            Err(_) => format!("the transcript {}", file.display()),
        })
    };
    match found() {
        Ok(told) => Finding::ok("model", told),
        Err(failure) => of_failure("model", &failure),
    }
}

/// The user's own credential. An open one works, and is worth less.
fn credential(config: &UserConfig) -> Option<Finding> {
    const WHAT: &str = "credential";
    let file = config.approver_key();
    match config.credential_form() {
        Ok(None) => None,
        Ok(Some(CredentialForm::Sealed)) => Some(Finding::ok(WHAT, format!("{}, sealed", file.display()))),
        Ok(Some(CredentialForm::Open)) => {
            let found = format!("{}, open: whatever runs as you can approve", file.display());
            Some(Finding::warning(WHAT, found, "ambit approver seal"))
        }
        Err(failure) => Some(of_failure(WHAT, &failure).wrong()),
    }
}

/// Whether this is a repository of which a run could start, prepared or not.
fn can_be_checked(context: &Context, root: &Path) -> bool {
    context.bound.is_some() || survey(root).is_ok_and(|seen| seen.settle(&[]).is_ok())
}

/// Whether runs can start in this repository. Where nothing can be checked there is none.
fn repository(context: &Context, root: &Path) -> Option<Finding> {
    if context.bound.is_some() {
        return Some(Finding::ok("repository", format!("{} is prepared", root.display())));
    }
    let plan = survey(root).ok()?.settle(&[]).ok()?;
    let absent = absent_tools(&plan);
    Some(match absent.as_slice() {
        [] => Finding::missing("repository", format!("{} is not prepared", root.display()), "ambit init"),
        names => Finding::missing(
            "repository",
            format!("{} needs {}", root.display(), names.join(", ")),
            "install it, so that PATH finds it, and `ambit init`",
        ),
    })
}

/// The tools of the gates that no directory of `PATH` holds.
fn absent_tools(plan: &Plan) -> Vec<&'static str> {
    let path = search_path();
    let is_there = |name: &str| {
        path.iter().any(|directory| {
            let program = directory.join(name).metadata();
            program.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        })
    };
    plan.tools.iter().map(|tool| tool.as_str()).filter(|name| !is_there(name)).collect()
}
