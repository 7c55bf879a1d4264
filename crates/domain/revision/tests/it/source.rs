//! Trees and their contents as tests write them.

use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use ambit_revision::{
    Applied, Contents, FileKind, PatchError, PatchRefusal, Tree, TreeFile, apply, diff, parse,
};

/// A tree with the contents of its files.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) tree: Tree,
    pub(crate) contents: Contents,
}

/// Why a patch has no effect, at whichever stage.
#[derive(Debug)]
pub(crate) enum Refused {
    Parse(PatchError),
    Apply(PatchRefusal),
}

impl Refused {
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Parse(error) => error.code(),
            Self::Apply(refusal) => refusal.code(),
        }
    }
}

impl Source {
    pub(crate) fn new(files: impl IntoIterator<Item = (RepoPath, FileKind, Vec<u8>)>) -> Self {
        let mut contents = Contents::new();
        let files: Vec<(RepoPath, TreeFile)> = files
            .into_iter()
            .map(|(path, kind, bytes)| {
                let file = TreeFile::of(kind, &bytes);
                contents.insert(bytes);
                (path, file)
            })
            .collect();
        Self { tree: Tree::from_files(files).unwrap(), contents }
    }

    /// Plain files with text.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self::new(
            files
                .iter()
                .map(|(path, text)| (path.parse().unwrap(), FileKind::File, text.as_bytes().to_vec())),
        )
    }

    /// Applies a patch. Whatever it is, what it tells of its effect is what comparing the two trees tells.
    pub(crate) fn apply(&self, patch: &[u8]) -> Result<Applied, Refused> {
        let patch = parse(patch).map_err(Refused::Parse)?;
        let applied =
            apply(&self.tree, &self.tree.digest(), &patch, &self.contents).map_err(Refused::Apply)?;
        assert_eq!(applied.changes, self.tree.diff(&applied.tree));
        let read = |digest: &_| applied.blobs.get(digest).or_else(|| self.contents.get(digest));
        assert_eq!(applied.canonical, diff(&self.tree, &applied.tree, &read).unwrap());
        Ok(applied)
    }

    /// The code under which a patch is refused, or `applied`.
    pub(crate) fn code(&self, patch: &str) -> &'static str {
        self.apply(patch.as_bytes()).map_or_else(|refused| refused.code(), |_| "applied")
    }

    /// The source after a patch was applied to this one.
    pub(crate) fn after(&self, applied: &Applied) -> Self {
        let mut contents = self.contents.clone();
        contents.include(&applied.blobs);
        Self { tree: applied.tree.clone(), contents }
    }

    /// Every file with its kind and content, by its path as text.
    pub(crate) fn listing(&self) -> BTreeMap<String, (FileKind, Vec<u8>)> {
        self.tree
            .files()
            .map(|(path, file)| {
                (path.to_string(), (file.kind, self.contents.get(&file.content).unwrap().to_vec()))
            })
            .collect()
    }

    pub(crate) fn text(&self, path: &str) -> String {
        let file = self.tree.get(&path.parse().unwrap()).unwrap();
        String::from_utf8(self.contents.get(&file.content).unwrap().to_vec()).unwrap()
    }
}

/// A tree whose one file is `a.txt`.
pub(crate) fn one(text: &str) -> Source {
    Source::of(&[("a.txt", text)])
}

/// The text of a patch of `a.txt` with this body below its names.
pub(crate) fn patch_a(body: &str) -> String {
    format!("--- a/a.txt\n+++ b/a.txt\n{body}")
}
