use std::path::Path;

use ambit_git_import::{Finding, ImportOptions, Imported, Rev, Submodules, import};
use ambit_projects::Import;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::revision::register;

/// What the source of an import begins with where it is a commit, whose name follows.
const SOURCE: &str = "git:";

/// The findings that are told on a page; all of them are in the answer for programs.
const SHOWN: usize = 10;

/// Makes a commit of a repository the next revision of the project.
pub(crate) async fn run(
    context: &Context,
    services: &Services,
    dir: &Path,
    at: &Rev,
    without_submodules: bool,
) -> Result<Answer, Failure> {
    let submodules = if without_submodules { Submodules::LeftOut } else { Submodules::Refused };
    let options = ImportOptions { submodules, ..ImportOptions::default() };
    let imported = import(dir, at, &context.scope, services.blobs.as_ref(), options)
        .await
        .map_err(|error| failure(error.code(), &error))?;
    let record = Import {
        tree: imported.tree.digest(),
        entries: imported.entries,
        source: format!("{SOURCE}{}", imported.commit),
    };
    let (revision, tree) = register(context, services, record).await?;
    let text = format!("{} of {} is {revision}\n{tree}\n{}", imported.commit, dir.display(), told(&imported));
    let findings: Vec<Value> = imported.findings.iter().map(to_json).collect();
    Ok(Answer::new(
        text,
        json!({
            "revision": revision, "tree": tree, "commit": imported.commit.to_string(), "findings": findings,
            "moreFindings": imported.more_findings,
        }),
    ))
}

/// The commit that an import came from; `None` where it came from elsewhere.
pub(crate) fn commit_of(source: &str) -> Option<&str> {
    source.strip_prefix(SOURCE)
}

fn failure(code: &'static str, error: &ambit_git_import::ImportError) -> Failure {
    let failure = Failure::of(code, error);
    match code {
        "IMPORT_SUBMODULE" => failure.help("`--without-submodules` leaves them out; they are listed then"),
        _ => failure,
    }
}

fn to_json(finding: &Finding) -> Value {
    json!({"code": finding.code(), "path": finding.path(), "message": finding.to_string()})
}

fn told(imported: &Imported) -> String {
    let mut text: String =
        imported.findings.iter().take(SHOWN).map(|finding| format!("note: {finding}\n")).collect();
    let more = (imported.findings.len().saturating_sub(SHOWN) as u64).saturating_add(imported.more_findings);
    if more > 0 {
        text.push_str(&format!("note: {more} more like these; `--json` lists them\n"));
    }
    text
}
