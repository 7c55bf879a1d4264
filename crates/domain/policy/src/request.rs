use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_ids::{Digest, RunId, Scope, UnixMs};

use crate::{Capability, Fact, ToolName};

/// One question to a policy: may this run make this call?
///
/// The principal is always the run. Budgets and time are the run's business and do not stand here.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Who owns the run.
    pub scope: Scope,
    /// The run that asks.
    pub run: RunId,
    /// The blueprint that the run is pinned to.
    pub blueprint: Digest,
    /// The policy bundle that the run is pinned to. An engine that holds another bundle denies.
    pub policy: Digest,
    /// The tool. Its side-effect class follows from it.
    pub tool: ToolName,
    /// The digest of the call's exact arguments.
    pub arguments: Digest,
    /// What trusted code found out about the call, sorted.
    pub facts: Vec<Fact>,
    /// What `request_scoped_approval` asks for; for every other tool `None`.
    pub asked: Option<Capability>,
    /// An approval that was granted to exactly these arguments and is not used yet.
    pub approval: Option<ApprovalInHand>,
}

impl Request {
    /// The canonical bytes of the request. Kept as a blob, they let the decision be made again.
    ///
    /// # Errors
    /// [`EncodeError`] where a fact does not fit the strict subset, which no fact that trusted code computes does.
    pub fn to_canonical(&self) -> Result<CanonicalBytes, EncodeError> {
        ambit_canonical::encode(self)
    }
}

/// An unused approval, as a fact of the request. Only its state is here, never a credential.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalInHand {
    /// What was approved.
    pub capability: Capability,
    /// The digest of the arguments that were approved.
    pub subject: Digest,
    /// When it ends.
    pub expires: UnixMs,
}
