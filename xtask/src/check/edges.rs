//! Holds the lists of [`super::edge_list`] against the manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::edge_list::{CONFINED, DEV_EDGES, DEV_MAY_REACH, DOMAIN_EXTERNAL, EDGES, Edges, RINGS, Ring};
use crate::metadata::{Kind, Package};

const LIST: &str = "xtask/src/check/edge_list.rs";

pub(super) fn findings(packages: &[Package]) -> Vec<Finding> {
    let mut found = Vec::new();
    for package in packages {
        found.extend(unlisted(package));
        found.extend(outside_ring(package, packages));
        found.extend(external(package));
    }
    found.extend(stale("EDGES", EDGES, packages, our_edges));
    found.extend(stale("DEV_EDGES", DEV_EDGES, packages, our_dev_edges));
    found.extend(stale("DOMAIN_EXTERNAL", DOMAIN_EXTERNAL, packages, external_edges));
    found
}

/// Edges that the lists do not have.
fn unlisted(package: &Package) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(allowed) = allowed(EDGES, &package.name) else {
        return vec![Finding::new(
            manifest(package),
            format!("{} is a new crate; give it its line in EDGES of {LIST}", package.name),
        )];
    };
    let dev_allowed = self::allowed(DEV_EDGES, &package.name).unwrap_or_default();
    for (list, edges, allowed) in
        [("EDGES", our_edges(package), allowed), ("DEV_EDGES", our_dev_edges(package), dev_allowed)]
    {
        for to in edges.iter().filter(|to| !allowed.contains(to)) {
            found.push(Finding::new(
                manifest(package),
                format!("the edge {} -> {to} is not in {list} of {LIST}", package.name),
            ));
        }
    }
    found
}

/// Edges that no line of the lists could allow.
fn outside_ring(package: &Package, packages: &[Package]) -> Vec<Finding> {
    let folders: BTreeMap<&str, &str> =
        packages.iter().map(|package| (package.name.as_str(), package.folder.as_str())).collect();
    let Some(ring) = ring_of(&package.folder) else {
        return vec![Finding::new(manifest(package), "the crate lies in no ring of the workspace")];
    };
    let mut found = Vec::new();
    for dependency in package.dependencies.iter().filter(|dependency| dependency.ours) {
        let to = folders.get(dependency.name.as_str()).copied().unwrap_or_default();
        let reaches = |folders: &[&str]| folders.iter().any(|folder| lies_in(to, folder));
        let allowed = reaches(ring.may_reach)
            || (dependency.kind == Kind::Dev && ring.folder != "xtask" && reaches(DEV_MAY_REACH));
        if !allowed {
            found.push(Finding::new(
                manifest(package),
                format!("the edge {} -> {} breaks the rule: {}", package.name, dependency.name, ring.rule),
            ));
        }
    }
    found
}

/// Outside crates that this crate may not name.
fn external(package: &Package) -> Vec<Finding> {
    let mut found = Vec::new();
    let names = external_edges(package);
    if lies_in(&package.folder, "crates/domain") {
        let allowed = allowed(DOMAIN_EXTERNAL, &package.name).unwrap_or_default();
        for name in names.iter().filter(|name| !allowed.contains(name)) {
            found.push(Finding::new(
                manifest(package),
                format!("{name} is not in DOMAIN_EXTERNAL of {LIST} for {}", package.name),
            ));
        }
    }
    let confined =
        CONFINED.iter().filter(|it| names.contains(it.dependency) && !it.to.contains(&package.name.as_str()));
    for confinement in confined {
        found.push(Finding::new(
            manifest(package),
            format!(
                "{} is confined to {}: {}",
                confinement.dependency,
                confinement.to.join(", "),
                confinement.why
            ),
        ));
    }
    found
}

/// Lines of a list that no manifest has any more.
fn stale(
    list_name: &str,
    list: &[Edges],
    packages: &[Package],
    actual: fn(&Package) -> BTreeSet<&str>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (from, targets) in list {
        let Some(package) = packages.iter().find(|package| package.name == *from) else {
            found
                .push(Finding::new(LIST, format!("{list_name} has a line for {from}, which does not exist")));
            continue;
        };
        let edges = actual(package);
        for to in targets.iter().filter(|to| !edges.contains(*to)) {
            found.push(Finding::new(
                LIST,
                format!("{list_name} allows {from} -> {to}, which no longer exists"),
            ));
        }
    }
    found
}

fn our_edges(package: &Package) -> BTreeSet<&str> {
    names(package, |kind, ours| ours && kind != Kind::Dev)
}

fn our_dev_edges(package: &Package) -> BTreeSet<&str> {
    let normal = our_edges(package);
    names(package, |kind, ours| ours && kind == Kind::Dev).difference(&normal).copied().collect()
}

fn external_edges(package: &Package) -> BTreeSet<&str> {
    names(package, |kind, ours| !ours && kind != Kind::Dev)
}

fn names(package: &Package, wanted: impl Fn(Kind, bool) -> bool) -> BTreeSet<&str> {
    let wanted = package.dependencies.iter().filter(|it| wanted(it.kind, it.ours));
    wanted.map(|dependency| dependency.name.as_str()).collect()
}

fn allowed(list: &[Edges], name: &str) -> Option<&'static [&'static str]> {
    list.iter().find(|(from, _)| *from == name).map(|(_, to)| *to)
}

fn ring_of(folder: &str) -> Option<&'static Ring> {
    RINGS.iter().find(|ring| lies_in(folder, ring.folder))
}

fn lies_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn manifest(package: &Package) -> String {
    format!("{}/Cargo.toml", package.folder)
}
