//! Packages that come exactly as a file of the project pins them, into a folder of their own below cargo's target: they
//! change nothing of the machine, and what is there already is kept as long as the file stays the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// A copy of the file that pins them, written last.
const STAMP: &str = ".installed";

#[derive(Debug)]
pub(super) struct Locked {
    /// The folder's name.
    pub(super) language: Language,
    /// The file that pins every package, relative to the root.
    pub(super) lock: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Language {
    Python,
    Node,
}

impl Locked {
    pub(super) fn is_there(&self, workspace: &Workspace) -> bool {
        let installed = fs::read_to_string(self.folder(workspace).join(STAMP)).ok();
        installed.is_some() && installed.as_ref() == workspace.texts.get(self.lock)
    }

    /// Installs beside the old folder and takes its place only when all is there.
    pub(super) fn install(&self, workspace: &Workspace) -> Result<(), Failure> {
        let folder = self.folder(workspace);
        let fresh = folder.with_extension("new");
        remove(&fresh)?;
        fs::create_dir_all(&fresh).map_err(Failure::at("create", &fresh))?;
        let lock = workspace.root.join(self.lock);
        match self.language {
            Language::Python => {
                let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
                let exactly = ["--no-deps", "--only-binary", ":all:", "--no-compile", "--target"];
                let mut python = Command::new("python3");
                python.args(pip).args(exactly).arg(&fresh).arg("--requirement").arg(&lock);
                cargo::text(&mut python)?;
            }
            Language::Node => {
                for name in ["package.json", "package-lock.json"] {
                    let from = lock.with_file_name(name);
                    fs::copy(&from, fresh.join(name)).map_err(Failure::at("copy", &from))?;
                }
                let words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
                cargo::text(Command::new("npm").args(words).current_dir(&fresh))?;
            }
        }
        fs::copy(&lock, fresh.join(STAMP)).map_err(Failure::at("copy", &lock))?;
        remove(&folder)?;
        fs::rename(&fresh, &folder).map_err(Failure::at("rename", &fresh))
    }

    fn folder(&self, workspace: &Workspace) -> PathBuf {
        let name = match self.language {
            Language::Python => "python",
            Language::Node => "node",
        };
        workspace.target.join("model-sdks").join(name)
    }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::caused(format!("could not remove {}", folder.display()), cause))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python() -> Locked {
        Locked { language: Language::Python, lock: "crates/testing/model-server/tests/sdks/requirements.txt" }
    }

    #[test]
    fn only_what_the_file_of_today_names_counts_as_installed() {
        let mut workspace = Workspace::open().unwrap();
        let target = std::env::temp_dir().join(format!("ambit-locked-{}", std::process::id()));
        workspace.target = target.clone();
        let locked = python();
        assert!(!locked.is_there(&workspace));
        let folder = locked.folder(&workspace);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(STAMP), "anthropic==0.0.1\n").unwrap();
        assert!(!locked.is_there(&workspace));
        fs::copy(workspace.root.join(locked.lock), folder.join(STAMP)).unwrap();
        assert!(locked.is_there(&workspace));
        fs::remove_dir_all(&target).unwrap();
    }
}
