//! What a patch does to configuration: manifests, lock files, runners, checks and pipelines, each read by a parser of the
//! form that it is written in, on both sides.
//!
//! A setting that makes a check say less is told with its line. One that makes it stricter, or that no check reads, is
//! not. What cannot be read is unclassified where a runner, a check or a pipeline would read it.

mod access;
mod compare;
mod kind;
mod locks;
mod node;
mod pins;
mod pipeline;
mod places;
mod programs;
mod read;
mod rules;
mod scripts;
mod told;

use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use ambit_policy::Fact;

use crate::change::{FileChange, Guard, Unreadable, text};
use crate::manifest::Manifest;
use compare::Document;
use kind::{Family, Kind};
use node::Node;
use told::Told;

/// A change of a file of a known kind, read.
struct Read<'a> {
    kind: Kind,
    document: Document<'a>,
}

/// What the changes do to configuration.
pub(crate) fn facts(changes: &[FileChange<'_>], guard: &Guard) -> Vec<Fact> {
    let mut told = Told::default();
    let mut known: Vec<Read<'_>> = Vec::new();
    for change in changes.iter().filter(|change| change.before != change.after) {
        as_text(change, &mut told);
        let Some(kind) = Kind::of(change.path) else { continue };
        match read(kind, change) {
            Ok(document) => known.push(Read { kind, document }),
            // Other tools' files are compared where they can be, and are nobody's gate.
            Err(_) if kind.family == Family::Other => {}
            Err(why) => told.unclassified(format!("{} {why}", change.path)),
        }
    }
    let mut pipelines = Vec::new();
    let mut groups: BTreeMap<(Family, Option<RepoPath>), Vec<Document<'_>>> = BTreeMap::new();
    for Read { kind, document } in known {
        alone(kind, &document, changes, &mut told);
        match kind.family {
            Family::Pipeline => pipelines.push(document),
            // A manifest of another directory that only lists is compared by itself.
            family => groups.entry((family, document.path.parent())).or_default().push(document),
        }
    }
    pipeline::compare(&pipelines, &mut told);
    for ((family, _), documents) in &groups {
        compare::settings(rules::of(*family), documents, &mut told);
        pins::compare(*family, documents, &mut told);
    }
    places::shadows(changes, guard, &mut told);
    places::kept(changes, guard, &mut told);
    told.into_facts()
}

fn read<'a>(kind: Kind, change: &FileChange<'a>) -> Result<Document<'a>, Unreadable> {
    let side = |side: Option<&[u8]>| match side {
        None => Ok(Node::default()),
        Some(_) => kind.read(text(side)?),
    };
    // A side before that cannot be read said nothing, so that everything after it is new.
    Ok(Document {
        path: change.path,
        before: side(change.before).unwrap_or_default(),
        after: side(change.after)?,
    })
}

/// What one file tells by itself.
fn alone(kind: Kind, document: &Document<'_>, changes: &[FileChange<'_>], told: &mut Told) {
    let Document { path, before, after } = document;
    match kind.family {
        Family::Lock => locks::compare(kind.root(), document, has_manifest(path, changes), told),
        Family::Recipes => scripts::recipes(document, told),
        Family::Node if path.file_name() == b"package.json" => scripts::package(document, told),
        _ => {}
    }
    if kind.root() == "codeowners" {
        access::owners(path, before, after, told);
    } else if kind.family != Family::Lock && kind.family != Family::Recipes && !kind.is_requirements() {
        access::compare(path, before, after, told);
    }
}

/// Whether the manifest that a lock file belongs to is in the patch as well.
fn has_manifest(lock: &RepoPath, changes: &[FileChange<'_>]) -> bool {
    let wanted = |path: &RepoPath| {
        matches!(
            (lock.file_name(), Manifest::of(path)),
            (b"Cargo.lock", Some(Manifest::CargoToml))
                | (b"go.sum", Some(Manifest::GoMod))
                | (b"Pipfile.lock", Some(Manifest::Pipfile))
                | (b"poetry.lock" | b"uv.lock" | b"pdm.lock", Some(Manifest::Pyproject))
                | (
                    b"package-lock.json" | b"npm-shrinkwrap.json" | b"yarn.lock" | b"pnpm-lock.yaml",
                    Some(Manifest::PackageJson)
                )
        )
    };
    changes.iter().any(|change| change.before != change.after && wanted(change.path))
}

/// Compares by lines what is a program or is written in a form of its own.
fn as_text(change: &FileChange<'_>, told: &mut Told) {
    let side =
        |side: Option<&'_ [u8]>| side.and_then(|bytes| std::str::from_utf8(bytes).ok()).map(str::to_owned);
    let (before, after) = (side(change.before), side(change.after));
    programs::compare(change.path, before.as_deref(), after.as_deref(), told);
    let name = change.path.file_name();
    let is_server = name == b".htaccess" || name.ends_with(b".conf") || name == b"Caddyfile";
    if let (Some(before), Some(after)) = (before, after)
        && is_server
    {
        access::web_server(change.path, &before, &after, told);
    }
}
