//! What statements say: a closed list of types, each read and written in its own module.

mod approval;
mod cleanup;
mod denial;
mod link;
mod manifest;
mod provenance;
mod summary;
mod test_result;

pub use approval::{ApprovalReceipt, Approver, Decision, RECEIPT_MS, RunScope};
pub use cleanup::CleanupProof;
pub use denial::{DenialProbe, Denied};
pub use link::{Link, Material};
pub use manifest::{Lack, SandboxManifest};
pub use provenance::{
    BuildDefinition, BuildMetadata, Builder, ExternalParameters, InternalParameters, Provenance,
    RUN_BUILD_TYPE, RunDetails, RunFacts,
};
pub use summary::{Level, SummaryFacts, VerificationResult, VerificationSummary, Verifier};
pub use test_result::{GateFacts, Outcome, TestResult};

use ambit_ids::vocabulary;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wording::Uri;

vocabulary!(
    /// The types of statements that are made and read here. Those of others are spelled as others do, and ours carry a version:
    /// a type never changes its meaning.
    PredicateType {
        /// How a revision came to be (SLSA).
        Provenance = "https://slsa.dev/provenance/v1",
        /// How a gate ended (in-toto).
        TestResult = "https://in-toto.io/attestation/test-result/v0.1",
        /// Whether a revision may be previewed (SLSA).
        VerificationSummary = "https://slsa.dev/verification_summary/v1",
        /// What a step took and what it made (in-toto).
        Link = "https://in-toto.io/attestation/link/v0.3",
        /// What a person decided about exactly which proposal.
        ApprovalReceipt = "urn:ambit:attestation:approval-receipt:v1",
        /// What was measured of a sandbox.
        SandboxManifest = "urn:ambit:attestation:sandbox-manifest:v1",
        /// What a sandbox was denied, beside what it was allowed.
        DenialProbe = "urn:ambit:attestation:denial-probe:v1",
        /// That nothing of a sandbox is left.
        CleanupProof = "urn:ambit:attestation:cleanup-proof:v1",
    }
);

/// What a statement of one type says. The list is closed: which key may sign a type is decided here, not by whoever brings one.
pub trait Predicate: Serialize + DeserializeOwned + sealed::Sealed {
    /// Its type.
    const TYPE: PredicateType;

    /// Holds what it says against itself.
    ///
    /// # Errors
    /// What it contradicts or lacks.
    fn check(&self) -> Result<(), &'static str>;

    /// The deployment that it says it is of, for those types that say so.
    fn deployment(&self) -> Option<&Uri>;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Provenance {}
    impl Sealed for super::TestResult {}
    impl Sealed for super::VerificationSummary {}
    impl Sealed for super::Link {}
    impl Sealed for super::ApprovalReceipt {}
    impl Sealed for super::SandboxManifest {}
    impl Sealed for super::DenialProbe {}
    impl Sealed for super::CleanupProof {}
}

fn all_refer(resources: &[crate::ResourceDescriptor]) -> Result<(), &'static str> {
    let all = resources.iter().all(crate::ResourceDescriptor::refers);
    all.then_some(()).ok_or("a reference names neither a digest nor a place")
}
