//! Rules that other tools hold.

use super::finding::{Answer, Finding};
use crate::cargo::{self, TESTED};
use crate::failure::Failure;
use crate::workspace::Workspace;

/// The lines of a tool's answer that are kept: its first complaints say enough.
const LINES_SHOWN: usize = 200;

pub(super) fn lock(workspace: &Workspace) -> Result<Answer, Failure> {
    run(workspace, "Cargo.lock", &["metadata", "--locked", "--format-version", "1"])
}

pub(super) fn format(workspace: &Workspace) -> Result<Answer, Failure> {
    run(workspace, "rustfmt", &["fmt", "--all", "--check"])
}

pub(super) fn clippy(workspace: &Workspace) -> Result<Answer, Failure> {
    let words = [
        "clippy",
        "--profile",
        TESTED,
        "--workspace",
        "--all-targets",
        "--locked",
        "--quiet",
        "--keep-going",
        "--",
        "-D",
        "warnings",
    ];
    run(workspace, "clippy", &words)
}

pub(super) fn deny(workspace: &Workspace) -> Result<Answer, Failure> {
    if !workspace.texts.contains_key("deny.toml") {
        return Ok(Answer::Found(vec![Finding::new("deny.toml", "the file is missing")]));
    }
    if !cargo::answers("cargo-deny", &["--version"]) {
        return Ok(Answer::Skipped("cargo-deny is not installed".to_owned()));
    }
    run(workspace, "deny.toml", &["deny", "--offline", "check", "bans", "licenses", "sources"])
}

fn run(workspace: &Workspace, place: &str, words: &[&str]) -> Result<Answer, Failure> {
    let output = cargo::output(cargo::cargo(&workspace.root).args(words))?;
    if output.status.success() {
        return Ok(Answer::Found(Vec::new()));
    }
    let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stdout));
    let shown: Vec<&str> = said.lines().take(LINES_SHOWN).collect();
    Ok(Answer::Found(vec![Finding::new(place, format!("cargo {}\n{}", words.join(" "), shown.join("\n")))]))
}
