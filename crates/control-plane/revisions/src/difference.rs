use std::collections::BTreeMap;

use ambit_ids::{Digest, RepoPath, Scope};
use ambit_revision::{Contents, Diff, FileKind, FilePatch, Tree, TreeFile, diff};

use crate::side_by_side::side_by_side;
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
        let changes = before.diff(after);
        let sides = changes.iter().flat_map(|change| {
            [change.before, change.after].into_iter().flatten().map(|file| (&change.path, file))
        });
        let contents = self.contents(scope, sides).await?;
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
        let paths = patch.files().iter().flat_map(FilePatch::paths);
        let held = paths.filter_map(|path| Some((path, *tree.get(path)?)));
        self.contents(scope, held.filter(|(_, file)| file.kind != FileKind::Link)).await
    }

    async fn contents(
        &self,
        scope: &Scope,
        files: impl Iterator<Item = (&RepoPath, TreeFile)>,
    ) -> Result<Contents, RevisionError> {
        // What stands at several paths is read once.
        let files: BTreeMap<Digest, (&RepoPath, TreeFile)> =
            files.map(|(path, file)| (file.content, (path, file))).collect();
        let read = side_by_side(files.into_values(), |(path, file)| async move {
            self.content(scope, path, &file).await.map(|bytes| bytes.to_vec())
        });
        let mut contents = Contents::new();
        contents.extend(read.await?);
        Ok(contents)
    }
}
