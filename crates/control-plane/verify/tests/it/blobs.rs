//! Every blob of the project, altered by one byte and taken away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, RunId};
use ambit_verify_trace::{LinkName, Report, Verdict, Verifier};

use crate::honest::told;
use crate::world::{self, Site, scope};

/// Every blob of the project by its digest, with its file.
fn blobs(site: &Site) -> BTreeMap<Digest, PathBuf> {
    let entries = |path: &Path| {
        let entries: Vec<PathBuf> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries
    };
    entries(&site.blobs_path(&scope()))
        .iter()
        .flat_map(|shard| entries(shard))
        .map(|file| (Digest::of(&std::fs::read(&file).unwrap()), file))
        .collect()
}

/// What a report says about a blob, and whether it refutes.
fn said(report: &Report, of: Digest) -> Vec<(String, bool)> {
    report
        .findings()
        .into_iter()
        .filter_map(|(_, finding)| match &finding.link {
            Some(LinkName::Blob { what, digest }) if *digest == of => Some((what.clone(), finding.refutes)),
            _ => None,
        })
        .collect()
}

/// The kind of thing in a name: `the standard output in the observation of unit attempt 1` is a standard output.
fn kind(what: &str) -> &'static str {
    let kinds = [
        "standard output",
        "standard error",
        "observation",
        "the output",
        "directory of the tree",
        "content of",
        "the blueprint",
        "execution profile",
        "policy set",
        "command catalog",
        "tool rules",
        "egress policy",
        "secret policy",
        "retention policy",
        "policy request",
        "proposed patch",
        "canonical patch",
        "sandbox manifest",
        "cancellation receipt",
        "destruction receipt",
        "exported trace",
        "signed decision",
        "view of a call",
        "the tests of",
    ];
    kinds.into_iter().find(|kind| what.contains(kind)).unwrap_or_else(|| panic!("another kind: {what}"))
}

async fn covering(verifier: &Verifier, site: &Site, runs: &[&RunId]) -> BTreeMap<Digest, RunId> {
    let mut covering = BTreeMap::new();
    for run in runs {
        let report = verifier.verify_run(&site.run(run)).await;
        assert_eq!(report.verdict, Verdict::Proved, "{}", told(&report));
        for digest in report.covered {
            covering.entry(digest).or_insert_with(|| (*run).clone());
        }
    }
    covering
}

// proves E-A14 E-M08
// break crates/control-plane/verify/src/vault.rs: `self.covered.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);` -> `let _ = &self.covered;`
#[tokio::test]
async fn nothing_lies_in_the_blobs_that_no_check_covers() {
    let (site, runs) = world::copy();
    let verifier = site.verifier().await;
    let covering = covering(&verifier, &site, &runs.all()).await;
    let read = |path: &Path| std::fs::read(path).unwrap();
    let blobs = blobs(&site);
    let kept: Vec<Vec<u8>> = blobs
        .iter()
        .filter(|(digest, _)| covering.contains_key(digest))
        .map(|(_, path)| read(path))
        .collect();
    for (digest, path) in &blobs {
        let bytes = read(path);
        let text = String::from_utf8_lossy(&bytes);
        // A process that ended in between leaves behind what it had kept and never recorded, and a trace that was
        // exported too early is the beginning of the one that counts.
        let left_behind = text.contains(runs.troubled.as_str())
            || kept.iter().any(|kept| kept.len() > bytes.len() && kept.starts_with(&bytes));
        assert!(covering.contains_key(digest) || left_behind, "{digest} is covered by nothing: {text}");
    }
    assert!(covering.len() > 60);
}

// proves E-A15 E-M02
// break crates/control-plane/verify/src/findings.rs: `let refutes = matches!(error, BlobError::Corrupt(_) | BlobError::TooLarge { .. });` -> `let refutes = false;`
#[tokio::test]
async fn a_blob_that_is_altered_or_gone_is_named_and_nothing_is_proved() {
    let (site, runs) = world::copy();
    let verifier = site.verifier().await;
    let covering = covering(&verifier, &site, &runs.all()).await;
    let mut kinds = BTreeSet::new();
    for (digest, path) in blobs(&site) {
        let Some(run) = covering.get(&digest).map(|run| site.run(run)) else { continue };
        let bytes = std::fs::read(&path).unwrap();
        let mut altered = bytes.clone();
        match altered.len() / 2 {
            0 => altered.push(b'x'),
            middle => altered[middle] ^= 1,
        }
        std::fs::write(&path, &altered).unwrap();
        let report = verifier.verify_run(&run).await;
        assert_eq!(report.verdict, Verdict::Refuted, "{digest} altered\n{}", told(&report));
        let named = said(&report, digest);
        assert!(named.iter().any(|(_, refutes)| *refutes), "{digest} altered\n{}", told(&report));
        kinds.extend(named.iter().map(|(what, _)| kind(what)));

        std::fs::remove_file(&path).unwrap();
        let report = verifier.verify_run(&run).await;
        assert_ne!(report.verdict, Verdict::Proved, "{digest} gone");
        assert!(!said(&report, digest).is_empty(), "{digest} gone\n{}", told(&report));
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(kinds.len(), 24, "every kind of blob was harmed: {kinds:?}");
    let report = verifier.verify_run(&site.run(&runs.completed)).await;
    assert_eq!(report.verdict, Verdict::Proved);
}
