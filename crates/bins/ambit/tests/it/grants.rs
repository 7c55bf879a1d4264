//! What a completed and accepted revision does not bring with it.

use std::collections::BTreeSet;

use crate::rig::{PLAN, Project, diligent, transcript};

// proves E-G05 E-A17
// break crates/domain/policy/src/authority.rs: `"no such break"` -> `""`
#[test]
fn accepting_a_revision_grants_nothing_beyond_the_source() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let kinds = || -> Vec<String> {
        let listed = project.ambit(["trace", "list", "--json"]).well().json();
        let records = listed["records"].as_array().unwrap().iter();
        records.map(|it| it["record"]["body"]["kind"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let before = kinds();
    project.ambit(["revision", "eligible", "rev-1"]).well();
    assert_eq!(kinds(), before, "asking leaves no record");
    let known: BTreeSet<&str> = before.iter().map(String::as_str).collect();
    assert_eq!(known, BTreeSet::new(), "no record of a grant");

    // Whoever goes on from the accepted revision has no more power than before it.
    let asks: String = ["deploy", "publish", "production.configure", "secret.rotate", "merge.protected"]
        .iter()
        .map(|power| {
            format!("    - say: {{ tool: request_scoped_approval, input: {{ proposalId: prop_0123456789abcdef, capability: {power}, reason: It was accepted }} }}\n")
        })
        .collect();
    project.write("second.yaml", &transcript(&format!("{PLAN}{asks}"), "finish"));
    project.ambit(project.start_on("rev-1", "second", "second.yaml".to_owned()));
    let seen = project.show("second");
    let calls = seen["calls"].as_array().unwrap();
    assert!(!calls.is_empty(), "{seen}");
    assert!(calls.iter().all(|call| call["outcome"] != "allowed" && call["outcome"] != "held"), "{seen}");
    assert_eq!(seen["approvals"].to_string(), "[]");
    let backend = project.ambit(["backend", "inspect", "--json"]).well().json();
    assert_eq!((&backend["preview"], &backend["egress"]), (&"disabled".into(), &"deny-all".into()));
}
