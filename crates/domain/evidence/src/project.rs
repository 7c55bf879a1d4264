use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{ApproverId, BlueprintId, CaseId, Digest, DocumentName, RevisionId, RunId, Scope};

use crate::signature::{
    VerificationKey, approver_addition_message, approver_revocation_message, blueprint_approval_message,
    blueprint_withdrawal_message,
};
use crate::v1::{Body, ProjectBody};
use crate::{CredentialForm, Link};

/// What follows from a project's stream: who may approve, what is approved, which documents, revisions and requests
/// there are. Rebuilt from the log whenever it is needed; nothing else is asked.
#[derive(Clone, Debug, Default)]
pub struct Project {
    approvers: BTreeMap<ApproverId, VerificationKey>,
    revoked: BTreeSet<ApproverId>,
    added_by: BTreeMap<ApproverId, ApproverId>,
    forms: BTreeMap<ApproverId, CredentialForm>,
    documents: BTreeMap<DocumentKey, Digest>,
    approved: BTreeMap<(BlueprintId, Digest), ApproverId>,
    withdrawn: BTreeSet<(BlueprintId, Digest)>,
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

    /// Whether a record that somebody must have signed is signed by somebody who may approve at this point.
    #[must_use]
    pub fn accepts(&self, scope: &Scope, body: &ProjectBody) -> bool {
        match body {
            ProjectBody::ApproverAdded { approver, public_key, credential, by, signature } => {
                self.says(by, &approver_addition_message(scope, approver, public_key, *credential), signature)
            }
            ProjectBody::ApproverRevoked { approver, by, signature } => {
                self.says(by, &approver_revocation_message(scope, approver), signature)
            }
            // The signature of an approval that was taken back could be shown again.
            ProjectBody::BlueprintApproved { blueprint, digest, approver, signature } => {
                !self.is_withdrawn(blueprint, *digest)
                    && self.says(approver, &blueprint_approval_message(scope, blueprint, *digest), signature)
            }
            ProjectBody::BlueprintWithdrawn { blueprint, digest, approver, signature } => {
                self.says(approver, &blueprint_withdrawal_message(scope, blueprint, *digest), signature)
            }
            ProjectBody::ApproverRegistered { .. }
            | ProjectBody::DocumentRegistered { .. }
            | ProjectBody::RevisionImported { .. }
            | ProjectBody::RevisionRequested { .. }
            | ProjectBody::RunRejected { .. }
            | ProjectBody::RunClosed { .. } => true,
        }
    }

    /// Takes the next record of the stream. One that nobody signed who could is as if it were not there.
    pub fn take(&mut self, scope: &Scope, body: &ProjectBody) {
        if self.accepts(scope, body) {
            self.take_accepted(body);
        }
    }

    fn take_accepted(&mut self, body: &ProjectBody) {
        match body {
            ProjectBody::ApproverRegistered { approver, public_key, credential } => {
                // Nobody speaks for the first one. Every further one is added by somebody who may approve.
                if self.approvers.is_empty() {
                    self.take_approver(approver, public_key, *credential);
                }
            }
            ProjectBody::ApproverAdded { approver, public_key, credential, by, .. } => {
                if !self.approvers.contains_key(approver)
                    && self.take_approver(approver, public_key, *credential)
                {
                    self.added_by.insert(approver.clone(), by.clone());
                }
            }
            ProjectBody::ApproverRevoked { approver, .. } => {
                self.revoked.insert(approver.clone());
            }
            ProjectBody::BlueprintWithdrawn { blueprint, digest, .. } => {
                self.approved.remove(&(blueprint.clone(), *digest));
                self.withdrawn.insert((blueprint.clone(), *digest));
            }
            ProjectBody::DocumentRegistered { document_kind, name, version, digest } => {
                let key = DocumentKey { kind: document_kind.clone(), name: name.clone(), version: *version };
                self.documents.entry(key).or_insert(*digest);
            }
            ProjectBody::BlueprintApproved { blueprint, digest, approver, .. } => {
                self.approved.insert((blueprint.clone(), *digest), approver.clone());
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

    fn take_approver(&mut self, approver: &ApproverId, key: &str, form: Option<CredentialForm>) -> bool {
        let Some(key) = VerificationKey::from_hex(key) else { return false };
        self.approvers.insert(approver.clone(), key);
        self.forms.extend(form.map(|form| (approver.clone(), form)));
        true
    }

    /// Whether somebody who may approve signed this.
    fn says(&self, approver: &ApproverId, message: &[u8], signature: &str) -> bool {
        self.may_approve(approver).is_some_and(|key| key.verifies_hex(message, signature))
    }

    /// Whether exactly this digest of the blueprint is approved.
    #[must_use]
    pub fn is_approved(&self, blueprint: &BlueprintId, digest: Digest) -> bool {
        self.approved.contains_key(&(blueprint.clone(), digest))
    }

    /// Whether the approval of exactly this digest was taken back. It is never approved again.
    #[must_use]
    pub fn is_withdrawn(&self, blueprint: &BlueprintId, digest: Digest) -> bool {
        self.withdrawn.contains(&(blueprint.clone(), digest))
    }

    /// The approved digests of a blueprint.
    pub fn approved_digests<'a>(&'a self, blueprint: &'a BlueprintId) -> impl Iterator<Item = Digest> + 'a {
        self.approved.keys().filter(move |(id, _)| id == blueprint).map(|(_, digest)| *digest)
    }

    /// The key of somebody who may approve now.
    #[must_use]
    pub fn may_approve(&self, id: &ApproverId) -> Option<&VerificationKey> {
        self.approvers.get(id).filter(|_| !self.revoked.contains(id))
    }

    /// Who said that somebody may approve. Nobody speaks for the first one but the first one.
    #[must_use]
    pub fn speaker_for<'a>(&'a self, id: &'a ApproverId) -> &'a ApproverId {
        self.added_by.get(id).unwrap_or(id)
    }

    /// How the credential of an approver was kept when it was registered, if that was told.
    #[must_use]
    pub fn credential_form(&self, id: &ApproverId) -> Option<CredentialForm> {
        self.forms.get(id).copied()
    }

    /// Who may approve no more.
    pub fn revoked(&self) -> impl Iterator<Item = &ApproverId> {
        self.revoked.iter()
    }

    /// One of those who ever could approve.
    #[must_use]
    pub fn first_approver(&self) -> Option<&ApproverId> {
        self.approvers.keys().next()
    }

    /// The approved blueprints, each with who approved it last.
    pub fn blueprints(&self) -> impl Iterator<Item = (&BlueprintId, Digest, &ApproverId)> {
        self.approved.iter().map(|((id, digest), approver)| (id, *digest, approver))
    }

    /// The key of an approver, who may have been revoked since.
    #[must_use]
    pub fn approver(&self, id: &ApproverId) -> Option<&VerificationKey> {
        self.approvers.get(id)
    }

    /// Everybody who may approve or could once.
    pub fn all_approvers(&self) -> impl Iterator<Item = &ApproverId> {
        self.approvers.keys()
    }

    /// Everybody who may approve now.
    pub fn approvers(&self) -> impl Iterator<Item = (&ApproverId, &VerificationKey)> {
        self.approvers.iter().filter(|(id, _)| !self.revoked.contains(*id))
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

/// The claim that the revocation of an approver takes. Whoever uses what the approver gave needs it to be vacant.
#[must_use]
pub fn revocation_key(approver: &ApproverId) -> String {
    format!("{REVOCATION}{approver}")
}

/// The claim that the withdrawal of a blueprint takes. Whoever uses what was approved in a run of it needs it to be vacant.
#[must_use]
pub fn withdrawal_key(blueprint: &BlueprintId, digest: Digest) -> String {
    format!("{WITHDRAWAL}{blueprint}/{digest}")
}

/// Whether a claim is one that ends what was approved before.
#[must_use]
pub fn ends_consent(key: &str) -> bool {
    key.starts_with(REVOCATION) || key.starts_with(WITHDRAWAL)
}

const REVOCATION: &str = "approver-revoked/";
const WITHDRAWAL: &str = "blueprint-withdrawn/";
