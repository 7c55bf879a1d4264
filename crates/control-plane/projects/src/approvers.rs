//! Who may approve, and what somebody who may takes back. Each is a record of the project that its approver signed.

use ambit_evidence::revocation_key;
use ambit_evidence::signature::{
    VerificationKey, approver_addition_message, approver_revocation_message, blueprint_withdrawal_message,
};
use ambit_evidence::v1::ProjectBody;
use ambit_ids::{ApproverId, BlueprintId, Digest, Scope};
use ambit_journal::JournalError;
use ambit_ports::store::{Claim, StoreError};

use crate::credential::ApproverCredential;
use crate::{ProjectError, Projects, human};

impl Projects {
    /// Lets somebody else approve too, with the credential of somebody who may.
    ///
    /// # Errors
    /// [`ProjectError::ApproverExists`] where the name was given before, whether or not it was revoked.
    pub async fn add_approver(
        &self,
        scope: &Scope,
        approver: &ApproverId,
        key: &VerificationKey,
        credential: &ApproverCredential,
    ) -> Result<ApproverId, ProjectError> {
        let by = self.approver_of(scope, credential).await?;
        let public_key = key.to_hex();
        let project = self.project(scope).await?;
        if project.approver(approver).is_some() {
            return Err(ProjectError::ApproverExists(approver.clone()));
        }
        let signature = credential.sign_hex(&approver_addition_message(scope, approver, &public_key));
        let body =
            ProjectBody::ApproverAdded { approver: approver.clone(), public_key, by: by.clone(), signature };
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

    /// Takes the approval of a blueprint back: no further run is pinned to this digest.
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
        let (blueprint, approver) = (blueprint.clone(), by.clone());
        let body = ProjectBody::BlueprintWithdrawn { blueprint, digest, approver, signature };
        self.record(scope, human(by.as_str()), Some(digest), body, &[]).await.map(|()| by)
    }
}
