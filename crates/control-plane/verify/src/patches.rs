//! Applies the patch history again, and reads every tree of it whole.

use std::collections::BTreeSet;

use ambit_ids::{ByteCount, Digest, Scope, limits};
use ambit_revision::{Applied, Tree, apply, parse};
use ambit_revisions::Revisions;
use ambit_run::{AppliedPatch, Event, Observation, Pins, State};

use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, refuting};
use crate::trace::Trace;
use crate::vault::{Vault, of_revision};

/// The largest canonical patch: every file that a patch may touch, removed and made again.
const CANONICAL_LIMIT: ByteCount = ByteCount::new(2 * limits::FILE_BYTES);

/// The patches that became part of the revision, with the positions of their records. One that was observed after the
/// run began to end is not among them.
fn applied<'t>(trace: &'t Trace<'_>) -> impl Iterator<Item = (usize, &'t AppliedPatch)> {
    trace.events().filter_map(|(at, event)| match (event, trace.state(at)) {
        (Event::CallObserved { observation: Observation::PatchApplied(patch), .. }, State::Open(_)) => {
            Some((at, patch))
        }
        _ => None,
    })
}

/// Applies every patch to what the one before it made, from the base on, and holds the last to the run's head.
pub(crate) async fn check(trace: &Trace<'_>, pins: &Pins, vault: &Vault, revisions: &Revisions) -> Findings {
    let mut findings = Findings::default();
    let scope = &pins.scope;
    let Some(base) = load(revisions, scope, pins.base.tree, &mut findings).await else { return findings };
    let mut current = base.clone();
    for (at, patch) in applied(trace) {
        let made = apply_again(trace.name(at), scope, &current, patch, vault, revisions).await;
        let Some(made) = findings.take(made) else { return findings };
        compare(trace.name(at), &base, &made, patch, &mut findings);
        let canonical = check_canonical(scope, &current, &made, patch, vault, revisions).await;
        findings.take(canonical);
        current = made.tree;
    }
    let head = trace.last_state().dossier().map(|dossier| dossier.head);
    for (at, event) in trace.events() {
        if let Event::RevisionMarked { tree, .. } = event
            && *tree != current.digest()
        {
            let why = format!("its patches make {}", current.digest());
            findings.refute(trace.name(at), why);
        }
    }
    if head.is_some_and(|head| head != current.digest()) && findings.is_empty() {
        let at = trace.events.len() - 1;
        findings.refute(trace.name(at), format!("the patches make another tree, {}", current.digest()));
    }
    findings
}

async fn load(revisions: &Revisions, scope: &Scope, tree: Digest, findings: &mut Findings) -> Option<Tree> {
    let loaded = revisions.load(scope, tree).await;
    findings.take(loaded.map_err(|error| of_revision(&error)))
}

async fn apply_again(
    link: LinkName,
    scope: &Scope,
    current: &Tree,
    patch: &AppliedPatch,
    vault: &Vault,
    revisions: &Revisions,
) -> Result<Applied, Finding> {
    let limit = ByteCount::new(limits::PATCH_BYTES as u64);
    let bytes = vault.read(scope, "the proposed patch", patch.proposed, limit).await?;
    let set = parse(&bytes).map_err(|error| refuting(link.clone(), error.to_string()))?;
    let contents = revisions.contents_for(scope, current, &set).await.map_err(|error| of_revision(&error))?;
    apply(current, &patch.base, &set, &contents).map_err(|error| refuting(link, error.to_string()))
}

fn compare(link: LinkName, base: &Tree, made: &Applied, patch: &AppliedPatch, findings: &mut Findings) {
    let files: Vec<_> = made.changes.iter().map(|change| change.path.clone()).collect();
    let differing = base.diff(&made.tree).len() as u64;
    if made.tree.digest() != patch.tree {
        findings.refute(link, format!("the patch makes the tree {}", made.tree.digest()));
    } else if files != patch.files {
        findings.refute(link, format!("the patch changes {} files, and not those", files.len()));
    } else if differing != u64::from(patch.changed_from_base) {
        findings.refute(link, format!("{differing} files differ from the base"));
    }
}

/// The canonical patch that was kept must lead from the one tree to the other. It need not be the one that this version
/// would write.
async fn check_canonical(
    scope: &Scope,
    current: &Tree,
    made: &Applied,
    patch: &AppliedPatch,
    vault: &Vault,
    revisions: &Revisions,
) -> Result<(), Finding> {
    let what = "the canonical patch";
    let bytes = vault.read(scope, what, patch.canonical, CANONICAL_LIMIT).await?;
    if made.canonical.digest == patch.canonical {
        return Ok(());
    }
    let link = || LinkName::Blob { what: what.to_owned(), digest: patch.canonical };
    let set = parse(&bytes).map_err(|error| refuting(link(), error.to_string()))?;
    let contents = revisions.contents_for(scope, current, &set).await.map_err(|error| of_revision(&error))?;
    match apply(current, &patch.base, &set, &contents) {
        Ok(applied) if applied.tree == made.tree => Ok(()),
        Ok(applied) => {
            Err(refuting(link(), format!("applied, it makes another tree, {}", applied.tree.digest())))
        }
        Err(error) => Err(refuting(link(), error.to_string())),
    }
}

/// Reads every directory and file of the base and of every tree that a patch made.
pub(crate) async fn check_trees(trace: &Trace<'_>, pins: &Pins, revisions: &Revisions) -> Findings {
    let mut findings = Findings::default();
    let mut seen = BTreeSet::new();
    let trees = std::iter::once(pins.base.tree).chain(applied(trace).map(|(_, patch)| patch.tree));
    for tree in trees.collect::<BTreeSet<_>>() {
        read_whole(&pins.scope, tree, revisions, &mut seen, &mut findings).await;
    }
    findings
}

/// Reads a tree with the contents of its files, as far as they were not read before.
pub(crate) async fn read_whole(
    scope: &Scope,
    tree: Digest,
    revisions: &Revisions,
    seen: &mut BTreeSet<Digest>,
    findings: &mut Findings,
) {
    let Some(tree) = load(revisions, scope, tree, findings).await else { return };
    for (path, file) in tree.files() {
        if !seen.insert(file.content) {
            continue;
        }
        match revisions.content(scope, &path, file).await {
            Ok(bytes) if bytes.len() as u64 == file.size.get() => {}
            Ok(bytes) => {
                let link = LinkName::Blob { what: format!("the content of {path}"), digest: file.content };
                let why = format!("it has {} bytes, and the tree says {}", bytes.len(), file.size.get());
                findings.refute(link, why);
            }
            Err(error) => findings.push(of_revision(&error)),
        }
    }
}
