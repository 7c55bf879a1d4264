//! A copy of the work tree that may be broken.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::proofs::Break;
use crate::cargo;
use crate::failure::Failure;
use crate::workspace::{self, Workspace};

/// The copy. It stays where it is from run to run, so that cargo builds again only what differs, and it shares the
/// workspace's build folder: outside crates are the same there, and crates of the copy have other file names than the
/// workspace's own, because cargo names them by their path as well. What is built of it goes elsewhere: a broken binary
/// must not lie where the sound one is looked for.
pub(super) struct Scratch {
    pub(super) tree: PathBuf,
    /// Where what is built of it goes.
    pub(super) target: PathBuf,
    /// Where what was printed is kept.
    pub(super) logs: PathBuf,
    /// Held for as long as the copy is in use.
    _lock: File,
}

impl Scratch {
    /// Makes the copy equal to the work tree, uncommitted changes included.
    pub(super) fn lay(workspace: &Workspace) -> Result<Self, Failure> {
        let folder = workspace.target.join("breaks");
        let (tree, target, logs) = (folder.join("tree"), folder.join("built"), folder.join("logs"));
        for made in [&tree, &logs] {
            fs::create_dir_all(made).map_err(Failure::at("make", made))?;
        }
        let lock_path = folder.join("lock");
        let lock = File::create(&lock_path).map_err(Failure::at("open", &lock_path))?;
        lock.lock().map_err(Failure::at("lock", &lock_path))?;
        if !tree.join(".git").exists() {
            cargo::text(Command::new("git").args(["init", "--quiet"]).arg(&tree))?;
        }
        copy(&workspace.root, &tree)?;
        Ok(Self { tree, target, logs, _lock: lock })
    }

    /// Makes the change for as long as `during` runs.
    pub(super) fn broken<T>(
        &self,
        workspace: &Workspace,
        planned: &Break,
        during: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let original = workspace.texts.get(&planned.path).map(String::as_str);
        let changed = planned.apply(original).map_err(Failure::new)?;
        let path = self.tree.join(&planned.path);
        fs::write(&path, changed).map_err(Failure::at("write", &path))?;
        let answer = during();
        fs::write(&path, original.unwrap_or_default()).map_err(Failure::at("restore", &path))?;
        answer
    }
}

/// Writes only what differs: cargo goes by the times of files.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let names = workspace::file_names(from)?;
    for name in workspace::file_names(to)?.iter().filter(|name| names.binary_search(name).is_err()) {
        let path = to.join(name);
        fs::remove_file(&path).map_err(Failure::at("remove", &path))?;
    }
    for name in &names {
        let (source, copy) = (from.join(name), to.join(name));
        let bytes = fs::read(&source).map_err(Failure::at("read", &source))?;
        if fs::read(&copy).is_ok_and(|known| known == bytes) {
            continue;
        }
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder).map_err(Failure::at("make", folder))?;
        }
        fs::copy(&source, &copy).map_err(Failure::at("copy", &source))?;
    }
    Ok(())
}
