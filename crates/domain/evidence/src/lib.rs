//! Evidence: the record types as they are stored, the chain that binds them, and what follows from them.
//!
//! Stored types carry a version and are apart from the events of the domain: an event may change with the code, a stored
//! type never does. Whatever was written as `v1` is read as `v1` by every later version; a golden corpus holds that.

#![forbid(unsafe_code)]

pub mod artifacts;
mod chain;
pub mod checklist;
mod credential_form;
mod decision;
mod eligibility;
mod head;
mod project;
pub mod signature;
mod stream_name;
pub mod v1;

pub use ambit_canonical::leaf_hash;
pub use chain::{ChainBreak, ChainFault, Link, fold, verify_chain};
pub use credential_form::CredentialForm;
pub use decision::SignedDecision;
pub use eligibility::{Ineligible, eligibility};
pub use head::head_message;
pub use project::{
    ClosedRun, DocumentKey, Project, RevisionRequest, ends_consent, revocation_key, withdrawal_key,
};
pub use stream_name::StreamName;
