use std::path::{Path, PathBuf};

use ambit_git_import::{Finding, ImportOptions, Imported, Rev, Submodules, import};
use ambit_git_mirror::{BranchName, CommitName, Mirrors, Source, Wanted};
use ambit_projects::Import;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::answer::Answer;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::register::register;
use crate::verbs::unread::check_holds_no_credential;

/// What the source of an import begins with where it is a commit, whose name follows.
const SOURCE: &str = "git:";
/// The same, where submodules of the commit were left out: its tree is another than that of the revision.
const SOURCE_IN_PART: &str = "git-in-part:";

/// The findings that are told on a page; all of them are in the answer for programs.
const SHOWN: usize = 10;

/// A commit that is to become a revision.
pub(crate) struct Asked {
    /// The repository: a directory, or a URL.
    pub(crate) source: PathBuf,
    pub(crate) at: Rev,
    /// The branch of a URL that is searched.
    pub(crate) branch: Option<String>,
    pub(crate) without_submodules: bool,
}

/// Makes a commit of a repository the next revision of the project. A directory is read where it is; of a URL the commit
/// is fetched into a mirror of ours before.
pub(crate) async fn run(context: &Context, services: &Services, asked: Asked) -> Result<Answer, Failure> {
    let (dir, at) = match asked.source.to_str().filter(|text| is_url(text)) {
        Some(url) => obtain(context, url, &asked).await?,
        None if asked.branch.is_some() => {
            return Err(Failure::new("USAGE", "`--branch` is for a repository that is named by a URL")
                .help("name the branch with `--at`"));
        }
        None => (asked.source.clone(), asked.at.clone()),
    };
    let submodules = if asked.without_submodules { Submodules::LeftOut } else { Submodules::Refused };
    let options = ImportOptions { submodules, ..ImportOptions::default() };
    let imported = import(&dir, &at, &context.scope, services.blobs.as_ref(), options)
        .await
        .map_err(|error| failure(error.code(), &error, &asked.source))?;
    let kept = "no revision was made";
    check_holds_no_credential(services.blobs.as_ref(), &context.scope, &imported.tree, kept).await?;
    let record = Import {
        tree: imported.tree.digest(),
        entries: imported.entries,
        source: format!("{}{}", if is_whole(&imported) { SOURCE } else { SOURCE_IN_PART }, imported.commit),
    };
    let (revision, tree) = register(context, services, record).await?;
    let text = format!(
        "{} of {} is {revision}\n{tree}\n{}",
        imported.commit,
        asked.source.display(),
        told(&imported)
    );
    let findings: Vec<Value> = imported.findings.iter().map(to_json).collect();
    Ok(Answer::new(
        text,
        json!({
            "revision": revision, "tree": tree, "commit": imported.commit.to_string(), "findings": findings,
            "moreFindings": imported.more_findings,
        }),
    ))
}

/// Whether a source is to be fetched from. What only looks like a URL is one: the mirror says what is wrong with it.
fn is_url(text: &str) -> bool {
    text.contains("://") || text.contains("::")
}

/// Whether a source is written as `host:path`, which is no URL.
fn names_host(source: &Path) -> bool {
    source.to_str().and_then(|text| text.split('/').next()).is_some_and(|first| first.contains(':'))
}

/// Fetches a commit into the mirror of its source, and answers where it can be read then.
async fn obtain(context: &Context, url: &str, asked: &Asked) -> Result<(PathBuf, Rev), Failure> {
    let name = CommitName::parse(&asked.at.to_string()).map_err(|error| {
        Failure::of(error.code(), &error)
            .help("`git ls-remote URL` tells the commit of each branch: name one with `--at`, since a branch may move")
    })?;
    let source = Source::parse(url).map_err(|error| Failure::of(error.code(), &error))?;
    let mut wanted = Wanted::new(name);
    if let Some(branch) = &asked.branch {
        wanted.branch = BranchName::new(branch).map_err(|error| Failure::of(error.code(), &error))?;
    }
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let mirrors = Mirrors::new(&context.home.mirrors(), &search_path)
        .map_err(|error| Failure::of(error.code(), &error))?;
    let obtained = spawn_blocking(move || mirrors.obtain(&source, &wanted))
        .await
        .map_err(|error| Failure::of("RUNTIME_FAILED", &error))?
        .map_err(|error| Failure::of(error.code(), &error))?;
    let at = obtained.commit.as_str().parse().map_err(|error| Failure::of("MIRROR_NOT_A_COMMIT", &error))?;
    Ok((obtained.repository, at))
}

/// The commit that an import came from; `None` where it came from elsewhere.
pub(crate) fn commit_of(source: &str) -> Option<&str> {
    source.strip_prefix(SOURCE_IN_PART).or_else(|| whole_commit_of(source))
}

/// The commit that has the very tree of an import; `None` where there is none.
pub(crate) fn whole_commit_of(source: &str) -> Option<&str> {
    source.strip_prefix(SOURCE)
}

fn is_whole(imported: &Imported) -> bool {
    let left_out = |finding: &Finding| matches!(finding, Finding::Submodule { .. });
    imported.more_findings == 0 && !imported.findings.iter().any(left_out)
}

fn failure(code: &'static str, error: &ambit_git_import::ImportError, source: &Path) -> Failure {
    let failure = Failure::of(code, error).about(error.entry());
    match code {
        "IMPORT_NOT_A_REPOSITORY" if names_host(source) => failure
            .help("a repository on another machine is named by a URL, as in ssh://git@example.com/shop.git"),
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
