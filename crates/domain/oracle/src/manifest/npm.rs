use std::collections::BTreeSet;

use ambit_ids::RepoPath;
use serde_json::{Map, Value};

use super::dependency::{Dependency, stays_inside};
use crate::change::Unreadable;

const SECTIONS: [&str; 6] = [
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "overrides",
    "resolutions",
];

/// The dependencies of a `package.json`, what it overrides among them.
pub(super) fn package_json(path: &RepoPath, text: &str) -> Result<BTreeSet<Dependency>, Unreadable> {
    let document: Map<String, Value> = serde_json::from_str(text).map_err(|_| Unreadable::Syntax)?;
    let sections = SECTIONS.iter().filter_map(|section| document.get(*section)?.as_object());
    Ok(sections.flatten().filter_map(|(name, value)| dependency(path, name, value)).collect())
}

/// `None` for a path within the project and for a package of the same workspace, which are no dependencies.
fn dependency(path: &RepoPath, name: &str, value: &Value) -> Option<Dependency> {
    let version = value.as_str().unwrap_or_default();
    if version.starts_with("workspace:") {
        return None;
    }
    let local = ["file:", "link:", "portal:"].iter().find_map(|scheme| version.strip_prefix(scheme));
    match local {
        Some(relative) if stays_inside(path, relative) => None,
        // A version of the registry holds neither: what does is a URL, a repository or an alias.
        _ if version.contains([':', '/']) => Some(Dependency::sourced(name, version)),
        _ => Some(Dependency::registered(name)),
    }
}
