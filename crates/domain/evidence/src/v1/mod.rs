//! Version 1 of the stored types.

mod body;
mod call;
mod entry;
mod observation;
mod pins;
mod project;
mod read;
mod read_error;
mod record;
mod write;

pub use body::{PlanStepV1, RunBody, StopReasonV1};
pub use call::{AmountsV1, CallV1, DecisionV1, DenialV1, EffectV1, OutcomeV1};
pub use entry::{Entry, entries};
pub use observation::{GateRecordV1, ObservationV1, PatchV1};
pub use pins::{GatePinV1, LimitsV1, PinsV1, RequestV1, RulesV1};
pub use project::ProjectBody;
pub use read_error::ReadError;
pub use record::{Actor, ActorKind, Body, Environment, Precondition, Record, Version};
