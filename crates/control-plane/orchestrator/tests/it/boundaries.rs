//! Who owns what, held by who may depend on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// The crates that each crate of this workspace depends on, tests aside.
struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    fn read() -> Self {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let output = Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
                "--manifest-path",
                manifest,
            ])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let packages = metadata["packages"].as_array().unwrap().iter().map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let normal = dependencies.filter(|dependency| dependency["kind"].is_null());
            let names = normal.map(|dependency| dependency["name"].as_str().unwrap().to_owned());
            (package["name"].as_str().unwrap().to_owned(), names.collect())
        });
        Self(packages.collect())
    }

    fn direct(&self, of: &str) -> &BTreeSet<String> {
        &self.0[of]
    }

    /// Everything that a crate depends on, however far.
    fn reach(&self, of: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut open = vec![of.to_owned()];
        while let Some(next) = open.pop() {
            for name in self.0.get(&next).into_iter().flatten() {
                if reached.insert(name.clone()) {
                    open.push(name.clone());
                }
            }
        }
        reached
    }
}

// proves E-A05
// break crates/control-plane/orchestrator/Cargo.toml: `ambit-sandboxes.workspace = true` -> `ambit-sandboxes.workspace = true\nambit-projects.workspace = true`
#[test]
fn orchestrator_has_no_approve_path() {
    let graph = Graph::read();
    let reached = graph.reach("ambit-orchestrator");
    assert!(reached.contains("ambit-evidence"), "the graph was read");
    assert!(!reached.contains("ambit-projects"), "the one service that can approve");
    for signing in ["ambit-signer-file", "ed25519-dalek", "p256", "ecdsa", "ring"] {
        assert!(!graph.direct("ambit-orchestrator").contains(signing), "{signing} makes signatures");
        assert!(
            !graph.direct("ambit-broker").contains(signing)
                && !graph.direct("ambit-journal").contains(signing)
        );
    }
    let approves: Vec<&String> =
        graph.0.keys().filter(|name| graph.direct(name).contains("ambit-projects")).collect();
    assert!(
        approves.iter().all(|name| name.as_str() == "ambit" || name.as_str() == "ambit-simulation"),
        "{approves:?}"
    );
}

// proves E-O01 E-O03 E-E13 E-I02 E-I08
// break crates/control-plane/sandboxes/Cargo.toml: `ambit-run.workspace = true` -> `ambit-run.workspace = true\nambit-journal.workspace = true`
#[test]
fn each_service_owns_one_thing_and_reaches_nothing_of_the_others() {
    let graph = Graph::read();
    let control_plane = [
        "ambit-journal",
        "ambit-revisions",
        "ambit-sandboxes",
        "ambit-broker",
        "ambit-orchestrator",
        "ambit-projects",
    ];
    // Who may stand on whom: what is left out is reached by nobody.
    let allowed: [(&str, &[&str]); 6] = [
        ("ambit-journal", &[]),
        ("ambit-revisions", &[]),
        ("ambit-sandboxes", &[]),
        ("ambit-broker", &["ambit-revisions", "ambit-sandboxes"]),
        ("ambit-orchestrator", &["ambit-journal", "ambit-revisions", "ambit-sandboxes", "ambit-broker"]),
        ("ambit-projects", &["ambit-journal"]),
    ];
    for (of, allowed) in allowed {
        let reached = graph.reach(of);
        let others: Vec<&str> = control_plane.into_iter().filter(|name| reached.contains(*name)).collect();
        assert!(others.iter().all(|name| allowed.contains(name)), "{of} reaches {others:?}");
        let adapters = ["ambit-sandbox-linux", "ambit-store-sqlite", "ambit-blobs", "ambit-policy-rules"];
        assert!(adapters.iter().all(|name| !reached.contains(*name)), "{of} reaches an adapter");
    }
    let backends = ["ambit-sandbox-linux", "ambit-images"];
    for backend in backends {
        let reached = graph.reach(backend);
        assert!(
            control_plane.iter().all(|name| !reached.contains(*name)),
            "{backend} reaches the control plane"
        );
        for owned in ["ambit-store-sqlite", "ambit-policy-rules", "ambit-signer-file", "ambit-evidence"] {
            assert!(!reached.contains(owned), "{backend} reaches {owned}");
        }
    }
}
