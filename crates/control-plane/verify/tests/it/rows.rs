//! Every kind of record, harmed in every way that needs no log key.

use std::collections::BTreeSet;

use ambit_ids::RunId;
use ambit_ports::signer::Signature;
use ambit_ports::store::{Seq, SignedHead, Store as _};
use ambit_verify_trace::{CheckId, LinkName, Report, Verdict, Verifier};
use serde_json::Value;

use crate::attack::{Attacker, Row, Target, alter, chained, kind, row};
use crate::honest::told;
use crate::world::{self, Runs, Site};

/// The checks of the stream that is harmed.
#[derive(Clone, Copy)]
struct Checks {
    chain: CheckId,
    head: CheckId,
}

const OF_RUN: Checks = Checks { chain: CheckId::RunChain, head: CheckId::RunHead };
const OF_PROJECT: Checks = Checks { chain: CheckId::ProjectChain, head: CheckId::ProjectHead };

/// A stream under attack, and the run that is judged by it.
struct Scene<'s> {
    site: &'s Site,
    attacker: &'s Attacker,
    verifier: Verifier,
    target: Target,
    checks: Checks,
    judged: RunId,
}

impl Scene<'_> {
    async fn judge(&self) -> Report {
        self.verifier.verify_run(&self.site.run(&self.judged)).await
    }

    fn record(&self, seq: usize, kind: Option<&str>) -> LinkName {
        let (stream, kind) = (self.target.name().to_string(), kind.map(str::to_owned));
        LinkName::Record { stream, seq: seq as u64, kind }
    }

    fn head(&self) -> LinkName {
        LinkName::Head { stream: self.target.name().to_string() }
    }

    /// Puts rows in the place of the stream, and holds the verdict to the named link.
    async fn expect(&self, what: &str, rows: &[Row], check: CheckId, link: &LinkName) {
        self.attacker.put(&self.target, rows);
        self.expect_now(what, check, link).await;
    }

    async fn expect_now(&self, what: &str, check: CheckId, link: &LinkName) {
        let report = self.judge().await;
        assert_eq!(report.verdict, Verdict::Refuted, "{what} of {}\n{}", self.target.name(), told(&report));
        let findings = &report.check(check).unwrap().findings;
        assert!(
            findings.iter().any(|finding| finding.refutes && finding.link.as_ref() == Some(link)),
            "{what} of {} must be told as {check} at {link}\n{}",
            self.target.name(),
            told(&report)
        );
        self.attacker.restore();
    }

    /// Harms one record in every way.
    async fn harm(&self, at: usize, values: &[Value], foreign: &Value) {
        let rows: Vec<Row> = values.iter().map(row).collect();
        let (last, own) = (values.len() - 1, kind(&values[at]).to_owned());
        let Checks { chain, head } = self.checks;

        self.attacker.cut(&self.target, at);
        if at == last {
            self.expect_now("cutting the end", head, &self.head()).await;
        } else {
            self.expect_now("leaving a gap", chain, &self.record(at, None)).await;
        }

        let mut fewer = values.to_vec();
        fewer.remove(at);
        self.expect("removing and chaining again", &chained(fewer, at), head, &self.head()).await;

        let mut altered = values.to_vec();
        alter(&mut altered[at]);
        let mut stale = rows.clone();
        stale[at].0 = row(&altered[at]).0;
        self.expect("altering", &stale, chain, &self.record(at, Some(&own))).await;
        stale[at] = row(&altered[at]);
        match values.get(at + 1) {
            Some(next) => {
                let link = self.record(at + 1, Some(kind(next)));
                self.expect("altering and hashing again", &stale, chain, &link).await;
            }
            None => self.expect("altering and hashing again", &stale, head, &self.head()).await,
        }
        self.expect("altering and chaining again", &chained(altered, at + 1), head, &self.head()).await;

        if let Some(next) = values.get(at + 1) {
            let mut swapped = rows.clone();
            swapped.swap(at, at + 1);
            let link = self.record(at, Some(kind(next)));
            self.expect("swapping", &swapped, chain, &link).await;
            let mut swapped = values.to_vec();
            swapped.swap(at, at + 1);
            if at > 0 {
                self.expect("swapping and chaining again", &chained(swapped, at), head, &self.head()).await;
            }
        }

        let mut doubled = rows.clone();
        doubled.insert(at + 1, rows[at].clone());
        self.expect("repeating", &doubled, chain, &self.record(at + 1, Some(&own))).await;
        let mut doubled = values.to_vec();
        doubled.insert(at + 1, values[at].clone());
        self.expect("repeating and chaining again", &chained(doubled, at + 1), head, &self.head()).await;

        let mut moved = rows;
        moved[at] = row(foreign);
        let link = self.record(at, Some(kind(foreign)));
        self.expect("moving in one from elsewhere", &moved, chain, &link).await;
        let mut moved = values.to_vec();
        moved[at] = adopted(foreign, &values[at]);
        self.expect(
            "moving in one from elsewhere, as if it were ours",
            &chained(moved, at + 1),
            head,
            &self.head(),
        )
        .await;
    }
}

/// A foreign record that claims to belong where `ours` does.
fn adopted(foreign: &Value, ours: &Value) -> Value {
    let mut adopted = foreign.clone();
    for member in ["org", "project", "run", "seq", "prev"] {
        match ours.get(member) {
            Some(value) => adopted[member] = value.clone(),
            None => {
                adopted.as_object_mut().unwrap().remove(member);
            }
        }
    }
    adopted
}

async fn scene<'s>(site: &'s Site, attacker: &'s Attacker, target: Target, judged: &RunId) -> Scene<'s> {
    let checks = if target == Target::project() { OF_PROJECT } else { OF_RUN };
    let verifier = site.verifier().await;
    Scene { site, attacker, verifier, target, checks, judged: judged.clone() }
}

/// Harms the first record of each kind that was not harmed yet.
async fn harm_each_kind(scene: &Scene<'_>, foreign: &[Value], seen: &mut BTreeSet<String>) {
    let values = scene.attacker.values(&scene.target);
    for (at, value) in values.iter().enumerate() {
        if !seen.insert(kind(value).to_owned()) {
            continue;
        }
        let like = foreign.iter().find(|other| kind(other) == kind(value)).unwrap_or(&foreign[1]);
        scene.harm(at, &values, like).await;
    }
}

// proves E-A15 E-M02
// break crates/control-plane/verify/src/log_keys.rs: `match checked_end(name, links, head, &trusted.key) {` -> `match links.last().ok_or(HeadFault::Missing) {`
#[tokio::test]
async fn every_kind_of_record_of_a_run_is_bound() {
    let (site, runs) = world::copy();
    let attacker = Attacker::of(&site);
    let Runs { foreign, .. } = &runs;
    let scope = ambit_ids::Scope { organization: "other".parse().unwrap(), ..world::scope() };
    let foreign = attacker.values(&Target::of(scope, Some(foreign.clone())));
    let mut seen = BTreeSet::new();
    for run in runs.all() {
        let scene = scene(&site, &attacker, Target::run(run), run).await;
        harm_each_kind(&scene, &foreign, &mut seen).await;
    }
    let expected = [
        "approval.consumed",
        "approval.decided",
        "approval.requested",
        "approval.voided",
        "artifact.exported",
        "budget.charged",
        "budget.exhausted",
        "cancel.requested",
        "cleanup.failed",
        "gate.finished",
        "hidden-check.finished",
        "hypothesis.recorded",
        "lease.allocated",
        "lease.lost",
        "lease.retired",
        "patch.applied",
        "plan.accepted",
        "plan.rejected",
        "process.terminated",
        "proposal.rejected",
        "revision.eligible",
        "revision.ineligible",
        "run.admitted",
        "run.stopping",
        "run.terminal",
        "sandbox.destroyed",
        "tool.decided",
        "tool.effect",
        "tool.unknown",
        "turn.opened",
    ];
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), expected, "every kind of a run is there");
}

// proves E-A15
// break crates/control-plane/verify/src/log_keys.rs: `match checked_end(name, links, head, &trusted.key) {` -> `match links.last().ok_or(HeadFault::Missing) {`
#[tokio::test]
async fn every_kind_of_record_of_a_project_is_bound() {
    let (site, runs) = world::copy();
    let attacker = Attacker::of(&site);
    let scope = ambit_ids::Scope { organization: "other".parse().unwrap(), ..world::scope() };
    let foreign = attacker.values(&Target::of(scope, None));
    let scene = scene(&site, &attacker, Target::project(), &runs.second).await;
    let mut seen = BTreeSet::new();
    harm_each_kind(&scene, &foreign, &mut seen).await;
    let expected = [
        "approver.registered",
        "blueprint.approved",
        "document.registered",
        "revision.imported",
        "revision.requested",
        "run.closed",
    ];
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

// proves E-M02
// break crates/control-plane/verify/src/ending.rs: `            Some(after) => rest = after,` -> `            _ if position > 0 => {} Some(after) => rest = after,`
#[tokio::test]
async fn what_was_exported_names_the_record_that_was_altered_and_chained_again() {
    let (site, runs) = world::copy();
    let attacker = Attacker::of(&site);
    let scene = scene(&site, &attacker, Target::run(&runs.completed), &runs.completed).await;
    let values = attacker.values(&scene.target);
    for at in [1, 7, 20] {
        let mut altered = values.clone();
        alter(&mut altered[at]);
        let link = scene.record(at, Some(kind(&values[at])));
        scene.expect("altering", &chained(altered, at + 1), CheckId::Trace, &link).await;
    }
}

// proves E-M02 E-A15
// break crates/control-plane/journal/src/load.rs: `if genuine { Ok(()) } else { Err(HeadFault::Signature) }` -> `let _ = genuine; Ok(())`
#[tokio::test]
async fn a_head_that_is_not_genuine_is_named() {
    let (site, runs) = world::copy();
    let attacker = Attacker::of(&site);
    for (target, judged) in
        [(Target::run(&runs.completed), &runs.completed), (Target::project(), &runs.completed)]
    {
        let scene = scene(&site, &attacker, target, judged).await;
        let head = scene.checks.head;
        let stream = match &scene.target {
            target if *target == Target::project() => ambit_ports::store::StreamId::Project(world::scope()),
            _ => site.run(judged).stream(),
        };
        let genuine = site.store.head(&stream).await.unwrap().unwrap();
        let with = |change: &dyn Fn(&mut SignedHead)| {
            let mut head = genuine.clone();
            change(&mut head);
            head
        };
        let heads = [
            ("another position", with(&|head| head.seq = Seq(head.seq.0 - 1))),
            ("another hash", with(&|head| head.leaf = ambit_ids::Digest::of(b"x"))),
            ("another signature", with(&|head| head.signature.bytes[5] ^= 1)),
            ("no signature", with(&|head| head.signature.bytes = [0; 64])),
            ("a position that cannot be", with(&|head| head.seq = Seq(1 << 53))),
        ];
        for (what, head_row) in heads {
            attacker.set_head(&scene.target, &head_row);
            scene.expect_now(what, head, &scene.head()).await;
        }
        attacker.remove_head(&scene.target);
        scene.expect_now("no head", head, &scene.head()).await;
        // The key that a head names is a hint: another one there changes nothing, and proves nothing.
        attacker.set_head(&scene.target, &with(&|head| head.signature.key = ambit_ids::Digest::of(b"key")));
        assert_eq!(scene.judge().await.verdict, Verdict::Proved);
        attacker.restore();
    }
}

// proves E-A15 E-M02
// break crates/control-plane/verify/src/origin.rs: `findings.refute(record_name(closing), why);` -> `let _ = why;`
#[tokio::test]
async fn an_earlier_head_with_the_rows_of_its_time_is_refuted_by_the_project() {
    let (site, runs) = world::copy();
    let attacker = Attacker::of(&site);
    let scene = scene(&site, &attacker, Target::run(&runs.completed), &runs.completed).await;
    let head = world::early_head();
    let rows = attacker.rows(&scene.target);
    let length = usize::try_from(head.seq.0).unwrap() + 1;
    assert!(length < rows.len());
    attacker.put(&scene.target, &rows[..length]);
    attacker.set_head(&scene.target, &head);
    let report = scene.judge().await;
    for check in [CheckId::RunChain, CheckId::RunHead] {
        assert!(report.check(check).unwrap().findings.is_empty(), "that head was genuine: {}", told(&report));
    }
    let project = attacker.values(&Target::project());
    let closing = project
        .iter()
        .position(|value| kind(value) == "run.closed" && value["body"]["run"] == runs.completed.as_str())
        .unwrap();
    let stream = Target::project().name().to_string();
    let link = LinkName::Record { stream, seq: closing as u64, kind: Some("run.closed".to_owned()) };
    scene.expect_now("an earlier head", CheckId::RunEnd, &link).await;

    // The whole run taken away.
    attacker.put(&scene.target, &[]);
    attacker.remove_head(&scene.target);
    scene.expect_now("taking the run away", CheckId::RunEnd, &link).await;
}

// proves E-A15
// break crates/control-plane/verify/src/log_keys.rs: `match checked_end(name, links, head, &trusted.key) {` -> `match links.last().ok_or(HeadFault::Missing) {`
#[tokio::test]
async fn another_key_of_the_same_name_signs_nothing() {
    let (site, runs) = world::copy();
    let report = site.verifier().await.verify_run(&site.run(&runs.completed)).await;
    assert_eq!(report.verdict, Verdict::Proved);
    let mut other = site.log_key().await;
    other.bytes = ed25519_dalek::SigningKey::from_bytes(&[7; 32]).verifying_key().to_bytes();
    let report = site.verifier_trusting(other).verify_run(&site.run(&runs.completed)).await;
    assert_eq!(report.verdict, Verdict::Refuted);
    for check in [CheckId::RunHead, CheckId::ProjectHead] {
        let findings = &report.check(check).unwrap().findings;
        assert!(matches!(findings[0].link, Some(LinkName::Head { .. })), "{findings:?}");
    }
    // The forger's own signature over a head of the forger's own.
    let attacker = Attacker::of(&site);
    let target = Target::run(&runs.completed);
    let mut values = attacker.values(&target);
    alter(&mut values[9]);
    let rows = chained(values, 10);
    let (seq, leaf) = (rows.len() as u64 - 1, rows[rows.len() - 1].1);
    let message = ambit_evidence::head_message(&target.name(), seq, leaf);
    let bytes =
        ed25519_dalek::Signer::sign(&ed25519_dalek::SigningKey::from_bytes(&[7; 32]), &message).to_bytes();
    attacker.put(&target, &rows);
    let key = site.log_key().await.id();
    attacker.set_head(&target, &SignedHead { seq: Seq(seq), leaf, signature: Signature { key, bytes } });
    let scene = scene(&site, &attacker, target, &runs.completed).await;
    scene.expect_now("a head of the forger's own", CheckId::RunHead, &scene.head()).await;
}
