//! What the guard says about patches.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not there")]

mod access;
mod config;
mod config_cargo;
mod config_dependencies;
mod config_hostile;
mod config_node;
mod config_pipelines;
mod config_places;
mod config_python;
mod directives;
mod edits;
mod go;
mod histories;
mod hostile;
mod java;
mod javascript;
mod legible;
mod manifests;
mod markers;
mod moved;
mod own_weakenings;
mod paths;
mod python;
mod rust;
mod tests;
mod weakenings;

use ambit_ids::{PathPattern, PathSet, RepoPath};
use ambit_oracle::{FileChange, Guard};
use ambit_policy::Fact;

fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

fn set(patterns: &[&str]) -> PathSet {
    PathSet(patterns.iter().map(|pattern| PathPattern::new(pattern).unwrap()).collect())
}

/// Everything is in scope, tests lie in `tests/`, and nothing is protected but what always is.
fn guard() -> Guard {
    Guard { tests: set(&["tests/**", "**/*_test.go"]), scope: set(&["**"]), ..Guard::default() }
}

/// The facts about changes of text files.
fn facts(guard: &Guard, changes: &[(&str, Option<&str>, Option<&str>)]) -> Vec<Fact> {
    let paths: Vec<RepoPath> = changes.iter().map(|(name, ..)| path(name)).collect();
    let changes: Vec<FileChange<'_>> = paths
        .iter()
        .zip(changes)
        .map(|(path, (_, before, after))| FileChange {
            path,
            before: before.map(str::as_bytes),
            after: after.map(str::as_bytes),
        })
        .collect();
    ambit_oracle::facts(&changes, guard)
}

/// The facts about one changed file, as text.
fn told(name: &str, before: &str, after: &str) -> Vec<String> {
    facts(&guard(), &[(name, Some(before), Some(after))]).iter().map(ToString::to_string).collect()
}
