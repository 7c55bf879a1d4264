//! What arms stand on: a folder to work in, the program that performs ours, and an image that all sandboxes start from.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::repository::repository;
use super::setup;
use crate::cargo;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// The example of the package `ambit` that performs our arms.
const EXAMPLE: &str = "arms";

pub(super) struct Ground {
    /// Every arm runs in it, so that all write to the same file system.
    pub(super) folder: PathBuf,
    root: PathBuf,
    target: PathBuf,
    program: OnceCell<PathBuf>,
    image: OnceCell<PathBuf>,
}

impl Ground {
    pub(super) fn of(workspace: &Workspace) -> Result<Self, Failure> {
        let folder = workspace.target.join("bench");
        fs::create_dir_all(&folder).map_err(Failure::at("make", &folder))?;
        Ok(Self {
            folder,
            root: workspace.root.clone(),
            target: workspace.target.clone(),
            program: OnceCell::new(),
            image: OnceCell::new(),
        })
    }

    /// This program once more, as the child that answers for an arm.
    pub(super) fn own(&self, arm: &str) -> Result<Command, Failure> {
        let program =
            std::env::current_exe().map_err(|cause| Failure::caused("this program has no path", cause))?;
        let mut command = Command::new(program);
        command.args(["bench", "--answer", arm]).current_dir(&self.folder);
        command.env("PATH", setup::search_path(&self.folder));
        Ok(command)
    }

    /// The same for an arm that uses the image.
    pub(super) fn own_in_image(&self, arm: &str) -> Result<Command, Failure> {
        let mut command = self.own(arm)?;
        command.arg("--image").arg(self.image()?);
        Ok(command)
    }

    /// The program that performs our arms, built first.
    pub(super) fn product(&self, words: &[&str]) -> Result<Command, Failure> {
        let program = once(&self.program, || self.built("ambit", EXAMPLE))?;
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.folder);
        Ok(command)
    }

    /// An example of a package that performs arms of that package alone, built first.
    pub(super) fn example(
        &self,
        (package, example): (&str, &str),
        words: &[&str],
    ) -> Result<Command, Failure> {
        let mut command = Command::new(self.built(package, example)?);
        command.args(words).current_dir(&self.folder);
        Ok(command)
    }

    fn built(&self, package: &str, example: &str) -> Result<PathBuf, Failure> {
        let build = ["build", "--release", "--quiet", "--package", package, "--example", example];
        cargo::text(cargo::cargo(&self.root).args(build))?;
        Ok(self.target.join("release/examples").join(example))
    }

    /// An arm on a tree that lies on disk: `kind` is how many files it has.
    pub(super) fn own_on_tree(&self, arm: &str, kind: &str) -> Result<Command, Failure> {
        let tree = self.tree(kind)?;
        let mut command = self.own(arm)?;
        command.arg("--tree").arg(tree);
        Ok(command)
    }

    /// The same for our program as a process, which is built first.
    pub(super) fn process_on_tree(&self, arm: &str, kind: &str) -> Result<Command, Failure> {
        let build = ["build", "--release", "--quiet", "--package", "ambit", "--bin", "ambit"];
        cargo::text(cargo::cargo(&self.root).args(build))?;
        let mut command = self.own_on_tree(arm, kind)?;
        command.arg("--program").arg(self.target.join("release/ambit"));
        Ok(command)
    }

    /// Where a tree lies. It is written where it is not there yet.
    fn tree(&self, kind: &str) -> Result<PathBuf, Failure> {
        Ok(cargo::text(&mut self.product(&["tree", kind])?)?.trim_end().into())
    }

    /// An arm of ours on such a tree.
    pub(super) fn product_on_tree(&self, words: &[&str], kind: &str) -> Result<Command, Failure> {
        self.tree(kind)?;
        self.product(words)
    }

    /// The same where the tree is also a commit of a repository in it, if there is a git to make one.
    pub(super) fn product_on_commit(&self, words: &[&str], kind: &str) -> Result<Command, Failure> {
        let _ = repository(&self.tree(kind)?);
        self.product(words)
    }

    /// The root of the image, captured where it is not there yet.
    fn image(&self) -> Result<&Path, Failure> {
        once(&self.image, || Ok(cargo::text(&mut self.product(&["image"])?)?.trim_end().into()))
            .map(PathBuf::as_path)
    }

    /// Lets the kernel drop every file of the image that it holds in memory.
    pub(super) fn forget_image(&self) -> Result<(), Failure> {
        for file in files(self.image()?)? {
            let mut command = Command::new("dd");
            let mut input = std::ffi::OsString::from("if=");
            input.push(&file);
            command.arg(input).args(["iflag=nocache", "count=0", "status=none"]).stdin(Stdio::null());
            cargo::text(&mut command)?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
        let folder = std::env::temp_dir();
        let (root, target) = (folder.clone(), folder.clone());
        Self { folder, root, target, program: OnceCell::new(), image: OnceCell::new() }
    }
}

fn once(
    cell: &OnceCell<PathBuf>,
    make: impl FnOnce() -> Result<PathBuf, Failure>,
) -> Result<&PathBuf, Failure> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}

/// Every regular file below a directory.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        let entries = fs::read_dir(&directory).map_err(Failure::at("list", &directory))?;
        for entry in entries {
            let entry = entry.map_err(Failure::at("list", &directory))?;
            let kind = entry.file_type().map_err(Failure::at("look at", &entry.path()))?;
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => left.push(entry.path()),
                (_, true) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
