//! Holds the lists of [`super::edge_list`] against the manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::edge_list::{DEV_EDGES, DEV_MAY_REACH, EDGES, Edges, FOR_EVERY_TEST, RINGS, Ring};
use super::finding::Finding;
use super::outside_list::{CONFINED, DOMAIN_EXTERNAL};
use crate::metadata::{Kind, Package};

const LIST: &str = "xtask/src/check/edge_list.rs";
const OUTSIDE: &str = "xtask/src/check/outside_list.rs";

pub(super) fn findings(packages: &[Package]) -> Vec<Finding> {
    let mut found = Vec::new();
    for package in packages {
        found.extend(unlisted(package, packages));
        found.extend(outside_ring(package, packages));
        found.extend(external(package));
    }
    found.extend(stale("EDGES", EDGES, packages, our_edges));
    found.extend(stale("DEV_EDGES", DEV_EDGES, packages, our_dev_edges));
    found.extend(stale("DOMAIN_EXTERNAL", DOMAIN_EXTERNAL, packages, external_edges));
    found
}

/// Edges that the lists do not have.
fn unlisted(package: &Package, packages: &[Package]) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(allowed) = allowed(EDGES, &package.name) else {
        return vec![Finding::new(
            manifest(package),
            format!("{} is a new crate; give it its line in EDGES of {LIST}", package.name),
        )];
    };
    let dev_allowed = self::allowed(DEV_EDGES, &package.name).unwrap_or_default();
    let for_tests =
        |name: &&str| packages.iter().any(|it| it.name == **name && lies_in(&it.folder, FOR_EVERY_TEST));
    let mut dev_edges = our_dev_edges(package);
    dev_edges.retain(|name| !for_tests(name));
    for (list, edges, allowed) in
        [("EDGES", our_edges(package), allowed), ("DEV_EDGES", dev_edges, dev_allowed)]
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

/// Edges that no line of the lists could allow. A crate may always reach one that lies in its own folder.
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
            || lies_in(to, &package.folder)
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
                format!("{name} is not in DOMAIN_EXTERNAL of {OUTSIDE} for {}", package.name),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::metadata::{Dependency, Metadata};
    use crate::workspace::metadata_json;

    fn real() -> Vec<Package> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        Metadata::parse(&metadata_json(root).unwrap()).unwrap().packages
    }

    /// What is found where `from` depends on `to` as well.
    fn with(from: &str, to: &str, kind: Kind, ours: bool) -> Vec<String> {
        let mut packages = real();
        let package = packages.iter_mut().find(|package| package.name == from).unwrap();
        package.dependencies.push(Dependency { name: to.to_owned(), kind, ours });
        findings(&packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_workspace_has_exactly_the_edges_of_the_list() {
        assert_eq!(findings(&real()), []);
    }

    // proves E-E13 E-I02 E-I08 E-O01 E-O03
    // break xtask/src/check/edges.rs: `let allowed = reaches(ring.may_reach)` -> `let allowed = true || reaches(ring.may_reach)`
    #[test]
    fn an_edge_that_crosses_the_rings_is_found_whatever_the_list_says() {
        for (from, to, rule) in [
            ("ambit-agent-scripted", "ambit-broker", "an adapter knows its port and no other adapter"),
            ("ambit-sandbox-linux", "ambit-store-sqlite", "an adapter knows its port and no other adapter"),
            (
                "ambit-orchestrator",
                "ambit-sandbox-linux",
                "the control plane speaks to ports, never to an adapter",
            ),
            ("ambit-run", "ambit-ports", "the domain depends on nothing but itself"),
            ("ambit-conformance", "ambit-blobs", "what tests share knows no adapter"),
            ("xtask", "ambit-ids", "the tasks build without the product"),
        ] {
            for kind in [Kind::Normal, Kind::Build] {
                let found = with(from, to, kind, true);
                let breaks = format!("the edge {from} -> {to} breaks the rule: {rule}");
                assert!(found.iter().any(|it| it.ends_with(&breaks)), "{found:?}");
                assert!(found.iter().any(|it| it.contains("is not in EDGES")), "{found:?}");
            }
        }
    }

    #[test]
    fn an_edge_within_the_rings_must_stand_in_the_list() {
        let found = with("ambit-ids", "ambit-run", Kind::Normal, true);
        assert_eq!(
            found,
            ["crates/domain/ids/Cargo.toml: the edge ambit-ids -> ambit-run is not in EDGES of \
              xtask/src/check/edge_list.rs"]
        );
    }

    #[test]
    fn tests_may_reach_adapters_by_a_list_of_their_own_and_control_planes_never() {
        let found = with("ambit-broker", "ambit-blobs", Kind::Dev, true);
        assert!(matches!(found.as_slice(), [only] if only.contains("is not in DEV_EDGES")), "{found:?}");
        let found = with("ambit-blobs", "ambit-broker", Kind::Dev, true);
        assert!(found.iter().any(|it| it.contains("breaks the rule")), "{found:?}");
        for free in ["ambit-ports", "ambit-conformance"] {
            assert_eq!(with("ambit-broker", free, Kind::Dev, true), Vec::<String>::new());
        }
    }

    #[test]
    fn outside_crates_are_listed_in_the_domain_and_confined_where_they_are_heavy() {
        let found = with("ambit-run", "tokio", Kind::Normal, false);
        assert!(
            matches!(found.as_slice(), [only] if only.contains("tokio is not in DOMAIN_EXTERNAL")),
            "{found:?}"
        );
        let found = with("ambit-broker", "rusqlite", Kind::Normal, false);
        assert!(matches!(found.as_slice(), [only] if only.contains("rusqlite is confined to")), "{found:?}");
        assert_eq!(with("ambit-run", "tempfile", Kind::Dev, false), Vec::<String>::new());
    }

    #[test]
    fn a_line_that_is_no_longer_true_is_found() {
        let mut packages = real();
        let package = packages.iter_mut().find(|package| package.name == "ambit-canonical").unwrap();
        package.dependencies.clear();
        packages.retain(|package| package.name != "xtask");
        let found: Vec<String> = findings(&packages).iter().map(ToString::to_string).collect();
        assert!(
            found
                .iter()
                .any(|it| it.ends_with("EDGES allows ambit-canonical -> ambit-ids, which no longer exists"))
        );
        assert!(found.iter().any(|it| it.ends_with("EDGES has a line for xtask, which does not exist")));
    }

    #[test]
    fn a_new_crate_asks_for_its_line_and_for_a_ring() {
        let mut packages = real();
        packages.push(Package {
            name: "new".to_owned(),
            folder: "elsewhere/new".to_owned(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        });
        let found: Vec<String> = findings(&packages).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("give it its line in EDGES") && found[1].contains("in no ring"));
    }
}
