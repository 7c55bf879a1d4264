use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_ids::Digest;

use crate::cursor::{Cursor, Read, read_document};
use crate::envelope::{DocumentKind, read_kind, within_limit};
use crate::policy_set::{PolicyKey, PolicySubject};
use crate::problem::DocumentError;
use crate::{Blueprint, ExecutionCapabilityProfile, NamedCommandCatalog, PolicyBundle, PolicyRules};

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
