//! The words that every other crate shares: identifiers, digests, scope, paths, quantities and limits.
//!
//! Everything here is a value that cannot be wrong: each type is built only by a constructor that validates,
//! and deserialisation goes through that same constructor. No type here knows what a run or a patch is.

#![forbid(unsafe_code)]

mod command_size;
mod content;
mod digest;
mod excerpt;
mod execution;
mod given_path;
mod identifier;
pub mod limits;
mod path;
mod pattern;
mod quantity;
mod scope;
mod text_form;
mod vocabulary;

pub use command_size::{CommandSize, CommandTooLarge};
pub use content::Content;
pub use digest::{Digest, ParseDigestError};
pub use excerpt::{Excerpt, NotAnExcerpt, written_out};
pub use execution::{ExecutionLimits, VolumeMount};
pub use given_path::GivenPath;
pub use identifier::{
    AgentId, ApproverId, BackendId, BlueprintId, CaseId, DocumentName, EffectKey, GateId, IdError,
    IdempotencyKey, ImageName, Incarnation, LeaseId, OrganizationId, ProbeId, ProjectId, ProposalId,
    ReceiptId, RevisionId, RuleId, RunId, RunName, StepId, VolumeName,
};
pub use path::{PathError, RepoPath, is_unprintable};
pub use pattern::{PathPattern, PathSet, PatternError};
pub use quantity::{ByteCount, DurationMs, MicroUsd, ParseMomentError, ParseMoneyError, UnixMs};
pub use scope::Scope;
