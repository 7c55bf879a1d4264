use ambit_ids::Scope;
use ambit_revision::{Contents, Diff, FileKind, FilePatch, Tree, diff};

use crate::{RevisionError, Revisions};

impl Revisions {
    /// The canonical difference from one tree to another.
    ///
    /// # Errors
    /// [`RevisionError`] where a content that differs is gone or altered.
    pub async fn difference(
        &self,
        scope: &Scope,
        before: &Tree,
        after: &Tree,
    ) -> Result<Diff, RevisionError> {
        let mut contents = Contents::new();
        for change in before.diff(after) {
            for file in [change.before, change.after].into_iter().flatten() {
                if contents.get(&file.content).is_none() {
                    contents.insert(self.content(scope, &change.path, &file).await?.to_vec());
                }
            }
        }
        Ok(diff(before, after, &|digest| contents.get(digest))?)
    }

    /// The contents of the files at the paths of a patch.
    ///
    /// # Errors
    /// [`RevisionError`] where one is gone or altered.
    pub async fn contents_for(
        &self,
        scope: &Scope,
        tree: &Tree,
        patch: &ambit_revision::PatchSet,
    ) -> Result<Contents, RevisionError> {
        let mut contents = Contents::new();
        for path in patch.files().iter().flat_map(FilePatch::paths) {
            let Some(held) = tree.get(path) else { continue };
            if held.kind != FileKind::Link {
                contents.insert(self.content(scope, path, held).await?.to_vec());
            }
        }
        Ok(contents)
    }
}
