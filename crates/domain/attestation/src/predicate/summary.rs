use std::collections::BTreeMap;

use ambit_ids::{Digest, vocabulary};
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType};
use crate::statement::ResourceDescriptor;
use crate::wording::{Moment, Name, Uri};

vocabulary!(
    /// Whether what was asked for holds.
    VerificationResult {
        /// It does.
        Passed = "PASSED",
        /// It does not.
        Failed = "FAILED",
    }
);

vocabulary!(
    /// What was found to hold. A level of SLSA is not among these words, since the rules behind none is enforced whole.
    Level {
        /// The revision may be previewed: every gate passed on it, in a run that is complete and bounded.
        PreviewReady = "ORG_SOURCE_PREVIEW_READY",
        /// Nothing.
        Failed = "FAILED",
    }
);

/// Whether a revision may be previewed (SLSA verification summary, version 1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerificationSummary {
    /// Who looked.
    pub verifier: Verifier,
    /// When.
    pub time_verified: Moment,
    /// What the revision is called.
    pub resource_uri: Uri,
    /// By which rules.
    pub policy: ResourceDescriptor,
    /// Every statement that was looked at, by the digest of its envelope.
    pub input_attestations: Vec<ResourceDescriptor>,
    /// What came of it.
    pub verification_result: VerificationResult,
    /// What holds.
    pub verified_levels: Vec<Level>,
}

/// Who looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verifier {
    /// The deployment.
    pub id: Uri,
    /// Its parts, by name, and their versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub version: BTreeMap<Name, Name>,
}

/// What was looked at.
#[derive(Clone, Debug)]
pub struct SummaryFacts {
    /// Who looked.
    pub deployment: Uri,
    /// The program and its version.
    pub program: (Name, Name),
    /// When.
    pub verified: Moment,
    /// What the revision is called.
    pub resource: Uri,
    /// By which rules.
    pub policy: (Uri, Digest),
    /// The digests of the envelopes, with what each is called.
    pub inputs: Vec<(Name, Digest)>,
    /// Whether the revision may be previewed.
    pub preview_ready: bool,
}

impl VerificationSummary {
    /// What these facts make of it.
    #[must_use]
    pub fn of_revision(facts: SummaryFacts) -> Self {
        let (verification_result, level) = match facts.preview_ready {
            true => (VerificationResult::Passed, Level::PreviewReady),
            false => (VerificationResult::Failed, Level::Failed),
        };
        let inputs = facts.inputs.into_iter().map(|(name, digest)| ResourceDescriptor::named(name, digest));
        Self {
            verifier: Verifier { id: facts.deployment, version: BTreeMap::from([facts.program]) },
            time_verified: facts.verified,
            resource_uri: facts.resource,
            policy: ResourceDescriptor::at(facts.policy.0, facts.policy.1),
            input_attestations: inputs.collect(),
            verification_result,
            verified_levels: vec![level],
        }
    }

    /// Whether it says that the revision may be previewed.
    #[must_use]
    pub fn says_preview_ready(&self) -> bool {
        self.verification_result == VerificationResult::Passed
            && self.verified_levels == [Level::PreviewReady]
    }
}

impl Predicate for VerificationSummary {
    const TYPE: PredicateType = PredicateType::VerificationSummary;

    fn check(&self) -> Result<(), &'static str> {
        let level = match self.verification_result {
            VerificationResult::Passed => Level::PreviewReady,
            VerificationResult::Failed => Level::Failed,
        };
        if self.verified_levels != [level] {
            return Err("the levels are not those of the result");
        }
        if self.policy.uri.is_none() || self.policy.digest.is_none() {
            return Err("the policy is not named by place and digest");
        }
        if self.input_attestations.iter().any(|input| input.digest.is_none()) {
            return Err("a statement that was looked at has no digest");
        }
        Ok(())
    }

    fn deployment(&self) -> Option<&Uri> {
        Some(&self.verifier.id)
    }
}
