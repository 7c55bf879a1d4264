use std::collections::BTreeSet;

use ambit_ids::RepoPath;
use toml::{Table, Value};

use super::dependency::{Dependency, stays_inside};
use super::ecosystem::Ecosystem;

const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
/// Older spellings that Cargo still reads.
const OLD_SECTIONS: [&str; 2] = ["dev_dependencies", "build_dependencies"];

/// The dependencies of a `Cargo.toml`: of the package, of each target, of the workspace, and what is patched.
pub(super) fn cargo_toml(path: &RepoPath, document: &Table) -> BTreeSet<Dependency> {
    let mut found = BTreeSet::new();
    sections(path, document, &mut found);
    if let Some(workspace) = document.get("workspace").and_then(Value::as_table) {
        sections(path, workspace, &mut found);
    }
    let targets = document.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flatten().filter_map(|(_, target)| target.as_table()) {
        sections(path, target, &mut found);
    }
    let registries = document.get("patch").and_then(Value::as_table);
    for patched in registries.into_iter().flatten().filter_map(|(_, patched)| patched.as_table()) {
        found.extend(patched.iter().filter_map(|(name, value)| dependency(path, name, value)));
    }
    if let Some(replaced) = document.get("replace").and_then(Value::as_table) {
        found.extend(replaced.iter().filter_map(|(name, value)| dependency(path, name, value)));
    }
    found
}

fn sections(path: &RepoPath, table: &Table, found: &mut BTreeSet<Dependency>) {
    for section in SECTIONS.iter().chain(&OLD_SECTIONS) {
        let entries = table.get(*section).and_then(Value::as_table);
        found.extend(entries.into_iter().flatten().filter_map(|(name, value)| dependency(path, name, value)));
    }
}

/// `None` for a path within the project, which is no dependency.
fn dependency(path: &RepoPath, key: &str, value: &Value) -> Option<Dependency> {
    let Some(table) = value.as_table() else { return Some(Dependency::registered(normal(key))) };
    let text = |field: &str| table.get(field).and_then(Value::as_str);
    let name = normal(text("package").unwrap_or(key));
    if let Some(git) = text("git") {
        return Some(Dependency::sourced(name, git));
    }
    if let Some(registry) = text("registry").or_else(|| text("registry-index")) {
        return Some(Dependency::sourced(name, registry));
    }
    match text("path") {
        Some(relative) if stays_inside(path, relative) => None,
        Some(relative) => Some(Dependency::sourced(name, relative)),
        None => Some(Dependency::registered(name)),
    }
}

fn normal(name: &str) -> String {
    Ecosystem::Cargo.normal(name)
}
