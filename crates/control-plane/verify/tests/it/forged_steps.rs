//! Records that a run cannot have made, left out or told otherwise, in chains and heads that fit.

use ambit_ids::RunId;
use ambit_verify_trace::{CheckId, Verdict};
use serde_json::{Value, json};

use crate::attack::Target;
use crate::forger::{Forger, nth, nth_call};

// proves E-M03 E-C01
// break crates/control-plane/verify/src/steps.rs: `if reached[trace.events.len()] {` -> `if !reached.is_empty() {`
#[tokio::test]
async fn a_record_that_was_left_out_is_missed() {
    let forger = Forger::new();
    let left_out = async |wanted: &str, n: usize, named: &str| {
        let what = format!("{wanted} left out");
        forger
            .expect(&what, CheckId::Steps, named, |records| {
                let at = nth(records, wanted, n);
                records.remove(at);
            })
            .await;
    };
    left_out("hypothesis.recorded", 0, "tool.decided").await;
    left_out("approval.consumed", 0, "tool.decided").await;
    left_out("approval.requested", 0, "approval.decided").await;
    left_out("turn.opened", 4, "budget.charged").await;
    left_out("budget.charged", 4, "tool.decided").await;
    left_out("tool.effect", 0, "turn.opened").await;
    left_out("gate.finished", 0, "turn.opened").await;
    left_out("plan.accepted", 0, "turn.opened").await;
    left_out("run.stopping", 0, "process.terminated").await;
    left_out("process.terminated", 0, "artifact.exported").await;
    left_out("hidden-check.finished", 0, "run.stopping").await;
    left_out("sandbox.destroyed", 0, "revision.eligible").await;
    left_out("revision.eligible", 0, "run.terminal").await;
}

// proves E-M03 E-C01
// break crates/control-plane/verify/src/steps.rs: `if reached[trace.events.len()] {` -> `if !reached.is_empty() {`
#[tokio::test]
async fn a_record_that_says_something_else_is_refuted() {
    let forger = Forger::new();
    let changed = async |what: &str, wanted: &str, n: usize, write: &dyn Fn(&mut Value)| {
        forger
            .expect(what, CheckId::Steps, wanted, |records| {
                let at = nth(records, wanted, n);
                write(&mut records[at]["body"]);
            })
            .await;
    };
    changed("another turn", "turn.opened", 3, &|body| body["turn"] = 9.into()).await;
    changed("a smaller reservation", "turn.opened", 3, &|body| body["reservedMicroUsd"] = 1.into()).await;
    changed("a longer question", "approval.requested", 0, &|body| {
        body["expiresMs"] = (body["expiresMs"].as_u64().unwrap() + 1).into();
    })
    .await;
    changed("a longer receipt", "approval.decided", 0, &|body| {
        body["receiptExpiresMs"] = (body["receiptExpiresMs"].as_u64().unwrap() + 1).into();
    })
    .await;
    changed("another receipt", "approval.consumed", 0, &|body| body["receipt"] = "apr_000000".into()).await;
    changed("another case", "plan.accepted", 0, &|body| body["steps"][0]["cases"] = json!(["AC-9"])).await;
    changed("a plan out of scope", "plan.accepted", 0, &|body| {
        body["steps"][0]["work"] = "deployment".into();
    })
    .await;
    changed("a reason that is none", "plan.rejected", 0, &|body| {
        body["denial"]["code"] = "POLICY_DENIED".into();
    })
    .await;
    changed("a reason that is none", "proposal.rejected", 0, &|body| {
        body["denial"]["code"] = "GATE_UNKNOWN".into();
    })
    .await;
    changed("facts left out", "tool.decided", 0, &|body| body["facts"] = json!([])).await;
    changed("another outcome", "tool.decided", 0, &|body| body["outcome"] = json!({"follows": "perform"}))
        .await;
    forger
        .expect("less reserved", CheckId::Steps, "tool.decided", |records| {
            let at = nth_call(records, "run_named_gate", 0);
            let reserved = &mut records[at]["body"]["reserved"]["microUsd"];
            assert_ne!(*reserved, json!(0));
            *reserved = json!(0);
        })
        .await;
}

// proves E-M03 E-C01
// break crates/control-plane/verify/src/steps.rs: `if reached[trace.events.len()] {` -> `if !reached.is_empty() {`
#[tokio::test]
async fn a_record_where_none_can_be_is_refuted() {
    let forger = Forger::new();
    let twice = async |what: &str, wanted: &str, before: &str| {
        forger
            .expect(what, CheckId::Steps, wanted, |records| {
                let (from, to) = (nth(records, wanted, 0), nth(records, before, 0));
                let mut again = records[from].clone();
                again["ts"] = records[to]["ts"].clone();
                records.insert(to + 1, again);
            })
            .await;
    };
    twice("an effect after the run began to end", "tool.effect", "run.stopping").await;
    twice("a call after the run began to end", "tool.decided", "run.stopping").await;
    twice("a second observation", "patch.applied", "patch.applied").await;
    forger
        .expect("a record after the end", CheckId::Steps, "turn.opened", |records| {
            let again = records[nth(records, "turn.opened", 0)].clone();
            records.push(again);
        })
        .await;
    forger
        .expect("a step that is torn in time", CheckId::Steps, "tool.decided", |records| {
            let at = nth(records, "budget.charged", 3);
            records[at]["ts"] = "2026-01-01T00:00:00.000Z".into();
        })
        .await;
}

/// A run as it would have been under its first rules: without any, and with one sandbox for everything.
struct Earlier {
    /// What names another sandbox than the first: the kind of the record, the member, and the digest of the same in the first.
    altered: Vec<(&'static str, &'static str, Value)>,
}

impl Earlier {
    async fn of(forger: &Forger, run: &RunId) -> Self {
        let records = forger.attacker.values(&Target::run(run));
        let first = records[nth(&records, "lease.allocated", 0)]["body"]["incarnation"].clone();
        let mut altered = Vec::new();
        for (kind, member) in [
            ("hidden-check.finished", "artifact"),
            ("process.terminated", "receipt"),
            ("sandbox.destroyed", "receipt"),
        ] {
            let mut kept = forger.kept(&records[nth(&records, kind, 0)]["body"][member]).await;
            kept["incarnation"] = first.clone();
            altered.push((kind, member, forger.keep(&kept).await.to_string().into()));
        }
        Self { altered }
    }

    fn write(&self, records: &mut Vec<Value>) {
        records[0]["body"]["pins"].as_object_mut().unwrap().remove("rules").unwrap();
        // Nothing was held against the base then, and what that costs was charged to nobody.
        records[0]["body"]["pins"]["gates"][0].as_object_mut().unwrap().remove("reports").unwrap();
        let at = nth(records, "gate.finished", 0);
        let tests = &mut records[at]["body"]["observation"];
        tests.as_object_mut().unwrap().remove("tests").unwrap();
        let at = nth_call(records, "run_named_gate", 0);
        let reserved = &mut records[at]["body"]["reserved"];
        for amount in ["microUsd", "outputBytes"] {
            reserved[amount] = (reserved[amount].as_u64().unwrap() / 2).into();
        }
        for (kind, member, digest) in &self.altered {
            let at = nth(records, kind, 0);
            let record = &mut records[at];
            record["body"][*member] = digest.clone();
            if record.get("artifact").is_some() {
                record["artifact"] = digest.clone();
            }
        }
        records.remove(nth(records, "lease.allocated", 1));
        records.remove(nth(records, "lease.retired", 0));
    }
}

#[tokio::test]
async fn a_run_is_held_to_the_rules_of_its_admission_and_to_no_others() {
    let forger = Forger::new();
    let run = forger.runs.second.clone();
    let earlier = Earlier::of(&forger, &run).await;
    let judged = async |has_rules: bool, is_told: bool| {
        forger
            .rewrite(&run, |records, _| {
                if !has_rules {
                    earlier.write(records);
                }
                let first = records[nth_call(records, "read_project_file", 0)]["body"]["outcome"].clone();
                let again = nth_call(records, "read_project_file", 1);
                let outcome = &mut records[again]["body"]["outcome"];
                assert_eq!(outcome["denial"]["code"], "PROPOSAL_REPEATED");
                if !is_told {
                    *outcome = first;
                }
            })
            .await;
        let verdict = forger.judge(&run).await.verdict;
        forger.attacker.restore();
        verdict
    };
    assert_eq!(judged(true, true).await, Verdict::Proved, "as it was");
    assert_eq!(judged(false, false).await, Verdict::Proved, "as it was before repeats were told");
    assert_eq!(judged(true, false).await, Verdict::Refuted, "a repeat is told");
    assert_eq!(judged(false, true).await, Verdict::Refuted, "nobody told it then");
}
