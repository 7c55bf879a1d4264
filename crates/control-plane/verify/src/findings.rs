//! What a check finds while it runs, and how it thereby comes out.

use ambit_evidence::Link;
use ambit_ids::{Digest, vocabulary};
use ambit_ports::blobs::BlobError;

use crate::finding::{Finding, LinkName};

vocabulary!(
    /// How a check came out.
    Standing {
        /// It ran to its end, and everything held.
        Proved = "proved",
        /// Something is not as it must be.
        Refuted = "refuted",
        /// It did not run to its end. Never a proof.
        NotChecked = "not-checked",
    }
);

/// The most findings of one check that a report lists.
const LISTED: usize = 16;

/// What a check has found. It is a proof only if it stays empty to its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    /// Of a check that did not run.
    pub(crate) fn skipped(why: &str) -> Self {
        Self(vec![unsettled(None, why)])
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    pub(crate) fn refute(&mut self, link: LinkName, why: impl Into<String>) {
        self.push(refuting(link, why));
    }

    /// Takes a result apart: what it holds, or the finding that stands in its place.
    pub(crate) fn take<T>(&mut self, result: Result<T, Finding>) -> Option<T> {
        result.map_err(|finding| self.push(finding)).ok()
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn standing(&self) -> Standing {
        if self.0.iter().any(|finding| finding.refutes) {
            Standing::Refuted
        } else if self.0.is_empty() {
            Standing::Proved
        } else {
            Standing::NotChecked
        }
    }

    /// The first findings, those that refute before those that do not.
    pub(crate) fn into_listed(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|finding| !finding.refutes);
        self.0.truncate(LISTED);
        self.0
    }
}

/// Something is not as it must be.
pub(crate) fn refuting(link: LinkName, why: impl Into<String>) -> Finding {
    Finding { link: Some(link), why: why.into(), refutes: true }
}

/// Something could not be told.
pub(crate) fn unsettled(link: Option<LinkName>, why: impl Into<String>) -> Finding {
    Finding { link, why: why.into(), refutes: false }
}

/// The name of a record of a checked stream.
pub(crate) fn record_name(link: &Link) -> LinkName {
    LinkName::Record {
        stream: link.record.stream().to_string(),
        seq: link.record.seq,
        kind: Some(link.record.kind().to_owned()),
    }
}

pub(crate) fn blob_name(what: &str, digest: Digest) -> LinkName {
    LinkName::Blob { what: what.to_owned(), digest }
}

/// What a blob that cannot be had says about the check that needed it. An altered one refutes; one that is absent, or
/// could not be read, leaves the chain incomplete.
pub(crate) fn of_blob(what: &str, digest: Digest, error: &BlobError) -> Finding {
    let refutes = matches!(error, BlobError::Corrupt(_) | BlobError::TooLarge { .. });
    Finding { link: Some(blob_name(what, digest)), why: format!("{error} ({})", error.code()), refutes }
}
