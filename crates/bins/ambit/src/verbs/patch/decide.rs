use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::RepoPath;
use ambit_revision::{Change, Contents, Judged, Listing, PatchRefusal, Sight, Tree, TreeFile, View, touched};
use ambit_source_directory::{ImportError, look, measure};

use super::given::Given;
use super::verdict::Verdict;
use crate::cli::GroundArgs;
use crate::failure::Failure;
use crate::verbs::tree::options;

/// What was decided, and what can be written then.
pub(super) struct Decided {
    pub(super) verdict: Verdict,
    /// `None` where the patch was refused.
    pub(super) outcome: Option<Outcome>,
}

/// What comes out of a patch.
pub(super) struct Outcome {
    /// The files that the patch makes or changes, as they are then.
    pub(super) changed: Vec<(RepoPath, TreeFile)>,
    /// Everything, where all of the directory was read.
    pub(super) tree: Option<Tree>,
    /// The contents of the files that the patch touches, before and after.
    pub(super) contents: Contents,
}

/// Decides by what the patch touches alone. The rest of the directory is read only where the patch applies and the
/// tree is wanted.
pub(super) fn decide(ground: &GroundArgs, given: &Given, wants_tree: bool) -> Result<Decided, Failure> {
    let refused = |verdict| Ok(Decided { verdict, outcome: None });
    let patch = match given.parse() {
        Ok(patch) => patch,
        Err(error) => return refused(Verdict::of_error(given.digest(), &error)),
    };
    let source = given.digest();
    let paths = touched(&patch);
    let looked = look(&ground.base, &paths, options(ground.all)).map_err(|error| unread(&error))?;
    let standing = standing(&looked.listings, &paths);
    let mut contents = looked.contents;
    let view = View::new(&patch, looked.listings).map_err(|error| Failure::of(error.code(), &error))?;
    let (mut verdict, changes, changed) = match view.apply(&contents) {
        Ok(Judged::Applied(effect)) => {
            contents.extend(effect.blobs.iter().map(|(_, bytes)| bytes.to_vec()));
            let changed = filled(&effect.changes);
            (Verdict::applied(source, &effect), effect.changes, changed)
        }
        // The directory stays as it is, and what the patch changed stands there.
        Ok(Judged::AlreadyApplied(effect)) => {
            let changed = effect.as_ref().map_or(standing, |effect| filled(&effect.changes));
            (Verdict::already_applied(source, effect.as_ref()), Vec::new(), changed)
        }
        Err(refusal) => return refused(Verdict::of_refusal(source, &refusal)),
    };
    let mut tree = None;
    if wants_tree {
        let whole = match after(ground, &changes)? {
            Ok(whole) => whole,
            Err(refusal) => return refused(Verdict::of_refusal(source, &refusal)),
        };
        verdict = verdict.with_tree(whole.digest());
        tree = Some(whole);
    }
    Ok(Decided { verdict, outcome: Some(Outcome { changed, tree, contents }) })
}

/// The files that stand somewhere after these changes.
fn filled(changes: &[Change]) -> Vec<(RepoPath, TreeFile)> {
    changes.iter().filter_map(|change| Some((change.path.clone(), change.after?))).collect()
}

/// The files at these paths, as they stand.
fn standing(listings: &[Listing], paths: &BTreeSet<RepoPath>) -> Vec<(RepoPath, TreeFile)> {
    let mut standing = Vec::new();
    for Listing { directory, entries } in listings {
        for (name, sight) in entries {
            let Sight::Read(file) = sight else { continue };
            let path = match directory {
                Some(directory) => directory.join(name.as_bytes()),
                None => RepoPath::from_bytes(name.as_bytes()),
            };
            standing.extend(path.ok().filter(|path| paths.contains(path)).map(|path| (path, *file)));
        }
    }
    standing
}

/// The whole tree after these changes.
fn after(ground: &GroundArgs, changes: &[Change]) -> Result<Result<Tree, PatchRefusal>, Failure> {
    let before = measure(&ground.base, options(ground.all)).map_err(|error| unread(&error))?.tree;
    let is_same = |change: &&Change| before.get(&change.path).copied() == change.before;
    if let Some(change) = changes.iter().find(|change| !is_same(change)) {
        return Err(unread(&ImportError::Changed { path: (&change.path).into() }));
    }
    let edits: BTreeMap<RepoPath, Option<TreeFile>> =
        changes.iter().map(|change| (change.path.clone(), change.after)).collect();
    Ok(before.with(&edits).map_err(PatchRefusal::Tree))
}

/// That the directory cannot be read as it is.
fn unread(error: &ImportError) -> Failure {
    Failure::of(error.code(), error).help("the patch was not applied, and nothing was written")
}
