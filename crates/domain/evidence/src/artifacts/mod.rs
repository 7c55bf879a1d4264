//! Everything that a run made, in one document: which trees, which patch, which files, what the gates said, where their
//! output is, what was approved and what was used.
//!
//! The document is canonical JSON (RFC 8785), so that a value has exactly one spelling and reading it gives back what was
//! written, or a typed error. It refers to contents by digest and holds none.

mod error;
mod schema;

use ambit_gates::{Ending, Objection};
use ambit_ids::{ByteCount, Digest, DurationMs, GateId, ProposalId, ReceiptId, RevisionId, RunId, UnixMs};
use ambit_policy::Capability;
use ambit_revision::TouchedFile;
use ambit_run::Phase;
use serde::{Deserialize, Serialize};

use crate::v1::{AmountsV1, LimitsV1, PatchV1, StopReasonV1};

pub use error::ArtifactsError;
pub use schema::schema;

/// The name under which the schema is listed.
pub const KIND: &str = "RunArtifacts";
/// The largest document that is read or written, in bytes.
pub const DOCUMENT_BYTES: usize = 16 << 20;

/// What a run made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunArtifacts {
    /// [`KIND`], in this version of its shape.
    pub kind: DocumentKind,
    /// The run.
    pub run: RunId,
    /// The phase that it is in.
    pub phase: Phase,
    /// Why it ended, where it has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop: Option<StopReasonV1>,
    /// Whether its revision is preview-ready.
    pub preview_ready: bool,
    /// The digest of the blueprint that it was admitted under.
    pub blueprint: Digest,
    /// What it started from.
    pub base: TreeReference,
    /// What it led to.
    pub head: TreeReference,
    /// What turns the one into the other.
    pub patch: PatchReference,
    /// The files that differ between the two, sorted by path.
    pub touched: Vec<TouchedFile>,
    /// Every execution of a gate, in order, and then every one of a hidden check.
    pub verification: Vec<Check>,
    /// Every call that was held back for a person, by the id of its proposal.
    pub approvals: Vec<Approval>,
    /// What could be used, and what was.
    pub budget: Budget,
}

/// The kind and version of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DocumentKind {
    /// The first version.
    #[serde(rename = "RunArtifacts/v1")]
    V1,
}

/// A revision with its tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TreeReference {
    /// The revision.
    pub revision: RevisionId,
    /// The digest of its tree.
    pub tree: Digest,
    /// The commit of git that it was imported from, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<GitCommit>,
}

/// The name of a commit of git: 40 or 64 lowercase hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GitCommit(String);

/// The text is no name of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a commit is named by 40 or 64 lowercase hexadecimal digits")]
pub struct GitCommitError;

/// The patch from the base to the head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PatchReference {
    /// The digest of the canonical patch, derived from the two trees.
    pub digest: Digest,
    /// Its size.
    pub size_bytes: ByteCount,
    /// The patches that led there one after the other, as they were proposed.
    pub applied: Vec<PatchV1>,
}

/// One execution of a gate or of a hidden check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Check {
    /// The gate.
    pub gate: GateId,
    /// Which execution of it, counted from 1.
    pub attempt: u32,
    /// Whether it is a check that the agent does not know of.
    pub hidden: bool,
    /// The program and its arguments, as the catalog names them.
    pub command: Vec<String>,
    /// What it says of the tree.
    pub verdict: CheckVerdict,
    /// The exit code, where the command ended by itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<u8>,
    /// How it ended.
    pub ending: Ending,
    /// What takes from it that it exited with 0.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub objections: Vec<Objection>,
    /// The digest of the tree that it ran on.
    pub tree: Digest,
    /// From start to end.
    pub duration_ms: DurationMs,
    /// The digest of the whole observation.
    pub observation: Digest,
    /// Its standard output.
    pub stdout: LogReference,
    /// Its standard error.
    pub stderr: LogReference,
}

/// What an execution says of its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// It exited with 0, and nothing objects to that.
    Passed,
    /// Anything else.
    Failed,
}

/// Where a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogReference {
    /// The digest of what was kept.
    pub digest: Digest,
    /// Its size.
    pub size_bytes: ByteCount,
    /// Whether the limit on output was reached, so that the command may have written more.
    pub cut: bool,
}

/// A call that was held back for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// The proposal.
    pub proposal: ProposalId,
    /// What it needs.
    pub capability: Capability,
    /// The digest of the patch that it is about.
    pub patch: Digest,
    /// The digest of the tree that would result.
    pub tree: Digest,
    /// What was granted, where it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub granted: Option<Grant>,
}

/// An approval that was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    /// The receipt.
    pub receipt: ReceiptId,
    /// When it ends.
    pub expires_ms: UnixMs,
    /// Whether it was used. It is used once.
    pub used: bool,
}

/// What could be used, and what was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// The limits.
    pub limits: LimitsV1,
    /// What was used of the additive ones.
    pub spent: AmountsV1,
}

impl RunArtifacts {
    /// Reads a document.
    ///
    /// # Errors
    /// [`ArtifactsError`] where it is too large, no JSON, of another shape, spelled another way than
    /// [`to_bytes`](Self::to_bytes) spells it, or contradicts itself.
    pub fn read(bytes: &[u8]) -> Result<Self, ArtifactsError> {
        let artifacts: Self =
            ambit_canonical::decode(bytes, DOCUMENT_BYTES).map_err(ArtifactsError::of_reading)?;
        artifacts.check()?;
        Ok(artifacts)
    }

    /// The document.
    ///
    /// # Errors
    /// [`ArtifactsError`] where it would not be read again: it is too large, holds a number past 2^53 - 1, or contradicts
    /// itself.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArtifactsError> {
        self.check()?;
        let bytes = ambit_canonical::encode(self).map_err(ArtifactsError::Unwritable)?.into_bytes();
        if bytes.len() > DOCUMENT_BYTES {
            return Err(ArtifactsError::TooLarge { found: bytes.len(), limit: DOCUMENT_BYTES });
        }
        Ok(bytes)
    }

    /// What the shape alone does not say: no execution passed that did not exit with 0 or is objected to, and files stand
    /// once.
    fn check(&self) -> Result<(), ArtifactsError> {
        if !self.touched.is_sorted_by(|one, other| one.path < other.path) {
            return Err(ArtifactsError::Contradiction("touched files"));
        }
        let is_told_rightly = |check: &Check| {
            let exit = match check.ending {
                Ending::Exited { code } => Some(code),
                _ => None,
            };
            check.exit == exit && check.verdict == CheckVerdict::of(check.ending, &check.objections)
        };
        if !self.verification.iter().all(is_told_rightly) {
            return Err(ArtifactsError::Contradiction("verification"));
        }
        Ok(())
    }
}

impl CheckVerdict {
    /// What an ending says, and what is objected to it.
    #[must_use]
    pub const fn of(ending: Ending, objections: &[Objection]) -> Self {
        if ending.is_success() && objections.is_empty() { Self::Passed } else { Self::Failed }
    }
}

impl TryFrom<String> for GitCommit {
    type Error = GitCommitError;

    fn try_from(text: String) -> Result<Self, GitCommitError> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if matches!(text.len(), 40 | 64) && text.bytes().all(is_digit) {
            Ok(Self(text))
        } else {
            Err(GitCommitError)
        }
    }
}

impl From<GitCommit> for String {
    fn from(commit: GitCommit) -> Self {
        commit.0
    }
}
