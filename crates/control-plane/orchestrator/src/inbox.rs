use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_evidence::SignedDecision;
use ambit_ids::limits;
use serde::{Deserialize, Serialize};

/// What another process can leave for the owner of a run. It holds no lease, so it cannot write to the run itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum InboxCommand {
    /// The customer wants the run to end.
    Cancel {
        /// Who asks.
        by: String,
    },
    /// A person decided about a proposal.
    Decide(SignedDecision),
}

impl InboxCommand {
    /// The canonical bytes.
    ///
    /// # Errors
    /// [`EncodeError`], which no command that was made here has.
    pub fn to_canonical(&self) -> Result<CanonicalBytes, EncodeError> {
        ambit_canonical::encode(self)
    }

    /// Reads a command that was left.
    ///
    /// # Errors
    /// [`EncodeError`] where the bytes are none.
    pub fn read(bytes: &[u8]) -> Result<Self, EncodeError> {
        ambit_canonical::decode(bytes, limits::RECORD_BYTES)
    }
}
