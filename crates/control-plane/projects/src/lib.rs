//! What people do with a project: register documents and approvers, approve, import revisions, ask for changes.
//!
//! This is the only service that can approve, and it can do so only with a credential that a person hands to it for one
//! act. The orchestrator reads what follows from the project's stream and has no way to write an approval there.

#![forbid(unsafe_code)]

mod approvers;
mod credential;
mod sealed;

use std::sync::Arc;

use ambit_blueprint::{Blueprint, Document};
use ambit_canonical::EncodeError;
use ambit_evidence::signature::{VerificationKey, blueprint_approval_message};
use ambit_evidence::v1::{Actor, ActorKind, Body, Environment, Precondition, ProjectBody};
use ambit_evidence::{CredentialForm, DocumentKey, Project, RevisionRequest};
use ambit_ids::{ApproverId, BlueprintId, CaseId, Digest, DocumentName, RevisionId, Scope};
use ambit_journal::{Entry, Journal, JournalError};
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_ports::runtime::Clock;
use ambit_ports::store::{Claim, StoreError, StreamId};

pub use credential::{ApproverCredential, CredentialError};
pub use sealed::SealedCredential;

/// The projects of this store.
#[derive(Clone)]
pub struct Projects {
    journal: Journal,
    blobs: Arc<dyn BlobStore>,
    clock: Arc<dyn Clock>,
    program: String,
}

/// A tree that became a revision without a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The digest of the tree, which is kept already.
    pub tree: Digest,
    /// Files and links.
    pub entries: u64,
    /// Where it came from, in the importer's words.
    pub source: String,
}

/// A wish for a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The words.
    pub text: String,
    /// The revision that it is about.
    pub revision: RevisionId,
    /// The blueprint.
    pub blueprint: BlueprintId,
    /// The digest of the blueprint.
    pub digest: Digest,
    /// The case of it that the wish belongs to.
    pub case: CaseId,
}

/// Why nothing was done with a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The stream could not be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A document could not be kept.
    #[error("the document could not be kept; nothing was recorded")]
    Blob(#[from] BlobError),
    /// The document has no canonical form.
    #[error("the document has no canonical form")]
    Document(#[from] EncodeError),
    /// Somebody may approve already.
    #[error("{0} may approve in this project already, or could once")]
    ApproverExists(ApproverId),
    /// The name may not approve.
    #[error("{0} may not approve in this project")]
    NotAnApprover(ApproverId),
    /// The blueprint is not approved with this digest.
    #[error("{0} is not approved with this digest")]
    NotApproved(BlueprintId),
    /// The approval of this digest was taken back.
    #[error("{0} was withdrawn with this digest, which is final; give it a new version and approve that")]
    Withdrawn(BlueprintId),
    /// Nobody may approve yet.
    #[error("nobody may approve in this project yet; `ambit approver init` registers somebody")]
    NoApprover,
    /// The credential belongs to nobody who may approve here.
    #[error("the credential belongs to nobody who may approve in this project")]
    WrongCredential,
    /// The name and version have another content.
    #[error(
        "{kind} {name} v{version} is registered with another content; give the changed document a new version"
    )]
    DocumentChanged {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// The version.
        version: u32,
    },
    /// The name of a document is none.
    #[error("{0} is no name of a document")]
    Name(String),
    /// The wish does not belong to the blueprint.
    #[error("{0}")]
    Wish(String),
    /// No number is left for a revision.
    #[error("no revision number is left")]
    RevisionsExhausted,
}

impl ProjectError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Journal(error) => error.code(),
            Self::Blob(error) => error.code(),
            Self::Document(_) => "DOCUMENT_NOT_CANONICAL",
            Self::ApproverExists(_) => "APPROVER_EXISTS",
            Self::NotAnApprover(_) => "APPROVER_UNKNOWN",
            Self::NotApproved(_) => "BLUEPRINT_NOT_APPROVED",
            Self::Withdrawn(_) => "BLUEPRINT_WITHDRAWN",
            Self::NoApprover => "APPROVER_MISSING",
            Self::WrongCredential => "CREDENTIAL_REFUSED",
            Self::DocumentChanged { .. } => "DOCUMENT_CHANGED",
            Self::Name(_) => "DOCUMENT_NAME",
            Self::Wish(_) => "REQUEST_REFUSED",
            Self::RevisionsExhausted => "REVISIONS_EXHAUSTED",
        }
    }
}

impl Projects {
    /// Projects over a journal.
    #[must_use]
    pub fn new(journal: Journal, blobs: Arc<dyn BlobStore>, clock: Arc<dyn Clock>, program: String) -> Self {
        Self { journal, blobs, clock, program }
    }

    /// What follows from a project's stream.
    ///
    /// # Errors
    /// [`ProjectError`] where the stream was altered or could not be read.
    pub async fn project(&self, scope: &Scope) -> Result<Project, ProjectError> {
        let loaded = self.journal.load(&stream(scope)).await?;
        Ok(Project::fold(scope, &loaded.links))
    }

    /// Registers who may approve. The first to come; every further one is added by somebody who may, also where everybody was
    /// revoked since.
    ///
    /// # Errors
    /// [`ProjectError::ApproverExists`].
    pub async fn register_approver(
        &self,
        scope: &Scope,
        approver: &ApproverId,
        key: &VerificationKey,
        form: CredentialForm,
    ) -> Result<(), ProjectError> {
        if let Some(existing) = self.project(scope).await?.first_approver() {
            return Err(ProjectError::ApproverExists(existing.clone()));
        }
        let body = ProjectBody::ApproverRegistered {
            approver: approver.clone(),
            public_key: key.to_hex(),
            credential: Some(form),
        };
        let claim = Claim { key: "approver".to_owned(), value: approver.to_string() };
        match self.record(scope, human(approver.as_str()), None, body, &[claim]).await {
            Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { .. }))) => {
                Err(ProjectError::ApproverExists(approver.clone()))
            }
            result => result,
        }
    }

    /// Makes a document known to the project, under the name and version that it carries. What is registered is never
    /// changed; registering the same again changes nothing.
    ///
    /// # Errors
    /// [`ProjectError::DocumentChanged`] where the name and version have another content.
    pub async fn register(
        &self,
        scope: &Scope,
        document: &Document,
        by: &str,
    ) -> Result<Digest, ProjectError> {
        let bytes = document.to_canonical()?;
        let digest = bytes.digest();
        let key = key_of(document)?;
        match self.project(scope).await?.document(&key) {
            Some(known) if known == digest => return Ok(digest),
            Some(_) => return Err(changed(&key)),
            None => {}
        }
        self.blobs.put(scope, bytes.into_bytes().into()).await?;
        let claim = Claim {
            key: format!("document/{}/{}/{}", key.kind, key.name, key.version),
            value: digest.to_string(),
        };
        let body = ProjectBody::DocumentRegistered {
            document_kind: key.kind.clone(),
            name: key.name.clone(),
            version: key.version,
            digest,
        };
        match self.record(scope, human(by), Some(digest), body, &[claim]).await {
            Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { holder, .. })))
                if holder != digest.to_string() =>
            {
                Err(changed(&key))
            }
            Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { .. }))) => Ok(digest),
            result => result.map(|()| digest),
        }
    }

    /// Approves exactly this content of a blueprint, with the credential of somebody who may.
    ///
    /// # Errors
    /// [`ProjectError`]; then the blueprint is registered at most, and not approved.
    pub async fn approve(
        &self,
        scope: &Scope,
        blueprint: &Blueprint,
        credential: &ApproverCredential,
    ) -> Result<Digest, ProjectError> {
        let approver = self.approver_of(scope, credential).await?;
        let document = Document::Blueprint(Box::new(blueprint.clone()));
        let digest = self.register(scope, &document, approver.as_str()).await?;
        let id = blueprint.metadata.name.clone();
        let project = self.project(scope).await?;
        if project.is_withdrawn(&id, digest) {
            return Err(ProjectError::Withdrawn(id));
        }
        if project.is_approved(&id, digest) {
            return Ok(digest);
        }
        let signature = credential.sign_hex(&blueprint_approval_message(scope, &id, digest));
        let body =
            ProjectBody::BlueprintApproved { blueprint: id, digest, approver: approver.clone(), signature };
        self.record(scope, human(approver.as_str()), Some(digest), body, &[]).await?;
        Ok(digest)
    }

    /// Makes a tree the next revision of the project.
    ///
    /// # Errors
    /// [`ProjectError`]; then there is no such revision.
    pub async fn import(&self, scope: &Scope, import: &Import, by: &str) -> Result<RevisionId, ProjectError> {
        let mut revision = RevisionId::FIRST;
        loop {
            let claim = Claim { key: format!("revision/{revision}"), value: "import".to_owned() };
            let body = ProjectBody::RevisionImported {
                revision,
                tree: import.tree,
                entries: import.entries,
                source: import.source.clone(),
            };
            match self.record(scope, human(by), Some(import.tree), body, &[claim]).await {
                Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { .. }))) => {
                    revision = revision.next().ok_or(ProjectError::RevisionsExhausted)?;
                }
                result => return result.map(|()| revision),
            }
        }
    }

    /// Records a wish for a change. It belongs to a case of the blueprint, and changes nothing about the approved job.
    ///
    /// # Errors
    /// [`ProjectError::Wish`] where the case is none of the blueprint's, or the blueprint is not approved.
    pub async fn request(
        &self,
        scope: &Scope,
        wish: &Wish,
        blueprint: &Blueprint,
        by: &str,
    ) -> Result<Digest, ProjectError> {
        let length = wish.text.trim().len();
        if !(1..=4_000).contains(&length) {
            return Err(ProjectError::Wish(format!("a request has 1 to 4,000 bytes, this has {length}")));
        }
        if !blueprint.spec.acceptance_cases.iter().any(|case| case.id == wish.case) {
            let cases: Vec<&str> =
                blueprint.spec.acceptance_cases.iter().map(|case| case.id.as_str()).collect();
            return Err(ProjectError::Wish(format!(
                "{} has no case {}; its cases are {}",
                wish.blueprint,
                wish.case,
                cases.join(", ")
            )));
        }
        if !self.project(scope).await?.is_approved(&wish.blueprint, wish.digest) {
            return Err(ProjectError::Wish(format!("{} is not approved", wish.blueprint)));
        }
        let asked = RevisionRequest {
            text: wish.text.clone(),
            revision: wish.revision,
            blueprint: wish.digest,
            case: wish.case.clone(),
        };
        let request = asked.digest(scope);
        if self.project(scope).await?.request(request).is_some() {
            return Ok(request);
        }
        let RevisionRequest { text, revision, blueprint, case } = asked;
        let body = ProjectBody::RevisionRequested { request, text, revision, blueprint, case };
        self.record(scope, human(by), Some(request), body, &[]).await?;
        Ok(request)
    }

    async fn record(
        &self,
        scope: &Scope,
        actor: Actor,
        artifact: Option<Digest>,
        body: ProjectBody,
        claims: &[Claim],
    ) -> Result<(), ProjectError> {
        let entry = Entry {
            actor,
            precondition: Precondition::default(),
            artifact,
            environment: Environment::of_program(&self.program),
            body: Body::Project(Box::new(body)),
        };
        self.journal.append_to_end(&stream(scope), self.clock.now(), vec![entry], claims).await?;
        Ok(())
    }
}

fn stream(scope: &Scope) -> StreamId {
    StreamId::Project(scope.clone())
}

fn human(id: &str) -> Actor {
    Actor { kind: ActorKind::Human, id: id.to_owned() }
}

fn changed(key: &DocumentKey) -> ProjectError {
    ProjectError::DocumentChanged { kind: key.kind.clone(), name: key.name.to_string(), version: key.version }
}

/// The key under which a document is registered. A profile carries its version in its name.
fn key_of(document: &Document) -> Result<DocumentKey, ProjectError> {
    let name =
        DocumentName::new(document.name()).map_err(|_| ProjectError::Name(document.name().to_owned()))?;
    let version = match document {
        Document::Blueprint(blueprint) => blueprint.metadata.version,
        Document::Profile(_) => 1,
        Document::Catalog(catalog) => catalog.metadata.version,
        Document::Bundle(bundle) => bundle.metadata.version,
    };
    Ok(DocumentKey { kind: document.kind().as_str().to_owned(), name, version })
}
