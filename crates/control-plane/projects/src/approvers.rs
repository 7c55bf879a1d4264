//! Who may approve, and what somebody who may takes back. Each is a record of the project that its approver signed.

use ambit_evidence::signature::{
    VerificationKey, approval_decision_message, approver_addition_message, approver_revocation_message,
    blueprint_withdrawal_message,
};
use ambit_evidence::v1::ProjectBody;
use ambit_evidence::{CredentialForm, SignedDecision, revocation_key, withdrawal_key};
use ambit_ids::{ApproverId, BlueprintId, Digest, ProposalId, Scope};
use ambit_journal::JournalError;
use ambit_ports::store::{Claim, StoreError};
use ambit_run::ApprovalVerdict;

use crate::credential::ApproverCredential;
use crate::{ProjectError, Projects, human};

impl Projects {
    /// Signs a decision about a proposal, for leaving it to the owner of the run.
    ///
    /// # Errors
    /// [`ProjectError`] where the credential belongs to nobody who may approve here.
    pub async fn sign_decision(
        &self,
        scope: &Scope,
        proposal: &ProposalId,
        digest: Digest,
        expected_sequence: u64,
        verdict: ApprovalVerdict,
        credential: &ApproverCredential,
    ) -> Result<SignedDecision, ProjectError> {
        let approver = self.approver_of(scope, credential).await?;
        let form = Some(credential.form());
        let message = approval_decision_message(scope, proposal, digest, expected_sequence, verdict, form);
        Ok(SignedDecision {
            proposal: proposal.clone(),
            digest,
            expected_sequence,
            approved: verdict == ApprovalVerdict::Approved,
            approver,
            credential: form,
            signature: credential.sign_hex(&message),
        })
    }

    pub(crate) async fn approver_of(
        &self,
        scope: &Scope,
        credential: &ApproverCredential,
    ) -> Result<ApproverId, ProjectError> {
        let project = self.project(scope).await?;
        let key = credential.public_key();
        match project.approvers().find(|(_, known)| **known == key) {
            Some((approver, _)) => Ok(approver.clone()),
            None if project.first_approver().is_none() => Err(ProjectError::NoApprover),
            None => Err(ProjectError::WrongCredential),
        }
    }

    /// Lets somebody else approve too, with the credential of somebody who may.
    ///
    /// # Errors
    /// [`ProjectError::ApproverExists`] where the name was given before, whether or not it was revoked.
    pub async fn add_approver(
        &self,
        scope: &Scope,
        approver: &ApproverId,
        key: &VerificationKey,
        form: CredentialForm,
        credential: &ApproverCredential,
    ) -> Result<ApproverId, ProjectError> {
        let by = self.approver_of(scope, credential).await?;
        let public_key = key.to_hex();
        let project = self.project(scope).await?;
        if project.approver(approver).is_some() {
            return Err(ProjectError::ApproverExists(approver.clone()));
        }
        let message = approver_addition_message(scope, approver, &public_key, Some(form));
        let body = ProjectBody::ApproverAdded {
            approver: approver.clone(),
            public_key,
            credential: Some(form),
            by: by.clone(),
            signature: credential.sign_hex(&message),
        };
        let claim = Claim { key: format!("approver/{approver}"), value: by.to_string() };
        match self.record(scope, human(by.as_str()), None, body, &[claim]).await {
            Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { .. }))) => {
                Err(ProjectError::ApproverExists(approver.clone()))
            }
            result => result.map(|()| by),
        }
    }

    /// Lets somebody approve no more, with the credential of somebody who may. What was approved before and not used counts
    /// no more either: whoever uses a receipt needs the key of this claim to be vacant.
    ///
    /// # Errors
    /// [`ProjectError::NotAnApprover`] where the name may not approve.
    pub async fn revoke_approver(
        &self,
        scope: &Scope,
        approver: &ApproverId,
        credential: &ApproverCredential,
    ) -> Result<ApproverId, ProjectError> {
        let by = self.approver_of(scope, credential).await?;
        if self.project(scope).await?.may_approve(approver).is_none() {
            return Err(ProjectError::NotAnApprover(approver.clone()));
        }
        let signature = credential.sign_hex(&approver_revocation_message(scope, approver));
        let body = ProjectBody::ApproverRevoked { approver: approver.clone(), by: by.clone(), signature };
        let claim = Claim { key: revocation_key(approver), value: by.to_string() };
        match self.record(scope, human(by.as_str()), None, body, &[claim]).await {
            Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { .. }))) => {
                Err(ProjectError::NotAnApprover(approver.clone()))
            }
            result => result.map(|()| by),
        }
    }

    /// Takes the approval of a blueprint back: no further run is pinned to this digest, and what was approved in runs of it and
    /// not used counts no more. It is final: whoever wants the same again gives it a new version.
    ///
    /// # Errors
    /// [`ProjectError::NotApproved`] where this digest is not approved.
    pub async fn withdraw(
        &self,
        scope: &Scope,
        blueprint: &BlueprintId,
        digest: Digest,
        credential: &ApproverCredential,
    ) -> Result<ApproverId, ProjectError> {
        let by = self.approver_of(scope, credential).await?;
        if !self.project(scope).await?.is_approved(blueprint, digest) {
            return Err(ProjectError::NotApproved(blueprint.clone()));
        }
        let signature = credential.sign_hex(&blueprint_withdrawal_message(scope, blueprint, digest));
        let claim = Claim { key: withdrawal_key(blueprint, digest), value: by.to_string() };
        let (id, approver) = (blueprint.clone(), by.clone());
        let body = ProjectBody::BlueprintWithdrawn { blueprint: id, digest, approver, signature };
        match self.record(scope, human(by.as_str()), Some(digest), body, &[claim]).await {
            Err(ProjectError::Journal(JournalError::Store(StoreError::Claimed { .. }))) => {
                Err(ProjectError::NotApproved(blueprint.clone()))
            }
            result => result.map(|()| by),
        }
    }
}
