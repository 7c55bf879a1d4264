//! What every document has in common: its version, its kind, its canonical bytes.

use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_ids::{DocumentName, limits, vocabulary};
use serde::Serialize;

use crate::cursor::{Cursor, Fields, Read};
use crate::problem::{DocumentError, Finding, ProblemCode};
use crate::suggest::quoted;

/// The version of the shape of every document here.
pub const API_VERSION: &str = "coding-agent.enterprise/v1";

vocabulary!(
    /// The kinds of documents.
    DocumentKind {
        /// What is to be built, within which bounds.
        Blueprint = "Blueprint",
        /// What a backend must prove before a run is allocated on it.
        ExecutionCapabilityProfile = "ExecutionCapabilityProfile",
        /// The commands that gates name.
        NamedCommandCatalog = "NamedCommandCatalog",
        /// One subject of policy.
        PolicyBundle = "PolicyBundle",
    }
);

/// The name and version of a document other than a blueprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// Its name, as references to it spell it.
    pub name: DocumentName,
    /// Its version, from 1.
    pub version: u32,
}

impl Metadata {
    pub(crate) fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let mut fields = cursor.fields()?;
        let name = fields.required("name").and_then(|c| c.parsed());
        let version = fields.required("version").and_then(|c| read_version(&c));
        fields.finish()?;
        Ok(Self { name: name?, version: version? })
    }
}

pub(crate) fn read_version(cursor: &Cursor<'_>) -> Read<u32> {
    cursor.count(1..=u32::MAX)
}

/// The members of a document's top level.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope<'a, M, S> {
    pub(crate) api_version: &'static str,
    pub(crate) kind: DocumentKind,
    pub(crate) metadata: &'a M,
    pub(crate) spec: &'a S,
}

/// Reads the top level of a document of a known kind.
pub(crate) fn read_envelope<M, S>(
    cursor: &Cursor<'_>,
    wanted: DocumentKind,
    metadata: impl FnOnce(&Cursor<'_>) -> Read<M>,
    spec: impl FnOnce(&Cursor<'_>) -> Read<S>,
) -> Read<(M, S)> {
    let mut fields = cursor.fields()?;
    let kind = read_kind(&mut fields)?;
    if kind != wanted {
        let found = fields.required("kind")?;
        let message = format!("the document is a {kind}, where a {wanted} is wanted");
        return Err(found.refuse(Finding::new(ProblemCode::WrongKind, message, "")));
    }
    let metadata = fields.required("metadata").and_then(|c| metadata(&c));
    let spec = fields.required("spec").and_then(|c| spec(&c));
    fields.finish()?;
    Ok((metadata?, spec?))
}

/// The kind of a document of this version. Without it nothing else of the document can be understood.
pub(crate) fn read_kind(fields: &mut Fields<'_>) -> Read<DocumentKind> {
    let version = fields.at_once("apiVersion")?;
    let text = version.exact_text()?;
    if text != API_VERSION {
        let message = format!("the version {} of documents is not known", quoted(text));
        let finding = Finding::new(ProblemCode::UnknownVersion, message, format!("write `{API_VERSION}`"));
        return Err(version.refuse(finding));
    }
    fields.at_once("kind")?.word()
}

/// Refuses a document whose canonical bytes are more than a document may have: it could not be read back.
pub(crate) fn within_limit<T>(
    file: &str,
    bytes: &[u8],
    document: T,
    to_canonical: impl FnOnce(&T) -> Result<CanonicalBytes, EncodeError>,
) -> Result<T, DocumentError> {
    let problem = match to_canonical(&document) {
        Ok(canonical) if canonical.as_bytes().len() <= limits::DOCUMENT_BYTES => return Ok(document),
        Ok(canonical) => format!(
            "the document has {} bytes in canonical form, and {} are allowed",
            canonical.as_bytes().len(),
            limits::DOCUMENT_BYTES
        ),
        Err(error) => format!("the document has no canonical form: {error}"),
    };
    Err(DocumentError::whole(
        file,
        bytes,
        Finding::new(ProblemCode::TooLarge, problem, "nothing of it is used"),
    ))
}

/// Gives a document type its reading, its canonical bytes and its digest.
macro_rules! document {
    ($name:ident, $kind:expr) => {
        impl $name {
            /// Reads a document of this kind from YAML or JSON. `file` is the name under which problems are told.
            ///
            /// # Errors
            /// [`DocumentError`](crate::DocumentError) with every problem that was found, each with its place.
            pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, crate::DocumentError> {
                let document = crate::cursor::read_document(file, bytes, Self::read)?;
                crate::envelope::within_limit(file, bytes, document, Self::to_canonical)
            }

            /// The canonical bytes (RFC 8785): equal for every spelling of one document, and a spelling of it
            /// themselves. Options that may be absent stand with their default, money in micro-dollars.
            ///
            /// # Errors
            /// [`EncodeError`](ambit_canonical::EncodeError) where a value was changed after it was read, so that no
            /// document could hold it.
            pub fn to_canonical(
                &self,
            ) -> Result<ambit_canonical::CanonicalBytes, ambit_canonical::EncodeError> {
                ambit_canonical::encode(self)
            }

            /// The digest of the canonical bytes: what is approved, and what a run is pinned to.
            ///
            /// # Errors
            /// As [`Self::to_canonical`].
            pub fn digest(&self) -> Result<ambit_ids::Digest, ambit_canonical::EncodeError> {
                Ok(self.to_canonical()?.digest())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let envelope = crate::envelope::Envelope {
                    api_version: crate::envelope::API_VERSION,
                    kind: $kind,
                    metadata: &self.metadata,
                    spec: &self.spec,
                };
                envelope.serialize(serializer)
            }
        }
    };
}
pub(crate) use document;
