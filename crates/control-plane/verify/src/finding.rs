//! What keeps a check from being proved, by the link of the chain where it stands.

use std::fmt;

use ambit_ids::{BlueprintId, Digest, RevisionId, RunId};
use serde::{Deserialize, Serialize};

/// A link of the causal chain, by which a finding says where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum LinkName {
    /// A record.
    Record {
        /// The stream, as `organization/project/run`.
        stream: String,
        /// The position.
        seq: u64,
        /// The kind, where the record says one.
        kind: Option<String>,
    },
    /// The signed head of a stream.
    Head {
        /// The stream.
        stream: String,
    },
    /// Bytes under a digest.
    Blob {
        /// What they should be.
        what: String,
        /// Their digest.
        digest: Digest,
    },
    /// A document whose bytes are there and whose content does not fit.
    Document {
        /// What it should be.
        what: String,
        /// Its digest.
        digest: Digest,
    },
    /// The approval of a blueprint.
    Approval {
        /// The blueprint.
        blueprint: BlueprintId,
        /// The digest that must be approved.
        digest: Digest,
    },
    /// A revision.
    Revision {
        /// The revision.
        revision: RevisionId,
    },
    /// The record by which a project binds the end of a run.
    Closing {
        /// The run.
        run: RunId,
    },
    /// A member of an evidence bundle.
    Member {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for LinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record { stream, seq, kind: Some(kind) } => write!(f, "record {seq} ({kind}) of {stream}"),
            Self::Record { stream, seq, kind: None } => write!(f, "record {seq} of {stream}"),
            Self::Head { stream } => write!(f, "the head of {stream}"),
            Self::Blob { what, digest } | Self::Document { what, digest } => write!(f, "{what} {digest}"),
            Self::Approval { blueprint, digest } => write!(f, "the approval of {blueprint} {digest}"),
            Self::Revision { revision } => write!(f, "{revision}"),
            Self::Closing { run } => write!(f, "the record that closes {run}"),
            Self::Member { name } => write!(f, "the member {name}"),
        }
    }
}

/// Something that keeps a check from being proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finding {
    /// The link; `None` where it is about no single one.
    pub link: Option<LinkName>,
    /// What is wrong, or why nothing could be told.
    pub why: String,
    /// Whether it refutes the check, and does not merely keep it from running.
    pub refutes: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.link {
            Some(link) => write!(f, "{link}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}
