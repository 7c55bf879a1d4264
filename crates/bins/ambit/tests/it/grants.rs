//! What a completed and accepted revision does not bring with it.

use std::collections::BTreeSet;

use crate::rig::{DEPENDENCY, PLAN, Project, diligent, patch, transcript};

// proves E-G05 E-A17
// break crates/mechanisms/probes/src/manifest.rs: `preview: Preview::Disabled,` -> `preview: Preview::Authenticated,`
#[test]
fn accepting_a_revision_grants_nothing_beyond_the_source() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let kinds = || -> Vec<String> {
        let listed = project.ambit(["trace", "list", "--json"]).well().json();
        let records = listed["records"].as_array().unwrap().iter();
        records.map(|it| it["record"]["kind"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let before = kinds();
    project.ambit(["revision", "eligible", "rev-1"]).well();
    assert_eq!(kinds(), before, "asking leaves no record");
    let known: BTreeSet<&str> = before.iter().map(String::as_str).collect();
    let expected = [
        "approver.registered",
        "blueprint.approved",
        "document.registered",
        "revision.imported",
        "run.closed",
    ];
    assert_eq!(known, BTreeSet::from(expected), "no record of a grant");

    // Whoever goes on from the accepted revision has no more power than the run that made it.
    let ask = |capability: &str| {
        format!(
            "    - say: {{ tool: request_scoped_approval, input: {{ proposalId: \"${{proposal}}\", capability: {capability}, \
             reason: It was accepted }} }}\n"
        )
    };
    let turns = [PLAN.to_owned(), patch(DEPENDENCY, ""), ask("deploy")].concat();
    project.write("second.yaml", &transcript(&turns, "finish"));
    project.ambit(project.start_on("rev-1", "second", "second.yaml".to_owned()));
    let seen = project.show("second");
    let calls = seen["calls"].as_array().unwrap();
    let outcomes: Vec<&str> = calls.iter().map(|call| call["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes[0], "held", "{seen}");
    assert!(outcomes.len() == 2 && !["allowed", "held"].contains(&outcomes[1]), "{seen}");
    assert_eq!((&seen["approvals"].to_string()[..], &seen["changedFiles"].to_string()[..]), ("[]", "[]"));
    let backend = project.ambit(["backend", "inspect", "--json"]).well().json();
    assert_eq!((&backend["preview"], &backend["egress"]), (&"disabled".into(), &"deny-all".into()));
}
