use std::collections::BTreeMap;

use ambit_ids::{ByteCount, Digest, RepoPath, Scope, limits};
use ambit_revision::{Contents, Diff, FileKind, FilePatch, Tree, TreeFile, diff};

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

    /// The contents of the files at the paths of a patch. What was read or kept before, and is still held, is not read again.
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
        let mut files: BTreeMap<Digest, &RepoPath> = files.map(|(path, file)| (file.content, path)).collect();
        let mut contents = Contents::new();
        let wanted: Vec<Digest> = files.keys().copied().collect();
        for content in self.held.get(scope, &wanted) {
            files.remove(&content.digest());
            contents.extend([content]);
        }
        if files.is_empty() {
            return Ok(contents);
        }
        let wanted: Vec<Digest> = files.keys().copied().collect();
        let read = self.blobs.get_many(scope, &wanted, ByteCount::new(limits::FILE_BYTES)).await;
        for (path, content) in files.into_values().zip(read) {
            let of_file = |source| RevisionError::Content { path: path.clone(), source };
            contents.extend([content.map_err(of_file)?]);
        }
        self.held.put(scope, contents.each());
        Ok(contents)
    }
}
