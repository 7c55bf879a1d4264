//! The verification of one run from a bundle of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ambit_evidence::fold;
use ambit_ids::Digest;
use ambit_ports::store::RunRef;

use crate::eligible::{Eligibility, judged};
use crate::finding::{Finding, LinkName};
use crate::findings::{Findings, unsettled};
use crate::readable::{Fits, Readable, files};
use crate::report::{CheckId, Report};
use crate::run::Inspection;
use crate::stream::Stream;
use crate::vault::Vault;
use crate::verifier::Verifier;

/// What lies in a bundle, beside the list of its members.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// What is there, each with the digest of its bytes.
    pub present: BTreeMap<String, Digest>,
    /// What is listed and not there.
    pub missing: Vec<String>,
    /// What is there and not what is listed.
    pub altered: Vec<String>,
}

/// What the verification of a bundle came to.
#[derive(Clone, Debug)]
pub struct BundleJudgement {
    /// The checks of the run, and those of the bundle as one.
    pub report: Report,
    /// How the revision of the run stands, derived again; `None` where no record tells of one.
    pub eligibility: Option<Eligibility>,
    /// The members for people that are exactly what records and blobs make.
    pub readable: BTreeSet<String>,
}

impl Verifier {
    /// The files of a run that people read, by their names in a bundle. `fits` says whether a bundle can hold a file of a
    /// name that is not ours; what it cannot hold is listed in one of the files.
    ///
    /// # Errors
    /// A finding where records or blobs do not make them.
    pub async fn readable(
        &self,
        run: &RunRef,
        fits: Fits<'_>,
    ) -> Result<BTreeMap<String, Readable>, Finding> {
        let (_, stream) = self.streams(run).await;
        self.files(&stream, &Arc::new(Vault::new(self.blobs.clone())), fits).await
    }

    async fn files(
        &self,
        stream: &Stream,
        vault: &Arc<Vault>,
        fits: Fits<'_>,
    ) -> Result<BTreeMap<String, Readable>, Finding> {
        if stream.links.is_empty() {
            return Err(unsettled(None, "the records do not form a chain"));
        }
        let state = fold(&stream.links).map_err(|error| {
            crate::findings::refuting(stream.head_name(), format!("its records make no run: {error}"))
        })?;
        files(&state, &stream.links, vault, fits).await
    }

    /// Derives everything about a run again from a bundle, and holds what lies in the bundle against it.
    pub async fn verify_bundle(
        &self,
        run: &RunRef,
        inventory: &Inventory,
        fits: Fits<'_>,
    ) -> BundleJudgement {
        let (project, stream) = self.streams(run).await;
        let Inspection { report, eligibility } = self.inspect(run, &project, &stream).await;
        let vault = Arc::new(Vault::new(self.blobs.clone()));
        let mut readable = BTreeSet::new();
        let found = match self.files(&stream, &vault, fits).await {
            Ok(files) => compare(&files, inventory, &mut readable),
            Err(finding) => {
                let mut findings = Findings::default();
                findings.push(finding);
                findings
            }
        };
        let mut report =
            report.and(CheckId::BundleMembers, members(inventory)).and(CheckId::BundleReadable, found);
        report.covered.extend(vault.covered());
        let revision = self.opened(&run.scope, &run.run).await.ok().flatten();
        let judge = |revision| {
            let inspection = Inspection { report: report.clone(), eligibility };
            Eligibility { report: None, ..judged(revision, run, inspection, &project, &stream) }
        };
        let eligibility = revision.map(judge);
        BundleJudgement { report, eligibility, readable }
    }
}

fn member(name: &str) -> LinkName {
    LinkName::Member { name: name.to_owned() }
}

fn members(inventory: &Inventory) -> Findings {
    let mut findings = Findings::default();
    for name in &inventory.altered {
        findings.refute(member(name), "it has another digest than the one that the bundle lists");
    }
    for name in &inventory.missing {
        findings.push(unsettled(Some(member(name)), "the bundle lists it and does not have it"));
    }
    findings
}

/// Holds the members for people against what they are made from.
fn compare(
    files: &BTreeMap<String, Readable>,
    inventory: &Inventory,
    readable: &mut BTreeSet<String>,
) -> Findings {
    let mut findings = Findings::default();
    for (name, made) in files {
        match inventory.present.get(name) {
            Some(found) if *found == made.digest() => {
                readable.insert(name.clone());
            }
            Some(_) => findings.refute(member(name), "records and blobs make another file"),
            None => findings.push(unsettled(Some(member(name)), "it is not in the bundle")),
        }
    }
    findings
}
