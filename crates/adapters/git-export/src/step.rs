use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_revision::{Change, FileKind, Tree, TreeFile};

/// What becomes of one file, as git tells it.
pub(crate) enum Step {
    Removed {
        path: RepoPath,
        file: TreeFile,
    },
    Created {
        path: RepoPath,
        file: TreeFile,
    },
    Changed {
        path: RepoPath,
        before: TreeFile,
        after: TreeFile,
    },
    /// The same content under another path.
    Renamed {
        from: RepoPath,
        path: RepoPath,
        before: FileKind,
        after: FileKind,
    },
}

/// What leads from one tree to the other, sorted by path. A file that becomes a link, or a link a file, is removed and
/// created.
pub(crate) fn steps(before: &Tree, after: &Tree) -> Vec<Step> {
    let changes = before.diff(after);
    let mut sources = sources(&changes);
    let mut renamed: BTreeMap<RepoPath, RepoPath> = BTreeMap::new();
    for change in &changes {
        if let (None, Some(file)) = (change.before, change.after)
            && !is_link(&file)
            && let Some(from) = sources.get_mut(&file.content).and_then(Vec::pop)
        {
            renamed.insert(change.path.clone(), from);
        }
    }
    let gone: BTreeSet<RepoPath> = renamed.values().cloned().collect();
    changes.into_iter().flat_map(|change| step(change, before, &renamed, &gone)).collect()
}

/// The files that are gone, the first by path last. One that holds nothing came from nowhere in particular. A link is no
/// source: a rename does not tell its mode, and git then takes what comes below its place to be beyond it.
fn sources(changes: &[Change]) -> BTreeMap<Digest, Vec<RepoPath>> {
    let mut sources: BTreeMap<Digest, Vec<RepoPath>> = BTreeMap::new();
    for change in changes.iter().rev() {
        if let (Some(file), None) = (change.before, change.after)
            && file.size != ByteCount::ZERO
            && !is_link(&file)
        {
            sources.entry(file.content).or_default().push(change.path.clone());
        }
    }
    sources
}

fn is_link(file: &TreeFile) -> bool {
    file.kind == FileKind::Link
}

fn step(
    change: Change,
    tree: &Tree,
    renamed: &BTreeMap<RepoPath, RepoPath>,
    gone: &BTreeSet<RepoPath>,
) -> Vec<Step> {
    let path = change.path;
    match (change.before, change.after) {
        (None, None) => Vec::new(),
        (Some(_), None) if gone.contains(&path) => Vec::new(),
        (Some(file), None) => vec![Step::Removed { path, file }],
        (None, Some(file)) => {
            let from = renamed.get(&path).and_then(|from| Some((from.clone(), tree.get(from)?.kind)));
            vec![match from {
                Some((from, before)) => Step::Renamed { from, path, before, after: file.kind },
                None => Step::Created { path, file },
            }]
        }
        (Some(before), Some(after)) if is_link(&before) != is_link(&after) => {
            vec![Step::Removed { path: path.clone(), file: before }, Step::Created { path, file: after }]
        }
        (Some(before), Some(after)) => vec![Step::Changed { path, before, after }],
    }
}
