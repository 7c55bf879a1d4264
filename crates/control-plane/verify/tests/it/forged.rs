//! Stories in chains and heads that fit, whose documents, decisions, patches or ends do not fit together.

use ambit_ids::RunId;
use ambit_verify_trace::{CheckId, Verdict};
use serde_json::{Value, json};

use crate::attack::{Target, chained, kind};
use crate::forger::{Forger, digest, nth, nth_call};
use crate::honest::told;

// The positive control of everything below: a run that is written anew without a change is proved.
#[tokio::test]
async fn a_story_that_is_written_anew_and_fits_is_proved() {
    let forger = Forger::new();
    let run = forger.runs.completed.clone();
    forger.rewrite(&run, |_, _| {}).await;
    let report = forger.judge(&run).await;
    assert_eq!(report.verdict, Verdict::Proved, "{}", told(&report));
}

// proves E-A15
// break crates/control-plane/verify/src/documents.rs: `Ok(derived) if derived == *recorded => {}` -> `Ok(_) if true => {}`
#[tokio::test]
async fn pins_that_do_not_follow_from_the_documents_are_refuted() {
    let forger = Forger::new();
    let pin = async |name: &str, value: Value| {
        let what = format!("another {name}");
        forger
            .expect(&what, CheckId::Pins, "run.admitted", |records| {
                records[0]["body"]["pins"][name] = value;
            })
            .await;
    };
    let admitted = forger.attacker.values(&Target::run(&forger.runs.completed));
    let pins = &admitted[0]["body"]["pins"];
    for (limit, value) in pins["limits"].as_object().unwrap() {
        let mut limits = pins["limits"].clone();
        limits[limit] = (value.as_u64().unwrap() + 1).into();
        pin("limits", limits).await;
    }
    let mut gates = pins["gates"].clone();
    gates.as_array_mut().unwrap().pop();
    pin("gates", gates).await;
    let mut gates = pins["gates"].clone();
    gates[0]["command"] = digest("another command");
    pin("gates", gates).await;
    let mut gates = pins["gates"].clone();
    gates[1].as_object_mut().unwrap().remove("hiddenCheck");
    pin("gates", gates).await;
    pin("paths", json!(["**"])).await;
    pin("work", json!(["deployment", "domain", "tests"])).await;
    pin("cases", json!(["AC-1"])).await;
    pin("goal", "Something else.".into()).await;
    pin("image", digest("another image")).await;
    pin("owner", "nobody".into()).await;
    pin("request", json!({"case": "AC-1", "digest": digest("a request")})).await;
}

// proves E-A15
// break crates/control-plane/verify/src/origin.rs: `if Project::fold(scope, before).is_approved(blueprint, digest) {` -> `if true {`
#[tokio::test]
async fn a_blueprint_that_was_not_approved_is_refuted() {
    let forger = Forger::new();
    forger
        .expect("another blueprint", CheckId::Blueprint, "approval", |records| {
            records[0]["body"]["pins"]["blueprintDigest"] = digest("another blueprint");
        })
        .await;
    let run = forger.runs.completed.clone();
    let forged = |change: fn(&mut Value)| {
        move |_: &mut Vec<Value>, project: &mut Vec<Value>| {
            let at = nth(project, "blueprint.approved", 0);
            change(&mut project[at]);
        }
    };
    let signature = forged(|approved| approved["body"]["signature"] = "00".repeat(64).into());
    forger.rewrite(&run, signature).await;
    forger.expect_named("no signature", &run, CheckId::Blueprint, "blueprint.approved").await;
    let approver = forged(|approved| approved["body"]["approver"] = "mallory".into());
    forger.rewrite(&run, approver).await;
    forger.expect_named("another approver", &run, CheckId::Blueprint, "blueprint.approved").await;
    forger
        .rewrite(&run, |_, project| {
            let (registered, approved) =
                (nth(project, "approver.registered", 0), nth(project, "blueprint.approved", 0));
            project.swap(registered, approved);
        })
        .await;
    forger.expect_named("approved before the approver", &run, CheckId::Blueprint, "blueprint.approved").await;
    forger
        .rewrite(&run, |_, project| {
            let at = nth(project, "blueprint.approved", 0);
            let approved = project.remove(at);
            project.push(approved);
        })
        .await;
    forger.expect_named("approved after the run", &run, CheckId::Blueprint, "approval").await;
}

// proves E-A15
// break crates/control-plane/verify/src/base.rs: `Some(tree) if tree == base.tree => return findings,` -> `Some(_) => return findings,`
#[tokio::test]
async fn a_base_that_the_project_does_not_have_is_refuted() {
    let forger = Forger::new();
    let tree = digest("another tree");
    forger
        .expect("another base tree", CheckId::Base, "revision", |records| {
            records[0]["body"]["pins"]["baseTree"] = tree;
        })
        .await;
    forger
        .expect("a base that nobody made", CheckId::Base, "revision", |records| {
            records[0]["body"]["pins"]["base"] = "rev-90".into();
        })
        .await;
    // A base that a run left behind partially is none.
    let (second, cancelled) = (forger.runs.second.clone(), forger.runs.cancelled.clone());
    let partial = forger.attacker.values(&Target::run(&cancelled));
    let tree = partial[nth(&partial, "revision.ineligible", 0)]["body"]["tree"].clone();
    forger
        .rewrite(&second, |records, _| {
            let pins = &mut records[0]["body"]["pins"];
            (pins["base"], pins["baseTree"]) = ("rev-3".into(), tree);
        })
        .await;
    let report = forger.judge(&second).await;
    let findings = &report.check(CheckId::Base).unwrap().findings;
    assert!(
        findings.iter().any(|finding| finding.refutes && finding.why.contains("cancelled")),
        "{findings:?}"
    );
}

// proves E-A15 E-C01
// break crates/control-plane/verify/src/decisions.rs: `if (answer.verdict, &answer.rules) == (recorded.verdict, &recorded.rules) {` -> `if true {`
#[tokio::test]
async fn a_decision_that_the_rules_do_not_make_is_refuted() {
    let forger = Forger::new();
    forger
        .expect("a denial that was lifted", CheckId::Decisions, "tool.decided", |records| {
            let at = nth_call(records, "read_project_file", 0);
            let decision = records[at]["body"]["decision"].as_object_mut().unwrap();
            assert_eq!(decision["effect"], "deny");
            decision.insert("effect".to_owned(), "allow".into());
            decision.remove("denial");
        })
        .await;
    forger
        .expect("other rules", CheckId::Decisions, "tool.decided", |records| {
            let at = nth_call(records, "run_named_gate", 0);
            records[at]["body"]["decision"]["reasons"] = json!(["permit-reading"]);
        })
        .await;
    let another = |records: &mut Vec<Value>| {
        let (at, other) = (nth_call(records, "run_named_gate", 0), nth_call(records, "run_named_gate", 2));
        records[at]["body"]["decision"]["inputDigest"] =
            records[other]["body"]["decision"]["inputDigest"].clone();
    };
    forger.expect("another request", CheckId::Decisions, "tool.decided", another).await;
    // A request that leaves out what is true of the patch, and so is allowed.
    let records = forger.attacker.values(&Target::run(&forger.runs.completed));
    let at = nth_call(&records, "apply_project_patch", 3);
    assert_eq!(records[at]["body"]["decision"]["effect"], "needs-approval");
    let mut request = forger.kept(&records[at]["body"]["decision"]["inputDigest"]).await;
    request["facts"] = json!([]);
    let kept = forger.keep(&request).await.to_string();
    forger
        .expect("facts left out", CheckId::Decisions, "tool.decided", |records| {
            let body = &mut records[at]["body"];
            body["facts"] = json!([]);
            body["factsInAll"] = 0.into();
            body["decision"]["inputDigest"] = kept.into();
        })
        .await;
}

// proves E-F02 E-F03
// break crates/control-plane/verify/src/gates.rs: `if derived == *record {` -> `if true {`
#[tokio::test]
async fn a_gate_record_of_another_tree_or_execution_is_refuted() {
    let forger = Forger::new();
    let gate = async |what: &str, named: &str, write: &dyn Fn(&mut Vec<Value>, usize)| {
        forger
            .expect(what, CheckId::Gates, named, |records| {
                let at = nth(records, "gate.finished", 2);
                write(records, at);
            })
            .await;
    };
    gate("a pass on an earlier tree", "gate.finished", &|records, at| {
        let before = nth(records, "gate.finished", 1);
        let tree = records[before]["body"]["observation"]["tree"].clone();
        records[at]["body"]["observation"]["tree"] = tree;
    })
    .await;
    gate("the artifact of an earlier pass", "gate.finished", &|records, at| {
        let before = nth(records, "gate.finished", 1);
        let artifact = records[before]["body"]["observation"]["artifact"].clone();
        records[at]["body"]["observation"]["artifact"] = artifact;
    })
    .await;
    gate("another duration", "gate.finished", &|records, at| {
        records[at]["body"]["observation"]["durationMs"] = 1.into();
    })
    .await;
    forger
        .expect("a failure that is told as a pass", CheckId::Gates, "gate.finished", |records| {
            let at = nth(records, "gate.finished", 0);
            let seen = records[at]["body"]["observation"].as_object_mut().unwrap();
            seen.insert("ending".to_owned(), json!({"kind": "exited", "code": 0}));
            seen.remove("fingerprint");
        })
        .await;
    forger
        .expect("another fingerprint", CheckId::Gates, "gate.finished", |records| {
            let at = nth(records, "gate.finished", 0);
            records[at]["body"]["observation"]["fingerprint"] = digest("another failure");
        })
        .await;
}

// proves E-F02 E-F04
// break crates/control-plane/verify/src/gates.rs: `if held != Some(&seen.incarnation) {` -> `if false {`
// break crates/control-plane/verify/src/gates.rs: `if looked_at == expected && seen.protected.is_some() {` -> `if true {`
#[tokio::test]
async fn an_observation_that_says_something_else_than_its_gate_saw_is_refuted() {
    let forger = Forger::new();
    let gate = async |what: &str, named: &str, artifact: &str| {
        forger
            .expect(what, CheckId::Gates, named, |records| {
                let at = nth(records, "gate.finished", 2);
                records[at]["body"]["observation"]["artifact"] = artifact.into();
            })
            .await;
    };
    let records = forger.attacker.values(&Target::run(&forger.runs.completed));
    let at = nth(&records, "gate.finished", 2);
    let seen = forger.kept(&records[at]["body"]["observation"]["artifact"]).await;
    for (what, member, value) in [
        ("an observation of another sandbox", "incarnation", json!("inc_999999")),
        ("an observation of another effect", "effect", json!("run_000000.call.1")),
        (
            "an observation of no protected file",
            "protected",
            json!({"lookedAt": 0, "changed": [], "more": 0}),
        ),
        (
            "an observation of a protected file that was changed",
            "protected",
            json!({
                "lookedAt": 1,
                "changed": [{"path": "tests/protected/test_all.py", "before": digest("before"), "why": "absent"}],
                "more": 0,
            }),
        ),
    ] {
        let mut seen = seen.clone();
        seen[member] = value;
        let artifact = forger.keep(&seen).await.to_string();
        gate(what, "gate.finished", &artifact).await;
    }
    let mut seen = seen;
    seen["stdout"]["bytes"] = 1.into();
    let artifact = forger.keep(&seen).await.to_string();
    gate("output of another size", "standard output", &artifact).await;
}

// proves E-G06
// break crates/control-plane/verify/src/patches.rs: `if made.tree.digest() != patch.tree {` -> `if false {`
#[tokio::test]
async fn a_patch_history_that_does_not_lead_to_the_trees_is_refuted() {
    let forger = Forger::new();
    let patch = async |what: &str, named: &str, member: &str, value: Value| {
        forger
            .expect(what, CheckId::Patches, named, |records| {
                let at = nth(records, "patch.applied", 1);
                records[at]["body"]["observation"][member] = value;
            })
            .await;
    };
    patch("another tree", "patch.applied", "tree", digest("another tree")).await;
    patch("another base", "patch.applied", "base", digest("another base")).await;
    patch("other files", "patch.applied", "files", json!(["src/other.py"])).await;
    patch("another count", "patch.applied", "changedFromBase", 7.into()).await;
    let empty =
        forger.keep_bytes(b"--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-name = 'app'\n+x\n".to_vec());
    patch("another canonical patch", "canonical patch", "canonical", empty.await.to_string().into()).await;
    forger
        .expect("a patch that is left out", CheckId::Patches, "patch.applied", |records| {
            let at = nth(records, "patch.applied", 1);
            records.remove(at);
        })
        .await;
    forger
        .expect("another final tree", CheckId::Patches, "revision.eligible", |records| {
            let at = nth(records, "revision.eligible", 0);
            records[at]["body"]["tree"] = digest("another tree");
        })
        .await;
}

// proves E-G04 E-A15
// break crates/control-plane/verify/src/ending.rs: `(Err(why), true) => findings.refute(trace.name(at), why.to_string()),` -> `(Err(_), true) => {}`
#[tokio::test]
async fn a_partial_revision_that_is_told_as_eligible_is_refuted() {
    let forger = Forger::new();
    let told_as_completed = |records: &mut Vec<Value>, project: &mut Vec<Value>, run: &RunId| {
        for value in records.iter_mut() {
            match kind(value) {
                "run.stopping" => value["body"]["reason"] = json!({"code": "gates-passed"}),
                "run.terminal" => {
                    value["body"] = json!({"phase": "completed", "reason": {"code": "gates-passed"}});
                }
                "revision.ineligible" => value["kind"] = "revision.eligible".into(),
                _ => {}
            }
        }
        for closed in project.iter_mut().filter(|value| value["body"]["run"] == run.as_str()) {
            closed["body"]["phase"] = "completed".into();
        }
    };
    for run in [&forger.runs.cancelled, &forger.runs.denied, &forger.runs.exhausted] {
        let mut marked = false;
        forger
            .rewrite(run, |records, project| {
                told_as_completed(records, project, run);
                marked = records.iter().any(|value| kind(value) == "revision.eligible");
            })
            .await;
        assert!(marked);
        forger.expect_named("told as completed", run, CheckId::Acceptance, "revision.eligible").await;
    }
    forger
        .expect("a reason that does not lead there", CheckId::Acceptance, "run.terminal", |records| {
            let at = nth(records, "run.terminal", 0);
            records[at]["body"]["reason"] = json!({"code": "agent-stopped"});
        })
        .await;
}

// proves E-A14
// break crates/control-plane/verify/src/sandboxes.rs: `if !receipt.is_proof() {` -> `if false {`
// break crates/control-plane/verify/src/sandboxes.rs: `if held.backend != pins.backend {` -> `if false {`
#[tokio::test]
async fn receipts_and_manifests_that_prove_nothing_are_refuted() {
    let forger = Forger::new();
    let records = forger.attacker.values(&Target::run(&forger.runs.completed));
    let of = |wanted: &str| records[nth(&records, wanted, 0)]["body"].clone();
    let cases: [(&str, &str, CheckId, &str, Value); 8] = [
        ("something remains", "sandbox.destroyed", CheckId::Cleanup, "remaining", json!([["mounts", 1]])),
        ("nothing was looked at", "sandbox.destroyed", CheckId::Cleanup, "remaining", json!([])),
        ("another run's sandbox", "sandbox.destroyed", CheckId::Cleanup, "lease", json!("lease_000000")),
        ("another life", "sandbox.destroyed", CheckId::Cleanup, "incarnation", json!("inc_999999")),
        ("processes remain", "process.terminated", CheckId::Cleanup, "remainingProcesses", json!(1)),
        ("another number", "process.terminated", CheckId::Cleanup, "killedProcesses", json!(7)),
        ("no isolation", "lease.allocated", CheckId::Sandboxes, "isolation", json!("unproven")),
        ("another backend", "lease.allocated", CheckId::Sandboxes, "backendId", json!("other")),
    ];
    for (what, wanted, check, member, value) in cases {
        let field = if wanted == "lease.allocated" { "manifest" } else { "receipt" };
        let mut kept = forger.kept(&of(wanted)[field]).await;
        kept[member] = value;
        let kept = forger.keep(&kept).await.to_string();
        forger
            .expect(what, check, wanted, |records| {
                let at = nth(records, wanted, 0);
                records[at]["body"][field] = kept.into();
            })
            .await;
    }
    let mut elsewhere = forger.kept(&of("lease.allocated")["manifest"]).await;
    elsewhere["backendId"] = json!("other");
    let elsewhere = forger.keep(&elsewhere).await.to_string();
    forger
        .expect("another backend than the run's", CheckId::Sandboxes, "lease.allocated", |records| {
            let at = nth(records, "lease.allocated", 0);
            records[at]["body"]["backend"] = "other".into();
            records[at]["body"]["manifest"] = elsewhere.into();
        })
        .await;
    forger
        .expect("the lease of another run", CheckId::Sandboxes, "lease.allocated", |records| {
            let at = nth(records, "lease.allocated", 0);
            records[at]["body"]["lease"] = "lease_000000".into();
        })
        .await;
}

// proves E-M01 E-H03
// break crates/control-plane/verify/src/ending.rs: `("actor", entry.actor == record.actor),` -> `("actor", true),`
#[tokio::test]
async fn who_acted_and_what_held_before_follow_from_the_run() {
    let forger = Forger::new();
    for (what, member, value) in [
        ("another actor", "actor", json!({"type": "human", "id": "alice"})),
        ("another precondition", "precondition", json!({"phase": "editing"})),
        ("another artifact", "artifact", digest("another artifact")),
    ] {
        forger
            .expect(what, CheckId::Records, "tool.decided", |records| {
                let at = nth(records, "tool.decided", 1);
                records[at][member] = value;
            })
            .await;
    }
    forger
        .expect("another environment", CheckId::Records, "tool.decided", |records| {
            let at = nth(records, "tool.decided", 1);
            records[at]["environment"]["image"] = digest("another image");
        })
        .await;
}

// proves E-A15
// break crates/control-plane/verify/src/approvals.rs: `if !signed.is_genuine(scope, project) {` -> `if false {`
#[tokio::test]
async fn a_decision_that_no_approver_signed_is_refuted() {
    let forger = Forger::new();
    let records = forger.attacker.values(&Target::run(&forger.runs.completed));
    let at = nth(&records, "approval.decided", 0);
    let genuine = forger.kept(&records[at]["body"]["evidence"]).await;
    for (member, value) in [("signature", json!("00".repeat(64))), ("approver", json!("mallory"))] {
        let mut signed = genuine.clone();
        signed[member] = value;
        let evidence = forger.keep(&signed).await.to_string();
        forger
            .expect("a forged decision", CheckId::Approvals, "approval.decided", |records| {
                records[at]["body"]["evidence"] = evidence.into();
            })
            .await;
    }
    forger
        .expect("a decision about something else", CheckId::Approvals, "approval.decided", |records| {
            records[at]["body"]["digest"] = digest("another proposal");
        })
        .await;
}

// proves E-A15 E-M03
// break crates/control-plane/verify/src/observations.rs: `Ok(performed) if compared(observation, &performed.observation) => {}` -> `Ok(_) if true => {}`
#[tokio::test]
async fn looks_that_see_something_else_are_refuted() {
    let forger = Forger::new();
    let records = forger.attacker.values(&Target::run(&forger.runs.completed));
    let looks: Vec<(usize, String)> = records
        .iter()
        .enumerate()
        .filter(|(_, value)| kind(value) == "tool.effect")
        .map(|(at, value)| (at, value["body"]["observation"]["seen"].as_str().unwrap().to_owned()))
        .collect();
    for (seen, member, value) in [
        ("file-read", "sha256", digest("another content")),
        ("files-listed", "count", 1.into()),
        ("text-found", "truncated", true.into()),
    ] {
        let (at, _) = looks.iter().find(|(_, found)| found == seen).unwrap();
        forger
            .expect(seen, CheckId::Observations, "tool.effect", |records| {
                records[*at]["body"]["observation"][member] = value;
            })
            .await;
    }
}

// proves E-A15 E-M07
// break crates/control-plane/verify/src/ending.rs: `if rest.is_empty() {` -> `if true {`
#[tokio::test]
async fn an_export_of_other_records_is_refuted() {
    let forger = Forger::new();
    let run = forger.runs.completed.clone();
    let rows = forger.attacker.rows(&Target::run(&run));
    let mut records = forger.attacker.values(&Target::run(&run));
    let at = nth(&records, "artifact.exported", 0);
    let trace: Vec<u8> =
        rows[..=at].iter().flat_map(|(bytes, _)| bytes.iter().copied().chain([b'\n'])).collect();
    let artifact = forger.keep_bytes(trace).await.to_string();
    records[at]["body"]["artifact"] = artifact.clone().into();
    records[at]["artifact"] = artifact.into();
    let rows = chained(records, 0);
    forger.sign(&Target::run(&run), &rows).await;
    let mut project = forger.attacker.values(&Target::project());
    for closed in project.iter_mut().filter(|value| value["body"]["run"] == run.as_str()) {
        closed["artifact"] = rows[rows.len() - 1].1.to_string().into();
        closed["body"]["leaf"] = rows[rows.len() - 1].1.to_string().into();
    }
    let project = chained(project, 0);
    forger.sign(&Target::project(), &project).await;
    forger.expect_named("an export that goes on", &run, CheckId::Trace, "artifact.exported").await;
}
