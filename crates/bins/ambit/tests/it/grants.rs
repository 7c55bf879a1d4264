//! What a completed and accepted revision does not bring with it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::rig::{DEPENDENCY, FIX, GATE, PLAN, Project, diligent, patch, transcript};
use crate::stable::stable;

/// The grants of a plane, each as its kind and its holder.
fn of_plane(project: &Project, plane: &str) -> BTreeSet<String> {
    let listed = project.ambit(["grants", "--json"]).well().json();
    let text = |grant: &Value, member: &str| {
        assert_eq!(grant["plane"], plane, "{grant}");
        grant[member].as_str().unwrap().to_owned()
    };
    let grants = listed["planes"][plane].as_array().unwrap().iter();
    grants.map(|grant| format!("{} of {}", text(grant, "kind"), text(grant, "holder"))).collect()
}

// proves E-N01 E-N02 E-N03
// break crates/control-plane/orchestrator/src/view/grants.rs: `if let Some(held) = sandbox {` -> `if let Some(held) = sandbox.filter(|_| false) {`
// break crates/domain/evidence/src/project.rs: `self.approved.remove(&(blueprint.clone(), *digest));` -> `self.approved.clear(); self.revoked.extend(self.approvers.keys().cloned());`
#[test]
fn every_grant_names_its_plane_and_one_that_is_revoked_takes_no_other_along() {
    let project = Project::new();
    let blueprint = |project: &Project| {
        let shown = project.ambit(["blueprint", "show", "greeter", "--json"]).well().json();
        shown["digest"].as_str().unwrap().to_owned()
    };
    let scope = format!("blueprint.start of acme/{}", project.name);
    let own = ["--credential-file", "approver.key"];
    project.ambit([&["approver", "add", "--name", "bob", "--out", "bob.key"], &own[..]].concat()).well();
    let all =
        BTreeSet::from(["approver.decide of ada".into(), "approver.decide of bob".into(), scope.clone()]);
    assert_eq!(of_plane(&project, "control-plane"), all);
    for (plane, why) in [
        ("generated-application", "membership of the project opens no application"),
        ("connector-source", "nor a connector"),
        ("hosted-runtime", "and nobody holds a sandbox"),
    ] {
        assert_eq!(of_plane(&project, plane), BTreeSet::new(), "{why}");
    }
    // A run that works holds its sandbox, and by that nothing in another plane.
    project.write("app/check.sh", "sleep 600\n");
    let agent = transcript(&format!("{PLAN}{}{GATE}", patch(FIX, "")), "finish");
    let mut driving = project.spawn(project.start_words("works", &agent));
    let seen = project.until("works", |run| run["phase"] == "checking");
    let holder = format!("sandbox.execute of {}", seen["run"].as_str().unwrap());
    assert_eq!(of_plane(&project, "hosted-runtime"), BTreeSet::from([holder]));
    for plane in ["generated-application", "connector-source"] {
        assert_eq!(of_plane(&project, plane), BTreeSet::new());
    }
    assert_eq!(of_plane(&project, "control-plane"), all);
    // Each is revoked by itself, and the others stand.
    let digest = blueprint(&project);
    let words = ["blueprint", "withdraw", "greeter", "--digest", &digest];
    project.ambit([&words[..], &own[..]].concat()).well();
    let approvers = BTreeSet::from(["approver.decide of ada".into(), "approver.decide of bob".into()]);
    assert_eq!(of_plane(&project, "control-plane"), approvers);
    assert_eq!(of_plane(&project, "hosted-runtime").len(), 1, "the run goes on");
    let refused = project.start("late", &diligent("finish"));
    assert!(refused.code == 4 && refused.err.contains("BLUEPRINT_NOT_APPROVED"), "{refused:?}");
    project.ambit([&["approver", "revoke", "bob"], &own[..]].concat()).well();
    assert_eq!(of_plane(&project, "control-plane"), BTreeSet::from(["approver.decide of ada".into()]));
    project.ambit(["run", "cancel", "works"]).well();
    driving.wait().unwrap();
    assert_eq!(of_plane(&project, "hosted-runtime"), BTreeSet::new());
    assert_eq!(of_plane(&project, "control-plane"), BTreeSet::from(["approver.decide of ada".into()]));
    project.ambit(["trace", "verify"]).well();
}

/// A gate that goes on until the run is cancelled, so that what was approved before it is not used.
fn holding() -> String {
    let ask = "    - say: { tool: request_scoped_approval, input: { proposalId: \"${proposal}\", capability: \
               dependency.add, reason: Greeting needs it } }\n";
    transcript(&[PLAN, &patch(DEPENDENCY, ""), ask, GATE].concat(), "finish")
}

// proves E-N02 E-H03
// break crates/control-plane/orchestrator/src/view/approvals.rs: `(false, Some(_)) => "void",` -> `(false, Some(_)) => "approved",`
// break crates/control-plane/orchestrator/src/view/grants.rs: `for receipt in dossier.approvals.live().filter(` -> `for receipt in dossier.approvals.receipts().filter(`
#[test]
fn a_receipt_is_a_grant_that_ends_with_what_it_rests_on_and_takes_no_other_along() {
    let project = Project::new();
    let own = ["--credential-file", "approver.key"];
    project.ambit([&["approver", "add", "--name", "bob", "--out", "bob.key"], &own[..]].concat()).well();
    project.write("app/check.sh", "sleep 600\n");
    let digest = project.ambit(["blueprint", "show", "greeter", "--json"]).well().json()["digest"].clone();
    let withdraw = ["blueprint", "withdraw", "greeter", "--digest", digest.as_str().unwrap()];
    let starts = format!("blueprint.start of acme/{}", project.name);
    // What ends it, why it is void then, and who may still decide. The blueprint goes last: no run starts from it any more.
    let ends: [(&[&str], &str, &[&str]); 3] = [
        (&["run", "cancel", "cancelled"], "run-cancelled", &["ada", "bob"]),
        (&["approver", "revoke", "bob"], "approver-revoked", &["ada"]),
        (&withdraw, "policy-changed", &["ada"]),
    ];
    for ((words, reason, deciding), (name, key)) in ends.into_iter().zip([
        ("cancelled", "bob.key"),
        ("revoked", "bob.key"),
        ("withdrawn", "approver.key"),
    ]) {
        let mut driving = project.spawn(project.start_words(name, &holding()));
        let seen = project.until(name, |run| run["phase"] == "needs-approval");
        let asked = &seen["approvals"][0];
        let (proposal, quoted) = (asked["proposal"].as_str().unwrap(), asked["digest"].as_str().unwrap());
        project.ambit(["approve", proposal, "--digest", quoted, "--credential-file", key]).well();
        let seen = project.until(name, |run| run["phase"] == "checking");
        let run = seen["run"].as_str().unwrap();
        let (receipt, sandbox) = (format!("receipt.use of {run}"), format!("sandbox.execute of {run}"));
        assert!(of_plane(&project, "control-plane").contains(&receipt), "the positive control");
        assert_eq!(of_plane(&project, "hosted-runtime"), BTreeSet::from([sandbox]));
        if name == "cancelled" {
            let page = project.ambit(["grants"]).well().out.replace(&project.name, "greeter");
            insta::assert_snapshot!("grants", stable(&page));
        }

        let credential = if words[0] == "run" { &[][..] } else { &own[..] };
        project.ambit([words, credential].concat()).well();
        let seen = project.until(name, |run| run["approvals"][0]["state"] == "void");
        assert_eq!(seen["approvals"][0]["void"], reason);
        let page = project.ambit(["run", "show", name]).well().out;
        assert!(page.contains(&format!("void dependency.add for {proposal}: {reason}, given by")), "{page}");
        let mut left: BTreeSet<String> =
            deciding.iter().map(|name| format!("approver.decide of {name}")).collect();
        left.extend((reason != "policy-changed").then(|| starts.clone()));
        assert_eq!(of_plane(&project, "control-plane"), left, "{reason}");
        if reason != "run-cancelled" {
            assert_eq!(of_plane(&project, "hosted-runtime").len(), 1, "{reason}: the run goes on");
            project.ambit(["run", "cancel", name]).well();
        }
        driving.wait().unwrap();
        assert_eq!(of_plane(&project, "hosted-runtime"), BTreeSet::new(), "{reason}");
        project.ambit(["trace", "verify", name]).well();
    }
}

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
