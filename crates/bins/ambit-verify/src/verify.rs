use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ambit_bundle::{Bundle, MemberName, Names, NotedStore};
use ambit_ports::blobs::BlobStore;
use ambit_verify_trace::{Eligibility, Inventory, Report, Verdict, Verifier};
use serde::{Deserialize, Serialize};

use crate::engines::Engines;
use crate::refusal::Refusal;
use crate::{exit, trust_root};

/// The kind and version of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportKind {
    /// The first version.
    #[serde(rename = "BundleReport/v1")]
    V1,
}

/// What the verification of a bundle answers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleReport {
    /// The kind and version.
    pub kind: ReportKind,
    /// The checks, each proved, refuted or not checked, and the verdict of all of them.
    pub report: Report,
    /// How the run's revision stands, derived again by the function that the run used.
    pub eligibility: Option<Eligibility>,
    /// How many members the bundle has, the list of them aside.
    pub members: usize,
    /// The members that no check covers: nothing is said about what they hold.
    pub not_covered: Vec<String>,
}

impl BundleReport {
    /// The exit code: 0 where all is proved, 10 where something is refuted, 12 otherwise.
    #[must_use]
    pub const fn exit(&self) -> u8 {
        exit::of(self.report.verdict)
    }
}

/// Whether a bundle can hold a file of a name beside those that were asked for before.
pub(crate) fn fitting() -> impl FnMut(&[u8]) -> bool + Send {
    let mut names = Names::default();
    move |name| MemberName::of(name).is_ok_and(|name| names.take(&name).is_ok())
}

/// Verifies the bundle at `bundle`, a directory or a tar, by the keys of the file `root`.
///
/// # Errors
/// [`Refusal`] where there is nothing that could be verified.
pub fn verify(bundle: &Path, root: &Path) -> Result<BundleReport, Refusal> {
    let keys = trust_root::read(root)?;
    let bundle = Bundle::open(bundle).map_err(|error| Refusal::of_bundle(&error))?;
    let audit = bundle.audit().map_err(|error| Refusal::of_bundle(&error))?;
    let blobs: Arc<dyn BlobStore> = Arc::new(bundle.blobs());
    let store = Arc::new(NotedStore::over(Arc::new(bundle.store())));
    let verifier = Verifier::new(store.clone(), blobs.clone(), keys, Arc::new(Engines::new(blobs)));
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| {
        Refusal::of("VERIFIER_UNSTARTABLE", &error, "nothing was read; free memory, and do the same again")
    })?;
    let inventory = Inventory { present: audit.present, missing: audit.missing, altered: audit.altered };
    let run = bundle.run();
    let judged = runtime.block_on(verifier.verify_bundle(&run, &inventory, &mut fitting()));
    let mut covered: BTreeSet<String> = judged.readable;
    covered.extend(judged.report.covered.iter().map(|digest| bundle.blob_name(*digest)));
    if judged.report.verdict == Verdict::Proved {
        // What was only looked into is covered by nothing: of the others the chain holds to its head.
        covered.extend(store.streams().keys().flat_map(|stream| bundle.stream_names(stream)));
    }
    let not_covered = inventory.present.keys().filter(|name| !covered.contains(*name)).cloned().collect();
    Ok(BundleReport {
        kind: ReportKind::V1,
        report: judged.report,
        eligibility: judged.eligibility,
        members: inventory.present.len(),
        not_covered,
    })
}
