//! A revision for people who live in git. Nothing of theirs is touched: they get a file or a directory.

use std::io::Write;
use std::path::Path;

use ambit_evidence::v1::{Body, ProjectBody};
use ambit_git_export::{
    Author, BranchName, Bundle, Envelope, Evidence, ExportError, Mail, Message, NewFile, Parent, Source,
    Standing, Written, limits as git_limits, write_whole,
};
use ambit_ids::{ByteCount, Digest, UnixMs, limits};
use ambit_ports::store::StreamId;
use ambit_revision::Tree;
use ambit_source_directory::export as export_directory;
use serde_json::{Value, json};

use super::{Known, find, load};
use crate::answer::Answer;
use crate::cli::{ExportArgs, FormArg, MessageArg, OutArg};
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::input_file::read_bytes;
use crate::verbs::import_git::whole_commit_of;

pub(super) async fn run(
    context: &Context,
    services: &Services,
    mut arguments: ExportArgs,
) -> Result<Answer, Failure> {
    check(context, &arguments)?;
    let known = find(context, services, arguments.revision).await?;
    let tree = load(context, services, known.tree).await?;
    let told = json!({
        "revision": known.revision, "tree": known.tree, "files": tree.file_count(), "standing": known.state,
        "previewReady": known.preview_ready,
    });
    if let (FormArg::Directory, OutArg::Path(out)) = (arguments.form, &arguments.out) {
        export_directory(&tree, &context.scope, services.blobs.as_ref(), out)
            .await
            .map_err(|error| Failure::of(error.code(), &error))?;
        warn(context, &known);
        return Ok(answer(told, json!({"out": out}), out, ""));
    }
    let base = match arguments.base.or(known.parent) {
        Some(base) => {
            let base = find(context, services, base).await?;
            let came_from = base.source.as_deref().and_then(whole_commit_of);
            arguments.onto = arguments.onto.or_else(|| came_from.and_then(|commit| commit.parse().ok()));
            Some(load(context, services, base.tree).await?)
        }
        None => None,
    };
    let envelope = envelope(context, services, &arguments, &known, base.as_ref(), &tree).await?;
    let form = arguments.form;
    let job = Job { arguments, tree, base, envelope };
    let (out, made) = job.run(context, services).await?;
    warn(context, &known);
    match out {
        OutArg::Path(out) => {
            let take = taken(form, &made, &out);
            Ok(answer(told, made, &out, &take))
        }
        OutArg::Standard => Ok(Answer::new("", told).verbatim()),
    }
}

/// Says where a revision does not stand as a finished one does.
fn warn(context: &Context, known: &Known) {
    if !known.preview_ready {
        let (revision, state) = (known.revision, &known.state);
        context.note(&format!("{revision} is not preview-ready ({state}); it was exported all the same"));
    }
}

/// What the form has no use for is refused rather than overlooked.
fn check(context: &Context, arguments: &ExportArgs) -> Result<(), Failure> {
    let unfit =
        |what: &str| Err(Failure::new("USAGE_VALUE", what).help("`ambit revision export --help` says more"));
    let is_said = arguments.author.is_some() || arguments.message.is_some() || arguments.base.is_some();
    match (arguments.form, &arguments.out) {
        (FormArg::Mail, OutArg::Standard) if context.json => {
            unfit("a mail on standard output leaves no room for JSON")
        }
        (FormArg::Bundle | FormArg::Directory, OutArg::Standard) => {
            unfit("only a mail goes to standard output")
        }
        (FormArg::Directory, _) if is_said => {
            unfit("a directory has no commit, so nothing can be said of it")
        }
        (FormArg::Mail | FormArg::Directory, _) if arguments.branch.is_some() || arguments.onto.is_some() => {
            unfit("only a bundle has a branch that goes on from a commit")
        }
        (_, OutArg::Path(out)) if out.symlink_metadata().is_ok() => {
            let error = ExportError::Exists { path: out.clone() };
            Err(Failure::of(error.code(), &error))
        }
        _ => Ok(()),
    }
}

/// How what was written is taken into a repository, as a line of the page; nothing where a shell would read its name
/// otherwise.
fn taken(form: FormArg, made: &Value, out: &Path) -> String {
    let (out, branch) = (out.to_str().unwrap_or_default(), made["branch"].as_str().unwrap_or_default());
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b));
    match form {
        _ if out.starts_with('-') || !is_plain(out) || !is_plain(branch) => String::new(),
        FormArg::Mail => format!("take   git am {out}\n"),
        FormArg::Bundle => format!("take   git fetch {out} {branch}\n"),
        FormArg::Directory => String::new(),
    }
}

fn answer(mut told: Value, made: Value, out: &Path, take: &str) -> Answer {
    if let (Value::Object(told), Value::Object(made)) = (&mut told, made) {
        told.extend(made);
    }
    let commit = told["commit"].as_str().map(|commit| format!("commit {commit}\n")).unwrap_or_default();
    let revision = told["revision"].as_str().unwrap_or_default();
    Answer::new(format!("{revision} is written to {}\n{commit}{take}", out.display()), told)
}

async fn envelope(
    context: &Context,
    services: &Services,
    arguments: &ExportArgs,
    known: &Known,
    base: Option<&Tree>,
    tree: &Tree,
) -> Result<Envelope, Failure> {
    let patch = match base {
        None => None,
        Some(base) => {
            let difference = services.revisions.difference(&context.scope, base, tree).await;
            Some(difference.map_err(|error| Failure::of(error.code(), &error))?.digest)
        }
    };
    let standing = match known.preview_ready {
        true => Standing::PreviewReady,
        false => Standing::Ineligible(known.state.trim_start_matches("ineligible: ").to_owned()),
    };
    Ok(Envelope {
        author: arguments.author.clone().unwrap_or_else(Author::program),
        at: made_at(context, services, known).await?,
        message: message(context, services, arguments.message.as_ref(), known).await?,
        evidence: Some(Evidence {
            revision: known.revision,
            run: known.run.clone(),
            tree: known.tree,
            patch,
            standing,
        }),
    })
}

async fn message(
    context: &Context,
    services: &Services,
    said: Option<&MessageArg>,
    known: &Known,
) -> Result<Message, Failure> {
    let text = match said {
        Some(MessageArg::Text(text)) => text.clone(),
        Some(MessageArg::File(file)) => {
            String::from_utf8_lossy(&read_bytes(file, git_limits::MESSAGE_BYTES)?).into_owned()
        }
        None => {
            let plain = format!("Take {} of {}", known.revision, context.scope.project);
            let goal = match &known.run {
                Some(run) => services
                    .run(&context.scope, run.as_str())
                    .await?
                    .1
                    .dossier()
                    .map(|it| it.pins.goal.clone()),
                None => None,
            };
            let goal = goal.and_then(|goal| goal.trim().lines().next().map(str::to_owned));
            goal.filter(|goal| goal.parse::<Message>().is_ok()).unwrap_or(plain)
        }
    };
    text.parse::<Message>().map_err(|error| Failure::of("USAGE_VALUE", &error))
}

/// When the last record of a revision was made, so that exporting it again gives the same.
async fn made_at(context: &Context, services: &Services, known: &Known) -> Result<UnixMs, Failure> {
    let stream = match &known.run {
        Some(run) => StreamId::Run(context.scope.clone(), run.clone()),
        None => StreamId::Project(context.scope.clone()),
    };
    let loaded = services.journal.load(&stream).await.map_err(|error| Failure::of(error.code(), &error))?;
    let is_of_revision = |body: &Body| match body {
        Body::Run(_) => true,
        Body::Project(body) => {
            matches!(body.as_ref(), ProjectBody::RevisionImported { revision, .. } if *revision == known.revision)
        }
    };
    let last = loaded.links.iter().rev().find(|link| is_of_revision(&link.record.body));
    let ts = last.map(|link| link.record.ts.as_str()).unwrap_or_default();
    ts.parse().map_err(|error| Failure::of("RECORD_UNREADABLE", &error))
}

/// What is written on a thread of its own, since it waits for the disk.
struct Job {
    arguments: ExportArgs,
    tree: Tree,
    base: Option<Tree>,
    envelope: Envelope,
}

impl Job {
    async fn run(self, context: &Context, services: &Services) -> Result<(OutArg, Value), Failure> {
        let (scope, blobs) = (context.scope.clone(), services.blobs.clone());
        let runtime = tokio::runtime::Handle::current();
        let writing = tokio::task::spawn_blocking(move || {
            let limit = ByteCount::new(limits::FILE_BYTES);
            let content = |digest: &Digest| runtime.block_on(blobs.get(&scope, *digest, limit));
            let made = self.write(&Source::of(&content))?;
            Ok((self.arguments.out, made))
        });
        writing
            .await
            .map_err(|error| Failure::of("RUNTIME_FAILED", &error))?
            .map_err(|error: ExportError| Failure::of(error.code(), &error))
    }

    fn write(&self, source: &Source<'_>) -> Result<Value, ExportError> {
        let OutArg::Path(path) = &self.arguments.out else {
            write_whole(&mut std::io::stdout().lock(), |spool| self.put(source, spool))?;
            return Ok(Value::Null);
        };
        let mut file = NewFile::at(path)?;
        let mut made = self.put(source, &mut file)?;
        let Written { digest, size } = file.publish()?;
        made["out"] = json!(path);
        made["digest"] = json!(digest);
        made["sizeBytes"] = json!(size);
        Ok(made)
    }

    fn put(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Value, ExportError> {
        let nothing = Tree::empty();
        let base = self.base.as_ref().unwrap_or(&nothing);
        if self.arguments.form == FormArg::Mail {
            let mailed =
                Mail { before: base, after: &self.tree, envelope: &self.envelope }.write(source, out)?;
            return Ok(json!({"changedFiles": mailed.files}));
        }
        let parent = self.arguments.onto.map(|commit| Parent { commit, tree: base });
        let branch = match &self.arguments.branch {
            Some(branch) => branch.clone(),
            None => BranchName::of_revision(self.arguments.revision),
        };
        let bundle = Bundle { tree: &self.tree, parent, branch: &branch, envelope: &self.envelope };
        let bundled = bundle.write(source, out)?;
        Ok(json!({
            "commit": bundled.commit.to_string(), "gitTree": bundled.tree.to_string(), "objects": bundled.objects,
            "branch": branch.as_str(), "onto": self.arguments.onto.map(|commit| commit.to_string()),
        }))
    }
}
