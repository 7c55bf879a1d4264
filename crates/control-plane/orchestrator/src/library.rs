use std::collections::BTreeMap;

use ambit_blueprint::{
    Document, DocumentKind, ExecutionCapabilityProfile, PolicyKey, PolicyRef, PolicySet, builtin,
};
use ambit_evidence::Project;
use ambit_ids::{Digest, DocumentName, Scope};
use ambit_ports::blobs::BlobStore;

use crate::admission::{Documents, MissingDocument};

/// The documents of a project together with those that come with the program. One that the project registered stands
/// before one of the same name and version that comes along.
pub struct Library {
    documents: BTreeMap<Digest, Document>,
    policies: BTreeMap<PolicyKey, Digest>,
    profiles: BTreeMap<DocumentName, Digest>,
}

/// Why there is no library, or not what was looked for in it.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// A document that comes along is malformed.
    #[error("a document that comes with the program is malformed")]
    BuiltIn(#[source] Box<ambit_blueprint::DocumentError>),
    /// A document that the project registered cannot be had.
    #[error(transparent)]
    Missing(#[from] MissingDocument),
    /// A document has no digest.
    #[error("a document has no canonical form")]
    Digest(#[from] ambit_canonical::EncodeError),
    /// No such profile.
    #[error("there is no profile {name}; known are {}", known.join(", "))]
    NoProfile {
        /// The name.
        name: DocumentName,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A document that is brought along has the name of another.
    #[error("{kind} {name} is known already, with another content")]
    Changed {
        /// The kind.
        kind: DocumentKind,
        /// The name, and the version where it has one beside its name.
        name: String,
    },
    /// A reference of the profile cannot be resolved.
    #[error(transparent)]
    Policy(#[from] ambit_blueprint::PolicySetError),
    /// A document could not be kept.
    #[error("a document could not be kept")]
    Blob(#[from] ambit_ports::blobs::BlobError),
}

impl LibraryError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BuiltIn(_) => "DOCUMENT_MALFORMED",
            Self::Missing(error) => error.code(),
            Self::Digest(_) => "DOCUMENT_NOT_CANONICAL",
            Self::NoProfile { .. } => "PROFILE_UNKNOWN",
            Self::Changed { .. } => "DOCUMENT_CHANGED",
            Self::Policy(error) => error.code(),
            Self::Blob(error) => error.code(),
        }
    }
}

/// A profile with everything that it refers to.
pub struct ResolvedProfile {
    /// The profile.
    pub profile: ExecutionCapabilityProfile,
    /// Its digest.
    pub digest: Digest,
    /// What it refers to, by digest.
    pub policies: PolicySet,
}

impl Library {
    /// The library of a project.
    ///
    /// # Errors
    /// [`LibraryError`] where a document cannot be had as it was registered.
    pub async fn of(scope: &Scope, project: &Project, documents: &Documents) -> Result<Self, LibraryError> {
        let mut library =
            Self { documents: BTreeMap::new(), policies: BTreeMap::new(), profiles: BTreeMap::new() };
        for document in builtin::parse_all().map_err(|error| LibraryError::BuiltIn(Box::new(error)))? {
            library.add(document)?;
        }
        for (_, digest) in project.documents() {
            library.add(documents.read(scope, "a registered document", digest).await?)?;
        }
        Ok(library)
    }

    fn add(&mut self, document: Document) -> Result<(), LibraryError> {
        let digest = document.digest()?;
        if let Some(key) = document.policy_key() {
            self.policies.insert(key, digest);
        }
        if let Document::Profile(profile) = &document {
            self.profiles.insert(profile.metadata.name.clone(), digest);
        }
        self.documents.insert(digest, document);
        Ok(())
    }

    /// Takes in a document that the project has not registered. Answers whether it is new.
    ///
    /// # Errors
    /// [`LibraryError::Changed`] where another document has its name and version.
    pub fn bring(&mut self, document: Document) -> Result<bool, LibraryError> {
        let digest = document.digest()?;
        let (kind, key) = (document.kind(), document.policy_key());
        let (known, name) = match (&document, &key) {
            (_, Some(key)) => (self.policies.get(key), format!("{} v{}", key.name, key.version)),
            (Document::Profile(profile), None) => {
                (self.profiles.get(&profile.metadata.name), profile.metadata.name.to_string())
            }
            _ => (None, document.name().to_owned()),
        };
        match known {
            Some(known) if *known == digest => Ok(false),
            Some(_) => Err(LibraryError::Changed { kind, name }),
            None => self.add(document).map(|()| true),
        }
    }

    /// The profile of a name, with its digest.
    ///
    /// # Errors
    /// [`LibraryError::NoProfile`].
    pub fn profile(
        &self,
        name: &DocumentName,
    ) -> Result<(Digest, &ExecutionCapabilityProfile), LibraryError> {
        let found = self.profiles.get(name).and_then(|digest| Some((*digest, self.documents.get(digest)?)));
        let Some((digest, Document::Profile(profile))) = found else {
            let known = self.profiles.keys().map(ToString::to_string).collect();
            return Err(LibraryError::NoProfile { name: name.clone(), known });
        };
        Ok((digest, profile))
    }

    /// The document of a digest.
    #[must_use]
    pub fn document(&self, digest: Digest) -> Option<&Document> {
        self.documents.get(&digest)
    }

    /// Every document.
    pub fn documents(&self) -> impl Iterator<Item = (Digest, &Document)> {
        self.documents.iter().map(|(digest, document)| (*digest, document))
    }

    /// A profile with everything that it refers to, kept in the project's blobs, so that whoever verifies a run later
    /// finds what it was pinned to.
    ///
    /// # Errors
    /// [`LibraryError`] where the profile or something that it refers to is not known.
    pub async fn resolve(
        &self,
        scope: &Scope,
        name: &DocumentName,
        tool_rules: &PolicyRef,
        blobs: &dyn BlobStore,
    ) -> Result<ResolvedProfile, LibraryError> {
        let (digest, profile) = self.profile(name)?;
        let policies = PolicySet::resolve(profile, tool_rules, &self.policies)?;
        let named = [
            policies.commands.digest,
            policies.network.digest,
            policies.secrets.digest,
            policies.retention.digest,
            policies.tool_rules.digest,
            digest,
        ];
        for document in named.iter().filter_map(|digest| self.documents.get(digest)) {
            blobs.put(scope, document.to_canonical()?.into_bytes().into()).await?;
        }
        blobs.put(scope, policies.to_canonical()?.into_bytes().into()).await?;
        Ok(ResolvedProfile { profile: profile.clone(), digest, policies })
    }
}
