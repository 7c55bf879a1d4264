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
    /// What brings them, and how.
    pub(super) form: Form,
    /// Where they come, below the target.
    pub(super) folder: &'static str,
    /// The file that pins every package, relative to the root.
    pub(super) lock: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// Python packages, to be imported from the folder.
    Python,
    /// Source archives of Python packages, as they were published.
    PythonArchives,
    /// Releases of Python packages, several of one package too, each in a folder of its own.
    PythonReleases,
    /// Node packages, in `node_modules`.
    Node,
    /// Crates, in a home of cargo of their own.
    Crates,
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
        self.bring(&lock, &fresh)?;
        fs::copy(&lock, fresh.join(STAMP)).map_err(Failure::at("copy", &lock))?;
        remove(&folder)?;
        fs::rename(&fresh, &folder).map_err(Failure::at("rename", &fresh))
    }

    fn bring(&self, lock: &Path, fresh: &Path) -> Result<(), Failure> {
        let copy = |name: &str, to: &str| {
            let from = lock.with_file_name(name);
            fs::copy(&from, fresh.join(to)).map(drop).map_err(Failure::at("copy", &from))
        };
        let pip = |verb: &str, words: &[&str]| {
            let mut python = Command::new("python3");
            python.args(["-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-deps"]);
            python.args(words).arg(fresh).arg("--requirement").arg(lock);
            cargo::text(&mut python).map(drop)
        };
        match self.form {
            Form::Python => pip("install", &["--only-binary", ":all:", "--no-compile", "--target"]),
            // What builds them is no archive.
            Form::PythonArchives => {
                pip("download", &["--no-binary", "inflection,toposort", "--require-hashes", "--dest"])
            }
            Form::PythonReleases => releases(lock, fresh),
            Form::Node => {
                copy("package.json", "package.json")?;
                copy("package-lock.json", "package-lock.json")?;
                let words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
                cargo::text(Command::new("npm").args(words).current_dir(fresh)).map(drop)
            }
            Form::Crates => {
                copy("crates.toml", "Cargo.toml")?;
                copy("crates.lock", "Cargo.lock")?;
                let library = fresh.join("lib.rs");
                fs::write(&library, "").map_err(Failure::at("write", &library))?;
                let home = fresh.join("home");
                fs::create_dir(&home).map_err(Failure::at("create", &home))?;
                // Where the crates come from may be said in the user's own home.
                if let Some(config) = config_of_cargo() {
                    fs::copy(&config, home.join("config.toml")).map_err(Failure::at("copy", &config))?;
                }
                let mut fetch = cargo::cargo(fresh);
                cargo::text(fetch.args(["fetch", "--locked", "--quiet"]).env("CARGO_HOME", home)).map(drop)
            }
        }
    }

    fn folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.target.join(self.folder)
    }
}

/// Installs every line of the lock by itself: pip takes one release of a package at a time.
fn releases(lock: &Path, fresh: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(lock).map_err(Failure::at("read", lock))?;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let release = line.split_whitespace().next().unwrap_or_default().replace("==", "-");
        let wanted = fresh.join(format!("{release}.txt"));
        fs::write(&wanted, line).map_err(Failure::at("write", &wanted))?;
        let mut python = Command::new("python3");
        python.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        python.args(["--only-binary", ":all:", "--no-compile", "--require-hashes"]);
        python.arg("--target").arg(fresh.join(release)).arg("--requirement").arg(&wanted);
        cargo::text(&mut python)?;
    }
    Ok(())
}

fn config_of_cargo() -> Option<PathBuf> {
    let place = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = place("CARGO_HOME").or_else(|| place("HOME").map(|home| home.join(".cargo")))?;
    Some(home.join("config.toml")).filter(|config| config.is_file())
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
        Locked {
            form: Form::Python,
            folder: "model-sdks/python",
            lock: "crates/testing/model-server/tests/sdks/requirements.txt",
        }
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
