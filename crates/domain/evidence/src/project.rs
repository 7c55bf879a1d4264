use std::collections::BTreeMap;

use ambit_ids::{ApproverId, BlueprintId, CaseId, Digest, DocumentName, RevisionId, RunId, Scope};

use crate::Link;
use crate::signature::{VerificationKey, blueprint_approval_message};
use crate::v1::{Body, ProjectBody};

/// What follows from a project's stream: who may approve, what is approved, which documents, revisions and requests
/// there are. Rebuilt from the log whenever it is needed; nothing else is asked.
#[derive(Clone, Debug, Default)]
pub struct Project {
    approvers: BTreeMap<ApproverId, VerificationKey>,
    documents: BTreeMap<DocumentKey, Digest>,
    approved: BTreeMap<(BlueprintId, Digest), ApproverId>,
    imports: BTreeMap<RevisionId, Digest>,
    import_sources: BTreeMap<RevisionId, String>,
    requests: BTreeMap<Digest, RevisionRequest>,
    closed: BTreeMap<RunId, ClosedRun>,
}

/// A document by kind, name and version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentKey {
    /// The kind, as the document says itself.
    pub kind: String,
    /// Its name.
    pub name: DocumentName,
    /// Its version.
    pub version: u32,
}

/// What a customer asked to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionRequest {
    /// The words.
    pub text: String,
    /// The revision that it is about.
    pub revision: RevisionId,
    /// The blueprint whose case it belongs to.
    pub blueprint: Digest,
    /// The case.
    pub case: CaseId,
}

impl RevisionRequest {
    /// The digest of the request: what a run that answers it is pinned to.
    #[must_use]
    pub fn digest(&self, scope: &Scope) -> Digest {
        let Self { text, revision, blueprint, case } = self;
        Digest::of(
            format!("ambit.revision-request/v1\n{scope}\n{revision}\n{blueprint}\n{case}\n{text}\n")
                .as_bytes(),
        )
    }
}

/// Where the chain of a run ended, as its project recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedRun {
    /// The position of the last record.
    pub last_seq: u64,
    /// The leaf hash of the last record.
    pub leaf: Digest,
    /// The final phase.
    pub phase: String,
}

impl Project {
    /// Folds the checked records of a project's stream.
    ///
    /// An approval counts only with the signature of an approver who was registered before it. One that does not verify
    /// is as if it were not there: whoever could write it could not sign it.
    #[must_use]
    pub fn fold<'a>(scope: &Scope, links: impl IntoIterator<Item = &'a Link>) -> Self {
        let mut project = Self::default();
        for link in links {
            if let Body::Project(body) = &link.record.body {
                project.take(scope, body);
            }
        }
        project
    }

    fn take(&mut self, scope: &Scope, body: &ProjectBody) {
        match body {
            ProjectBody::ApproverRegistered { approver, public_key } => {
                if let Some(key) = VerificationKey::from_hex(public_key) {
                    self.approvers.entry(approver.clone()).or_insert(key);
                }
            }
            ProjectBody::DocumentRegistered { document_kind, name, version, digest } => {
                let key = DocumentKey { kind: document_kind.clone(), name: name.clone(), version: *version };
                self.documents.entry(key).or_insert(*digest);
            }
            ProjectBody::BlueprintApproved { blueprint, digest, approver, signature } => {
                let message = blueprint_approval_message(scope, blueprint, *digest);
                if self.approvers.get(approver).is_some_and(|key| key.verifies_hex(&message, signature)) {
                    self.approved.insert((blueprint.clone(), *digest), approver.clone());
                }
            }
            ProjectBody::RevisionImported { revision, tree, source, .. } => {
                self.imports.entry(*revision).or_insert(*tree);
                self.import_sources.entry(*revision).or_insert_with(|| source.clone());
            }
            ProjectBody::RevisionRequested { request, text, revision, blueprint, case } => {
                let asked = RevisionRequest {
                    text: text.clone(),
                    revision: *revision,
                    blueprint: *blueprint,
                    case: case.clone(),
                };
                self.requests.entry(*request).or_insert(asked);
            }
            ProjectBody::RunClosed { run, last_seq, leaf, phase } => {
                let closed = ClosedRun { last_seq: *last_seq, leaf: *leaf, phase: phase.clone() };
                self.closed.entry(run.clone()).or_insert(closed);
            }
            ProjectBody::RunRejected { .. } => {}
        }
    }

    /// Whether exactly this digest of the blueprint is approved.
    #[must_use]
    pub fn is_approved(&self, blueprint: &BlueprintId, digest: Digest) -> bool {
        self.approved.contains_key(&(blueprint.clone(), digest))
    }

    /// The approved digests of a blueprint.
    pub fn approved_digests<'a>(&'a self, blueprint: &'a BlueprintId) -> impl Iterator<Item = Digest> + 'a {
        self.approved.keys().filter(move |(id, _)| id == blueprint).map(|(_, digest)| *digest)
    }

    /// The key of an approver.
    #[must_use]
    pub fn approver(&self, id: &ApproverId) -> Option<&VerificationKey> {
        self.approvers.get(id)
    }

    /// Everybody who may approve.
    pub fn approvers(&self) -> impl Iterator<Item = (&ApproverId, &VerificationKey)> {
        self.approvers.iter()
    }

    /// The documents, by kind, name and version.
    pub fn documents(&self) -> impl Iterator<Item = (&DocumentKey, Digest)> {
        self.documents.iter().map(|(key, digest)| (key, *digest))
    }

    /// The digest of a document.
    #[must_use]
    pub fn document(&self, key: &DocumentKey) -> Option<Digest> {
        self.documents.get(key).copied()
    }

    /// The tree of a revision that was imported.
    #[must_use]
    pub fn import(&self, revision: RevisionId) -> Option<Digest> {
        self.imports.get(&revision).copied()
    }

    /// Where an imported revision came from, as its importer named it.
    #[must_use]
    pub fn import_source(&self, revision: RevisionId) -> Option<&str> {
        self.import_sources.get(&revision).map(String::as_str)
    }

    /// The revisions that were imported.
    pub fn imports(&self) -> impl Iterator<Item = (RevisionId, Digest)> + '_ {
        self.imports.iter().map(|(revision, tree)| (*revision, *tree))
    }

    /// A revision request.
    #[must_use]
    pub fn request(&self, digest: Digest) -> Option<&RevisionRequest> {
        self.requests.get(&digest)
    }

    /// Every revision request.
    pub fn requests(&self) -> impl Iterator<Item = (Digest, &RevisionRequest)> {
        self.requests.iter().map(|(digest, request)| (*digest, request))
    }

    /// Where a run ended.
    #[must_use]
    pub fn closed(&self, run: &RunId) -> Option<&ClosedRun> {
        self.closed.get(run)
    }
}
