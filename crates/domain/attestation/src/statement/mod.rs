//! The statement (in-toto Statement v1): what is said about which immutable things.

mod digest_set;
mod resource;

pub use digest_set::{DigestSet, GitObject, GitObjectError};
pub use resource::ResourceDescriptor;

use std::collections::BTreeSet;

use ambit_canonical::{CanonicalBytes, EncodeError, admit_within, encode};
use serde::{Deserialize, Serialize};

use crate::envelope::{PAYLOAD_BYTES, Payload, PayloadType, ReadError};
use crate::key::PublicKey;
use crate::predicate::Predicate;
use crate::wording::Name;

/// What `_type` says of a statement of this version.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// Something immutable that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What it is called within this statement. Whoever compares goes by the digests alone.
    pub name: Name,
    /// What it is.
    pub digest: DigestSet,
}

/// What somebody says about some subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement<P> {
    subject: Vec<Subject>,
    predicate: P,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<S, P> {
    #[serde(rename = "_type")]
    kind: String,
    subject: S,
    predicate_type: String,
    predicate: P,
}

/// What is looked at first, whatever else it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head {
    #[serde(rename = "_type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) predicate_type: String,
}

impl<P: Predicate> Statement<P> {
    /// Says `predicate` of these subjects.
    ///
    /// # Errors
    /// [`ReadError::Content`] where it would contradict itself, or be about nothing.
    pub fn new(subject: Vec<Subject>, predicate: P) -> Result<Self, ReadError> {
        if subject.is_empty() {
            return Err(ReadError::Content("a statement is about something"));
        }
        let names: BTreeSet<&Name> = subject.iter().map(|subject| &subject.name).collect();
        if names.len() != subject.len() {
            return Err(ReadError::Content("two subjects have one name"));
        }
        predicate.check().map_err(ReadError::Content)?;
        Ok(Self { subject, predicate })
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> &[Subject] {
        &self.subject
    }

    /// What it says.
    #[must_use]
    pub const fn predicate(&self) -> &P {
        &self.predicate
    }

    /// Whether it is about exactly this and nothing else.
    #[must_use]
    pub fn is_about(&self, digest: &DigestSet) -> bool {
        matches!(self.subject.as_slice(), [subject] if subject.digest.is_same(digest))
    }
}

impl<P: Predicate> Payload for Statement<P> {
    const TYPE: PayloadType = PayloadType::IN_TOTO;

    fn to_bytes(&self) -> Result<CanonicalBytes, EncodeError> {
        encode(&Written {
            kind: STATEMENT_TYPE.to_owned(),
            subject: &self.subject,
            predicate_type: P::TYPE.as_str().to_owned(),
            predicate: &self.predicate,
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let head: Head = read(bytes)?;
        if head.kind != STATEMENT_TYPE {
            return Err(ReadError::Kind { wanted: STATEMENT_TYPE, found: head.kind });
        }
        if head.predicate_type != P::TYPE.as_str() {
            return Err(ReadError::Kind { wanted: P::TYPE.as_str(), found: head.predicate_type });
        }
        let written: Written<Vec<Subject>, P> = read(bytes)?;
        Self::new(written.subject, written.predicate)
    }

    fn hint(key: &PublicKey) -> String {
        key.id().to_string()
    }
}

/// Reads a value of the strict subset. Members that the type does not name are passed over, as in-toto has it: what they add
/// can make nothing true that was not.
pub(crate) fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, ReadError> {
    admit_within(bytes, PAYLOAD_BYTES).map_err(|cause| ReadError::Shape(cause.into()))?;
    serde_json::from_slice(bytes).map_err(|cause| ReadError::Shape(EncodeError::Shape(cause)))
}
