//! The attacks on a chain that others have thought of, one by one.

use std::path::{Path, PathBuf};

use ambit_ids::Digest;
use ambit_ports::signer::Signature;
use ambit_ports::store::{Seq, SignedHead};
use ambit_verify_trace::{CheckId, Finding, LinkName, Report, Verdict};
use serde_json::{Value, json};

use crate::attack::{Attacker, Row, Target, chained, kind, row};
use crate::forger::{Forger, nth};
use crate::honest::told;
use crate::world::{self, Site, scope};

/// How many bytes are flipped, of those that the attack goes through.
const FLIPS: usize = 2_000;

fn cases() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases");
    let path = std::env::var_os("AMBIT_CASES").map_or(default, PathBuf::from).join("evidence");
    if path.is_dir() {
        return Some(path);
    }
    assert!(
        std::env::var_os("AMBIT_REQUIRE_CASES").is_none_or(|required| required != "1"),
        "no cases at {path:?}"
    );
    println!("skipped: CASES_ABSENT evidence");
    None
}

/// The completed run under attack.
struct Scene {
    site: Site,
    attacker: Attacker,
    target: Target,
    run: ambit_ids::RunId,
}

impl Scene {
    fn new() -> Self {
        let (site, runs) = world::copy();
        Self::of(site, runs.completed)
    }

    /// A scene of few records, for attacks that go through all of them many times.
    fn short() -> Self {
        let (site, runs) = world::copy();
        Self::of(site, runs.exhausted)
    }

    fn of(site: Site, run: ambit_ids::RunId) -> Self {
        let attacker = Attacker::of(&site);
        Self { attacker, target: Target::run(&run), site, run }
    }

    fn rows(&self) -> Vec<Row> {
        self.attacker.rows(&self.target)
    }

    fn values(&self) -> Vec<Value> {
        self.attacker.values(&self.target)
    }

    async fn judge(&self) -> Report {
        let verifier = self.site.verifier().await;
        verifier.verify_run(&self.site.run(&self.run)).await
    }

    /// What is found once these rows stand there; the store is then as it was.
    async fn with(&self, rows: &[Row]) -> Report {
        self.attacker.put(&self.target, rows);
        let report = self.judge().await;
        self.attacker.restore();
        report
    }

    /// These rows are refuted at a record of the chain.
    async fn refuted_at(&self, rows: &[Row], seq: usize) {
        let report = self.with(rows).await;
        assert_eq!(report.verdict, Verdict::Refuted);
        let findings = &report.check(CheckId::RunChain).unwrap().findings;
        let at = |finding: &Finding| matches!(finding.link, Some(LinkName::Record { seq: at, .. }) if at == seq as u64);
        assert!(findings.iter().any(at), "not at {seq}: {}", told(&report));
    }

    async fn head_refuted(&self, rows: &[Row]) {
        let report = self.with(rows).await;
        assert!(!report.check(CheckId::RunHead).unwrap().findings.is_empty(), "{}", told(&report));
        assert_eq!(report.verdict, Verdict::Refuted);
    }

    /// A head that was signed by somebody else, or by nobody, is refuted.
    async fn signature_refuted(&self, signature: [u8; 64]) {
        let rows = self.rows();
        let (seq, leaf) = (Seq(rows.len() as u64 - 1), rows[rows.len() - 1].1);
        let key = self.site.log_key().await.id();
        self.attacker.set_head(
            &self.target,
            &SignedHead { seq, leaf, signature: Signature { key, bytes: signature } },
        );
        let report = self.judge().await;
        self.attacker.restore();
        assert_eq!(report.verdict, Verdict::Refuted);
        assert!(!report.check(CheckId::RunHead).unwrap().findings.is_empty());
    }

    /// The genuine head, signed by another key.
    fn signed_by_another(&self, seed: u8) -> [u8; 64] {
        let rows = self.rows();
        let message =
            ambit_evidence::head_message(&self.target.name(), rows.len() as u64 - 1, rows[rows.len() - 1].1);
        let key = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
        ed25519_dalek::Signer::sign(&key, &message).to_bytes()
    }

    /// The file of what was seen of a gate.
    fn artifact(&self) -> (Digest, PathBuf) {
        let values = self.values();
        let seen = &values[nth(&values, "gate.finished", 0)]["body"]["observation"];
        let digest = seen["artifact"].as_str().unwrap().parse().unwrap();
        (digest, self.site.blob_path(&scope(), digest))
    }

    async fn flip_bytes(&self) {
        let rows = self.rows();
        let bytes: usize = rows.iter().map(|(bytes, _)| bytes.len()).sum();
        let (mut next, mut passed, step) = (0, 0, bytes.div_ceil(FLIPS));
        for (seq, (bytes, leaf)) in rows.iter().enumerate() {
            while next < passed + bytes.len() {
                let mut flipped = bytes.clone();
                flipped[next - passed] ^= 1 << (next % 8);
                self.attacker.overwrite(&self.target, seq, &(flipped, *leaf));
                let report = self.judge().await;
                assert_eq!(report.verdict, Verdict::Refuted, "byte {next}");
                let link = &report.check(CheckId::RunChain).unwrap().findings[0].link;
                assert!(matches!(link, Some(LinkName::Record { seq: at, .. }) if *at == seq as u64));
                next += step;
            }
            self.attacker.overwrite(&self.target, seq, &rows[seq]);
            passed += bytes.len();
        }
        assert_eq!(self.judge().await.verdict, Verdict::Proved);
    }
}

/// Replays one attack, and holds what is expected of it.
async fn replay(id: &str) {
    let scene = Scene::new();
    let (rows, values) = (scene.rows(), scene.values());
    match id {
        "untouched" => assert_eq!(scene.judge().await.verdict, Verdict::Proved),
        // Hashes are over the canonical form, so there is no other form of a record.
        "reserialise" => {
            let mut spelled = rows.clone();
            let text = serde_json::to_string_pretty(&values[4]).unwrap().into_bytes();
            spelled[4] = (text.clone(), ambit_evidence::leaf_hash(&text));
            scene.refuted_at(&spelled, 4).await;
        }
        "flip-bit" => Scene::short().flip_bytes().await,
        "drop-first" => {
            scene.refuted_at(&rows[1..], 0).await;
            scene.head_refuted(&chained(values[1..].to_vec(), 0)).await;
        }
        "drop-middle" => {
            for at in 1..rows.len() - 1 {
                let mut fewer = rows.clone();
                fewer.remove(at);
                scene.refuted_at(&fewer, at).await;
            }
        }
        "swap" => {
            for at in 0..rows.len() - 1 {
                let mut swapped = rows.clone();
                swapped.swap(at, at + 1);
                scene.refuted_at(&swapped, at).await;
            }
        }
        "duplicate" => {
            let mut doubled = rows.clone();
            doubled.insert(10, rows[10].clone());
            scene.refuted_at(&doubled, 11).await;
        }
        "insert" => {
            let mut forged = values.clone();
            let at = nth(&values, "gate.finished", 0);
            let mut passed = values[at].clone();
            passed["body"]["observation"]["ending"] = json!({"kind": "exited", "code": 0});
            forged.insert(at, passed);
            scene.head_refuted(&chained(forged, 0)).await;
        }
        "other-tenant" => {
            let moved = |value: &Value| {
                let mut moved = value.clone();
                moved["org"] = "other".into();
                moved
            };
            scene
                .refuted_at(
                    &rows.iter().zip(&values).map(|(_, value)| row(&moved(value))).collect::<Vec<_>>(),
                    0,
                )
                .await;
        }
        "artifact-swap" | "artifact-missing" | "artifact-extra" => replay_on_artifact(id, &scene).await,
        other => replay_more(other, &scene, &rows, &values).await,
    }
}

async fn replay_on_artifact(id: &str, scene: &Scene) {
    match id {
        "artifact-swap" => {
            let (digest, path) = scene.artifact();
            std::fs::write(&path, b"{}").unwrap();
            let report = scene.judge().await;
            assert_eq!(report.verdict, Verdict::Refuted);
            assert!(names_blob(&report, digest, true));
        }
        "artifact-missing" => {
            let (digest, path) = scene.artifact();
            std::fs::remove_file(&path).unwrap();
            let report = scene.judge().await;
            assert_eq!(report.verdict, Verdict::CouldNotVerify);
            assert!(names_blob(&report, digest, false));
        }
        "artifact-extra" => {
            let extra = Digest::of(b"extra");
            let path = scene.site.blob_path(&scope(), extra);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, b"extra").unwrap();
            let report = scene.judge().await;
            assert_eq!(report.verdict, Verdict::Proved);
            assert!(!report.covered.contains(&extra) && report.covered.contains(&scene.artifact().0));
        }
        other => panic!("no such attack on an artifact is replayed: {other}"),
    }
}

async fn replay_more(id: &str, scene: &Scene, rows: &[Row], values: &[Value]) {
    match id {
        "big-number" => {
            let mut large = rows.to_vec();
            let text = String::from_utf8(large[3].0.clone())
                .unwrap()
                .replace("\"seq\":3,", "\"seq\":9007199254740993,");
            assert_ne!(text.as_bytes(), large[3].0);
            large[3] = (text.clone().into_bytes(), ambit_evidence::leaf_hash(text.as_bytes()));
            scene.refuted_at(&large, 3).await;
        }
        "unicode-norm" => {
            let at = nth(values, "patch.applied", 0);
            let named = |name: &str| {
                let mut named = values.to_vec();
                named[at]["body"]["observation"]["files"] = json!([name]);
                chained(named, at)
            };
            let (composed, decomposed) = (named("src/\u{e4}pp.py"), named("src/a\u{308}pp.py"));
            assert_ne!(composed[at].1, decomposed[at].1, "two names, two hashes");
            scene.head_refuted(&decomposed).await;
            let mut mixed = composed.clone();
            mixed[at].0.clone_from(&decomposed[at].0);
            scene.refuted_at(&mixed, at).await;
        }
        "seq-gap" => {
            let mut gap = values.to_vec();
            for value in &mut gap[12..] {
                value["seq"] = (value["seq"].as_u64().unwrap() + 1).into();
            }
            scene.refuted_at(&gap.iter().map(row).collect::<Vec<_>>(), 12).await;
        }
        "time-back" => time_goes_back().await,
        "alg-none" => scene.signature_refuted([0; 64]).await,
        "wrong-key" => scene.signature_refuted(scene.signed_by_another(1)).await,
        // One key is trusted at a time; one that is no longer trusted is another key.
        "old-key" => scene.signature_refuted(scene.signed_by_another(2)).await,
        "truncated-file" => {
            let mut cut = rows.to_vec();
            let half = cut[20].0.len() / 2;
            cut[20].0.truncate(half);
            scene.refuted_at(&cut, 20).await;
            cut[20].1 = ambit_evidence::leaf_hash(&cut[20].0);
            scene.refuted_at(&cut, 20).await;
        }
        "huge" => {
            let many: Vec<Row> = rows.iter().cycle().take(12_000).cloned().collect();
            let report = scene.with(&many).await;
            assert_eq!(
                report.verdict,
                Verdict::Refuted,
                "what is read of it does not fit: {}",
                told(&report)
            );
            let mut large = rows.to_vec();
            large[5].0 = vec![b' '; 16 << 20];
            large[5].1 = ambit_evidence::leaf_hash(&large[5].0);
            scene.refuted_at(&large, 5).await;
        }
        other => panic!("no such attack is replayed: {other}"),
    }
}

fn names_blob(report: &Report, digest: Digest, refutes: bool) -> bool {
    report.findings().iter().any(|(_, finding)| {
        finding.refutes == refutes
            && matches!(finding.link, Some(LinkName::Blob { digest: named, .. }) if named == digest)
    })
}

/// A clock that is set back makes no record untrue; it is told.
async fn time_goes_back() {
    let forger = Forger::new();
    let run = forger.runs.completed.clone();
    let mut from = 0;
    forger
        .rewrite(&run, |records, _| {
            from = nth(records, "process.terminated", 0);
            for record in &mut records[from..] {
                record["ts"] = "2020-01-01T00:00:00.000Z".into();
            }
        })
        .await;
    let report = forger.site.verifier().await.verify_run(&forger.site.run(&run)).await;
    assert_eq!(report.verdict, Verdict::Proved, "{}", told(&report));
    let [flag] = report.flags.as_slice() else { panic!("{:?}", report.flags) };
    assert!(matches!(flag.link, Some(LinkName::Record { seq, .. }) if seq == from as u64));
    assert_eq!(kind(&forger.attacker.values(&Target::run(&run))[from]), "process.terminated");
}

// proves E-M02 E-A15
// break crates/control-plane/verify/src/stream.rs: `Err(fault) => findings.refute(link, fault.to_string()),` -> `Err(_) => {}`
#[tokio::test]
async fn every_known_attack_on_a_chain_comes_out_as_it_must() {
    let Some(path) = cases() else { return };
    let text = std::fs::read(path.join("chain_attacks.json")).unwrap();
    let attacks: Vec<Value> = serde_json::from_slice(&text).unwrap();
    assert!(attacks.len() >= 21);
    for attack in &attacks {
        replay(attack["id"].as_str().unwrap()).await;
    }
}
