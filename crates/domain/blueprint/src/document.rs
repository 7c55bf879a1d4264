//! What every document has in common: its version, its kind, its canonical bytes.

use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_ids::{Digest, DocumentName, limits, vocabulary};
use serde::Serialize;

use crate::cursor::{Cursor, Fields, Read, read_document};
use crate::policy_set::{PolicyKey, PolicySubject};
use crate::problem::{DocumentError, Finding, ProblemCode};
use crate::suggest::quoted;
use crate::{Blueprint, ExecutionCapabilityProfile, NamedCommandCatalog, PolicyBundle, PolicyRules};

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

/// A document of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// A blueprint.
    Blueprint(Box<Blueprint>),
    /// An execution profile.
    Profile(Box<ExecutionCapabilityProfile>),
    /// A catalog of named commands.
    Catalog(NamedCommandCatalog),
    /// A policy bundle.
    Bundle(PolicyBundle),
}

impl Document {
    /// Reads a document of any kind from YAML or JSON. `file` is the name under which problems are told.
    ///
    /// # Errors
    /// [`DocumentError`] with every problem that was found, each with its place.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        within_limit(file, bytes, read_document(file, bytes, Self::read)?, Self::to_canonical)
    }

    fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let mut fields = cursor.fields()?;
        let kind = read_kind(&mut fields)?;
        Ok(match kind {
            DocumentKind::Blueprint => Self::Blueprint(Box::new(Blueprint::read(cursor)?)),
            DocumentKind::ExecutionCapabilityProfile => {
                Self::Profile(Box::new(ExecutionCapabilityProfile::read(cursor)?))
            }
            DocumentKind::NamedCommandCatalog => Self::Catalog(NamedCommandCatalog::read(cursor)?),
            DocumentKind::PolicyBundle => Self::Bundle(PolicyBundle::read(cursor)?),
        })
    }

    /// The kind of the document.
    #[must_use]
    pub const fn kind(&self) -> DocumentKind {
        match self {
            Self::Blueprint(_) => DocumentKind::Blueprint,
            Self::Profile(_) => DocumentKind::ExecutionCapabilityProfile,
            Self::Catalog(_) => DocumentKind::NamedCommandCatalog,
            Self::Bundle(_) => DocumentKind::PolicyBundle,
        }
    }

    /// The name in the document's metadata.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Blueprint(blueprint) => blueprint.metadata.name.as_str(),
            Self::Profile(profile) => profile.metadata.name.as_str(),
            Self::Catalog(catalog) => catalog.metadata.name.as_str(),
            Self::Bundle(bundle) => bundle.metadata.name.as_str(),
        }
    }

    /// What a [`PolicyRef`](crate::PolicyRef) would have to name to mean this document; `None` for a blueprint or a
    /// profile, which no reference can mean.
    #[must_use]
    pub fn policy_key(&self) -> Option<PolicyKey> {
        let (subject, metadata) = match self {
            Self::Blueprint(_) | Self::Profile(_) => return None,
            Self::Catalog(catalog) => (PolicySubject::Commands, &catalog.metadata),
            Self::Bundle(bundle) => {
                let subject = match bundle.spec {
                    PolicyRules::ToolRules(_) => PolicySubject::ToolRules,
                    PolicyRules::Egress(_) => PolicySubject::Egress,
                    PolicyRules::Secrets(_) => PolicySubject::Secrets,
                    PolicyRules::Retention(_) => PolicySubject::Retention,
                };
                (subject, &bundle.metadata)
            }
        };
        Some(PolicyKey { subject, name: metadata.name.clone(), version: metadata.version })
    }

    /// The canonical bytes: equal for every spelling of one document.
    ///
    /// # Errors
    /// [`EncodeError`] where a value was changed after it was read, so that no document could hold it.
    pub fn to_canonical(&self) -> Result<CanonicalBytes, EncodeError> {
        match self {
            Self::Blueprint(blueprint) => blueprint.to_canonical(),
            Self::Profile(profile) => profile.to_canonical(),
            Self::Catalog(catalog) => catalog.to_canonical(),
            Self::Bundle(bundle) => bundle.to_canonical(),
        }
    }

    /// The digest of the canonical bytes.
    ///
    /// # Errors
    /// As [`Document::to_canonical`].
    pub fn digest(&self) -> Result<Digest, EncodeError> {
        Ok(self.to_canonical()?.digest())
    }
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
fn read_kind(fields: &mut Fields<'_>) -> Read<DocumentKind> {
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
                crate::document::within_limit(file, bytes, document, Self::to_canonical)
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
                let envelope = crate::document::Envelope {
                    api_version: crate::document::API_VERSION,
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
