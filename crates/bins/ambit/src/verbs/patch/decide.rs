use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::RepoPath;
use ambit_revision::{Change, Contents, Judged, Listing, PatchRefusal, Sight, Tree, TreeFile, View, touched};
use ambit_source_directory::{ImportError, look, measure};

use super::Aim;
use super::given::Given;
use super::verdict::{Ruling, Verdict};
use crate::cli::GroundArgs;
use crate::failure::Failure;
use crate::verbs::tree::options;
use crate::verbs::unread::unread;

/// What is to be found out.
pub(super) struct Asked<'a> {
    pub(super) ground: &'a GroundArgs,
    pub(super) aim: Aim,
    /// Whether the whole tree that comes out is wanted.
    pub(super) wants_tree: bool,
}

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
pub(super) fn decide(asked: &Asked<'_>, given: &Given) -> Result<Decided, Failure> {
    let Asked { ground, aim, wants_tree } = asked;
    let ruled = |ruling| Verdict { aim: *aim, patch: given.digest(), tree: None, place: None, ruling };
    let refused = |ruling| Ok(Decided { verdict: ruled(ruling), outcome: None });
    let patch = match given.parse() {
        Ok(patch) => patch,
        Err(error) => return refused(Ruling::NoPatch(error)),
    };
    let paths = touched(&patch);
    let looked =
        look(&ground.base, &paths, options(ground.all)).map_err(|error| unread(&error, aim.kept()))?;
    let standing = standing(&looked.listings, &paths);
    let mut contents = looked.contents;
    let view = View::new(&patch, looked.listings).map_err(|error| Failure::of(error.code(), &error))?;
    let (mut verdict, changes, changed) = match view.apply(&contents) {
        Ok(Judged::Applied(effect)) => {
            contents.include(&effect.blobs);
            let (changes, changed) = (effect.changes.clone(), filled(&effect.changes));
            (ruled(Ruling::Fits(effect)), changes, changed)
        }
        // The directory stays as it is, and what the patch changed stands there.
        Ok(Judged::AlreadyApplied(effect)) => {
            let changed = effect.as_ref().map_or(standing, |effect| filled(&effect.changes));
            (ruled(Ruling::StandsAlready(effect)), Vec::new(), changed)
        }
        Err(refusal) => return refused(Ruling::Refused(refusal)),
    };
    let mut tree = None;
    if *wants_tree {
        let whole = match after(asked, &changes)? {
            Ok(whole) => whole,
            Err(refusal) => return refused(Ruling::Refused(refusal)),
        };
        verdict.tree = Some(whole.digest());
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
fn after(asked: &Asked<'_>, changes: &[Change]) -> Result<Result<Tree, PatchRefusal>, Failure> {
    let Asked { ground, aim, .. } = asked;
    let failed = |error: ImportError| unread(&error, aim.kept());
    let before = measure(&ground.base, options(ground.all)).map_err(failed)?.tree;
    let is_same = |change: &&Change| before.get(&change.path).copied() == change.before;
    if let Some(change) = changes.iter().find(|change| !is_same(change)) {
        return Err(failed(ImportError::Changed { path: (&change.path).into() }));
    }
    let edits: BTreeMap<RepoPath, Option<TreeFile>> =
        changes.iter().map(|change| (change.path.clone(), change.after)).collect();
    Ok(before.with(&edits).map_err(PatchRefusal::Tree))
}
