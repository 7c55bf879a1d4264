use ambit_ids::{Digest, RepoPath};
use ambit_revision::{Change, Contents, TreeFile};

use super::Aim;
use super::decide::{Asked, decide};
use super::given::Given;
use super::verdict::Ruling;
use crate::cli::GroundArgs;
use crate::failure::Failure;

/// A patch that fits a directory, with both sides of every file that it changes.
pub(in crate::verbs) struct Judgeable {
    /// The digest of the patch as it was given.
    pub(in crate::verbs) digest: Option<Digest>,
    changes: Vec<Change>,
    contents: Contents,
}

/// A patch of which nothing can be said, and why.
pub(in crate::verbs) struct Unjudged {
    pub(in crate::verbs) code: &'static str,
    pub(in crate::verbs) message: String,
    /// The digest of the patch as it was given, where it was read to its end.
    pub(in crate::verbs) patch: Option<Digest>,
}

/// Both sides of what a patch does to a directory. One that stands there already is not judged: what stood before is gone.
pub(in crate::verbs) fn judgeable(ground: &GroundArgs) -> Result<Result<Judgeable, Unjudged>, Failure> {
    let given = Given::read(&ground.patch, Aim::Judge)?;
    let decided = decide(&Asked { ground, aim: Aim::Judge, wants_tree: false }, &given)?;
    let verdict = decided.verdict;
    let (code, message) = match (verdict.ruling, decided.outcome) {
        (Ruling::Fits(effect), Some(outcome)) => {
            let judgeable =
                Judgeable { digest: verdict.patch, changes: effect.changes, contents: outcome.contents };
            match judgeable.unread() {
                None => return Ok(Ok(judgeable)),
                Some(path) => ("PATCH_UNJUDGED", format!("{path} was not read on both sides")),
            }
        }
        (ruling, _) => (ruling.code().unwrap_or("PATCH_UNJUDGED"), ruling.message()),
    };
    Ok(Err(Unjudged { code, message, patch: verdict.patch }))
}

impl Judgeable {
    /// Every file that is different, with its bytes before and after.
    pub(in crate::verbs) fn sides(&self) -> impl Iterator<Item = (&RepoPath, [Option<&[u8]>; 2])> {
        self.changes
            .iter()
            .map(|change| (&change.path, [self.bytes(change.before), self.bytes(change.after)]))
    }

    fn bytes(&self, file: Option<TreeFile>) -> Option<&[u8]> {
        self.contents.get(&file?.content)
    }

    /// A file that is there and whose bytes are not: it must not count as one that is absent.
    fn unread(&self) -> Option<&RepoPath> {
        let is_unread = |file: Option<TreeFile>| file.is_some() && self.bytes(file).is_none();
        let unread = self.changes.iter().find(|change| is_unread(change.before) || is_unread(change.after));
        unread.map(|change| &change.path)
    }
}
