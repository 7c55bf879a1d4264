//! What somebody could write who holds the log key as well: chains and heads that fit, a trace that is exported anew, a
//! project that names the new end. What is left then is that the story must fit together.

use ambit_canonical::encode;
use ambit_evidence::head_message;
use ambit_ids::{Digest, RevisionId, RunId};
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::signer::{KeyRole, Signer as _};
use ambit_ports::store::{Seq, SignedHead};
use ambit_verify_trace::{CheckId, LinkName, Report, Verdict};
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::attack::{Attacker, Row, Target, chained, kind};
use crate::honest::told;
use crate::world::{self, Consents, Runs, Site, scope};

/// Somebody who holds everything but the approver's credential.
pub(crate) struct Forger {
    pub(crate) site: Site,
    pub(crate) attacker: Attacker,
    pub(crate) runs: Runs,
}

impl Forger {
    pub(crate) fn new() -> Self {
        let (site, runs) = world::copy();
        let attacker = Attacker::of(&site);
        Self { site, attacker, runs }
    }

    /// The same in the world in which approvals end.
    pub(crate) fn of_consents() -> (Self, Consents) {
        let (site, consents) = world::copy_of_consents();
        let attacker = Attacker::of(&site);
        let runs = Runs {
            completed: consents.used.clone(),
            second: consents.revoked.clone(),
            cancelled: consents.withdrawn.clone(),
            denied: consents.used.clone(),
            troubled: consents.used.clone(),
            expired: consents.used.clone(),
            exhausted: consents.used.clone(),
            shrunk: consents.used.clone(),
            foreign: consents.used.clone(),
        };
        (Self { site, attacker, runs }, consents)
    }

    pub(crate) async fn sign(&self, target: &Target, rows: &[Row]) {
        let (seq, leaf) = (rows.len() as u64 - 1, rows[rows.len() - 1].1);
        let message = head_message(&target.name(), seq, leaf);
        let signature = self.site.signer.sign(KeyRole::Log, &message).await.unwrap();
        self.attacker.put(target, rows);
        self.attacker.set_head(target, &SignedHead { seq: Seq(seq), leaf, signature });
    }

    pub(crate) async fn keep(&self, value: &impl Serialize) -> Digest {
        self.keep_bytes(encode(value).unwrap().into_bytes()).await
    }

    pub(crate) async fn keep_bytes(&self, bytes: Vec<u8>) -> Digest {
        self.site.blobs.put(&scope(), Bytes::from(bytes)).await.unwrap()
    }

    pub(crate) async fn kept(&self, digest: &Value) -> Value {
        let digest: Digest = digest.as_str().unwrap().parse().unwrap();
        serde_json::from_slice(&std::fs::read(self.site.blob_path(&scope(), digest)).unwrap()).unwrap()
    }

    /// Writes a run and its project anew, so that every link and head fits what `write` made of the records.
    pub(crate) async fn rewrite(&self, run: &RunId, write: impl FnOnce(&mut Vec<Value>, &mut Vec<Value>)) {
        let (own, whole) = (Target::run(run), Target::project());
        let (mut records, mut project) = (self.attacker.values(&own), self.attacker.values(&whole));
        let origin = self
            .attacker
            .rows(&whole)
            .iter()
            .position(|(_, leaf)| records[0]["prev"] == leaf.to_string().as_str())
            .unwrap();
        let origin = project[origin]["salt"].clone();
        let leaves = self.attacker.rows(&whole);
        for record in &mut records {
            let named = record["precondition"].get("project").cloned();
            let at = named
                .and_then(|named| leaves.iter().position(|(_, leaf)| named == leaf.to_string().as_str()));
            if let Some(at) = at {
                record["precondition"]["project"] = project[at]["salt"].clone();
            }
        }
        write(&mut records, &mut project);

        let first = project.iter().position(|value| value["salt"] == origin);
        let rows = chained(project.clone(), 0);
        if let Some(first) = first {
            records[0]["prev"] = rows[first].1.to_string().into();
        }
        // What a record knew of the project is named by the salt of its newest record until here.
        for record in &mut records {
            let Some(salt) = record["precondition"].get("project").cloned() else { continue };
            let newest = project.iter().position(|value| value["salt"] == salt);
            let leaf = newest.map_or_else(|| digest("gone"), |at| rows[at].1.to_string().into());
            record["precondition"]["project"] = leaf;
        }
        let rows = self.with_export(records).await;
        self.sign(&own, &rows).await;

        let last = rows.len() - 1;
        for closed in project.iter_mut().filter(|value| value["body"]["run"] == run.as_str()) {
            closed["artifact"] = rows[last].1.to_string().into();
            closed["body"]["leaf"] = rows[last].1.to_string().into();
            closed["body"]["lastSeq"] = last.into();
        }
        self.sign(&whole, &chained(project, 0)).await;
    }

    /// Chains records, and exports the trace again where they say that it was exported.
    pub(crate) async fn with_export(&self, mut records: Vec<Value>) -> Vec<Row> {
        for at in 0..records.len() {
            if kind(&records[at]) == "artifact.exported" {
                let before = chained(records[..at].to_vec(), 0);
                let mut trace = Vec::new();
                for (bytes, _) in &before {
                    trace.extend_from_slice(bytes);
                    trace.push(b'\n');
                }
                let artifact = self.keep_bytes(trace).await.to_string();
                records[at]["body"]["artifact"] = artifact.clone().into();
                records[at]["artifact"] = artifact.into();
            }
        }
        chained(records, 0)
    }

    pub(crate) async fn judge(&self, run: &RunId) -> Report {
        let verifier = self.site.verifier().await;
        let report = verifier.verify_run(&self.site.run(run)).await;
        let eligible = verifier.eligible(&scope(), self.revision(run)).await;
        assert_eq!(eligible.is_eligible(), report.verdict == Verdict::Proved && self.has_completed(run));
        report
    }

    pub(crate) fn revision(&self, run: &RunId) -> RevisionId {
        let number = self.runs.all().iter().position(|known| *known == run).unwrap();
        RevisionId::new(u32::try_from(number).unwrap() + 1)
    }

    pub(crate) fn has_completed(&self, run: &RunId) -> bool {
        [&self.runs.completed, &self.runs.second].contains(&run)
    }

    /// Rewrites the completed run and holds the verdict to a check and the kind of the record that it names.
    pub(crate) async fn expect(
        &self,
        what: &str,
        check: CheckId,
        named: &str,
        write: impl FnOnce(&mut Vec<Value>),
    ) {
        let run = self.runs.completed.clone();
        self.rewrite(&run, |records, _| write(records)).await;
        self.expect_named(what, &run, check, named).await;
    }

    pub(crate) async fn expect_named(&self, what: &str, run: &RunId, check: CheckId, named: &str) {
        let report = self.judge(run).await;
        assert_eq!(report.verdict, Verdict::Refuted, "{what}\n{}", told(&report));
        for id in [CheckId::ProjectChain, CheckId::ProjectHead, CheckId::RunChain, CheckId::RunHead] {
            assert!(
                report.check(id).unwrap().findings.is_empty(),
                "{what}: the chains fit\n{}",
                told(&report)
            );
        }
        let findings = &report.check(check).unwrap().findings;
        let names = |link: &LinkName| match link {
            LinkName::Record { kind, .. } => kind.as_deref() == Some(named),
            LinkName::Blob { what, .. } | LinkName::Document { what, .. } => what.contains(named),
            LinkName::Approval { .. } => named == "approval",
            LinkName::Revision { .. } => named == "revision",
            LinkName::Head { .. } | LinkName::Closing { .. } | LinkName::Member { .. } => false,
        };
        assert!(
            findings.iter().any(|finding| finding.refutes && finding.link.as_ref().is_some_and(names)),
            "{what} must be told as {check} at {named}\n{}",
            told(&report)
        );
        self.attacker.restore();
    }
}

/// The position of the nth record of a kind.
pub(crate) fn nth(records: &[Value], wanted: &str, n: usize) -> usize {
    let mut found = records.iter().enumerate().filter(|(_, value)| kind(value) == wanted);
    found.nth(n).map(|(at, _)| at).unwrap_or_else(|| panic!("no {wanted} {n}"))
}

/// The position of the decision about the nth call of a tool.
pub(crate) fn nth_call(records: &[Value], tool: &str, n: usize) -> usize {
    let mut found = records
        .iter()
        .enumerate()
        .filter(|(_, value)| kind(value) == "tool.decided" && value["body"]["call"]["tool"] == tool);
    found.nth(n).map(|(at, _)| at).unwrap()
}

pub(crate) fn digest(text: &str) -> Value {
    Digest::of(text.as_bytes()).to_string().into()
}
