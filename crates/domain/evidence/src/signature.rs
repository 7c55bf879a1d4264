//! What people and keys sign, byte by byte, and how it is checked.

use ambit_ids::{ApproverId, BlueprintId, Digest, ProposalId, Scope};
use ambit_run::ApprovalVerdict;
use ed25519_dalek::{Signature, VerifyingKey};

use crate::CredentialForm;

/// An Ed25519 public key (RFC 8032).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerificationKey([u8; 32]);

impl VerificationKey {
    /// A key from its 32 bytes; `None` where they are no point of the curve.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(&bytes).ok().map(|_| Self(bytes))
    }

    /// A key from 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        from_hex(text).and_then(Self::from_bytes)
    }

    /// The 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        to_hex(&self.0)
    }

    /// Whether `signature` was made over exactly `message` by this key. Strict: no second form of a signature, no weak
    /// key.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(signature)).is_ok())
    }

    /// The same for a signature in 128 hexadecimal digits.
    #[must_use]
    pub fn verifies_hex(&self, message: &[u8], signature: &str) -> bool {
        from_hex::<64>(signature).is_some_and(|signature| self.verifies(message, &signature))
    }
}

impl std::fmt::Debug for VerificationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let lower = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 2 * N || !digits.iter().all(lower) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// What an approver signs to approve a blueprint.
#[must_use]
pub fn blueprint_approval_message(scope: &Scope, blueprint: &BlueprintId, digest: Digest) -> Vec<u8> {
    format!("ambit.blueprint-approval/v1\n{scope}\n{blueprint}\n{digest}\n").into_bytes()
}

/// What an approver signs to approve a blueprint no more.
#[must_use]
pub fn blueprint_withdrawal_message(scope: &Scope, blueprint: &BlueprintId, digest: Digest) -> Vec<u8> {
    format!("ambit.blueprint-withdrawal/v1\n{scope}\n{blueprint}\n{digest}\n").into_bytes()
}

/// What an approver signs so that somebody else may approve too. The second version says how the credential is kept.
#[must_use]
pub fn approver_addition_message(
    scope: &Scope,
    approver: &ApproverId,
    public_key: &str,
    form: Option<CredentialForm>,
) -> Vec<u8> {
    match form {
        None => format!("ambit.approver-addition/v1\n{scope}\n{approver}\n{public_key}\n"),
        Some(form) => format!("ambit.approver-addition/v2\n{scope}\n{approver}\n{public_key}\n{form}\n"),
    }
    .into_bytes()
}

/// What an approver signs so that somebody may approve no more.
#[must_use]
pub fn approver_revocation_message(scope: &Scope, approver: &ApproverId) -> Vec<u8> {
    format!("ambit.approver-revocation/v1\n{scope}\n{approver}\n").into_bytes()
}

/// What an approver signs to decide about a proposal: the exact content, the exact question, and the answer. The second version
/// says how the credential is kept.
#[must_use]
pub fn approval_decision_message(
    scope: &Scope,
    proposal: &ProposalId,
    digest: Digest,
    expected_sequence: u64,
    verdict: ApprovalVerdict,
    form: Option<CredentialForm>,
) -> Vec<u8> {
    let verdict = verdict.as_str();
    let said = format!("{scope}\n{proposal}\n{digest}\n{expected_sequence}\n{verdict}\n");
    match form {
        None => format!("ambit.approval-decision/v1\n{said}"),
        Some(form) => format!("ambit.approval-decision/v2\n{said}{form}\n"),
    }
    .into_bytes()
}
