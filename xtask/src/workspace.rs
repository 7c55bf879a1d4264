//! What the tasks look at: the packages, and the files that belong to the project.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::failure::Failure;
use crate::metadata::{Metadata, Package};

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it built.
    pub(crate) target: PathBuf,
    /// Where cargo keeps what building needs on the way.
    pub(crate) build: PathBuf,
    pub(crate) packages: Vec<Package>,
    /// The text of every file of the project that is UTF-8, by its path relative to the root.
    pub(crate) texts: BTreeMap<String, String>,
}

impl Workspace {
    /// The workspace around the current directory.
    pub(crate) fn open() -> Result<Self, Failure> {
        let here = std::env::current_dir()
            .map_err(|cause| Failure::caused("there is no current directory", cause))?;
        let manifest = cargo::text(cargo::cargo(&here).args([
            "locate-project",
            "--workspace",
            "--message-format",
            "plain",
        ]))?;
        let root = Path::new(manifest.trim())
            .parent()
            .map(Path::to_path_buf)
            .ok_or_else(|| Failure::new("cargo names a manifest without a folder"))?;
        let metadata = Metadata::parse(&metadata_json(&root)?)?;
        let texts = read_texts(&root)?;
        Ok(Self {
            root,
            target: metadata.target_directory.into(),
            build: metadata.build_directory.into(),
            packages: metadata.packages,
            texts,
        })
    }

    /// The Rust sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Where the outside cases lie.
    pub(crate) fn cases_folder(&self) -> PathBuf {
        std::env::var_os("AMBIT_CASES").map_or_else(|| self.root.join("../shared/cases"), PathBuf::from)
    }

    /// The package in whose folder the file lies.
    pub(crate) fn package_of(&self, path: &str) -> Option<&Package> {
        self.packages
            .iter()
            .filter(|package| path.strip_prefix(&package.folder).is_some_and(|rest| rest.starts_with('/')))
            .max_by_key(|package| package.folder.len())
    }
}

/// What cargo says of the workspace at `root`, its own packages alone.
pub(crate) fn metadata_json(root: &Path) -> Result<String, Failure> {
    cargo::text(cargo::cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]))
}

/// The files of the project: what git tracks, and what it would track if it were added.
pub(crate) fn file_names(root: &Path) -> Result<Vec<String>, Failure> {
    let listed = cargo::text(Command::new("git").current_dir(root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]))?;
    let mut names: Vec<String> =
        listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names.retain(|name| root.join(name).is_file());
    Ok(names)
}

fn read_texts(root: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut texts = BTreeMap::new();
    for name in file_names(root)? {
        let path = root.join(&name);
        let bytes = fs::read(&path).map_err(Failure::at("read", &path))?;
        if let Ok(text) = String::from_utf8(bytes) {
            texts.insert(name, text);
        }
    }
    Ok(texts)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A workspace of these texts and packages, which lies nowhere.
    pub(crate) fn of(texts: &[(&str, &str)], packages: Vec<Package>) -> Workspace {
        let texts = texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Workspace { root: PathBuf::new(), target: PathBuf::new(), build: PathBuf::new(), packages, texts }
    }

    #[test]
    fn the_files_of_this_workspace_are_seen_and_those_that_git_ignores_are_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let names = file_names(root).unwrap();
        assert!(names.contains(&"xtask/src/workspace.rs".to_owned()));
        assert!(!names.iter().any(|name| name.starts_with("target/")));
    }
}
