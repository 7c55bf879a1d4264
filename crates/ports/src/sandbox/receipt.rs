use ambit_ids::{Incarnation, LeaseId};
use serde::{Deserialize, Serialize};

/// What a preview may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewPolicy {
    /// The port inside.
    pub port: u16,
    /// The receipt of the grant that allows it.
    pub grant: Option<ambit_ids::ReceiptId>,
}

/// A port that is exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewGrant {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The lease.
    pub lease: LeaseId,
    /// The port inside.
    pub port: u16,
}

/// Proof that a port is no longer exposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevocationReceipt {
    /// The lease.
    pub lease: LeaseId,
    /// Whether anything was exposed at all.
    pub was_exposed: bool,
}

/// Proof that every process of a sandbox was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancellationReceipt {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The lease.
    pub lease: LeaseId,
    /// Processes that were killed for it.
    pub killed_processes: u32,
    /// Processes that remain. Anything but zero is a failure.
    pub remaining_processes: u32,
}

/// Proof that nothing of a sandbox is left, surface by surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DestructionReceipt {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The lease.
    pub lease: LeaseId,
    /// What was looked at after the removal (`processes`, `mounts`, `cgroups`, `files`) and how many of each remain.
    pub remaining: Vec<(String, u32)>,
}

impl DestructionReceipt {
    /// Whether every surface that was looked at is empty, and something was looked at.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        !self.remaining.is_empty() && self.remaining.iter().all(|(_, left)| *left == 0)
    }
}
