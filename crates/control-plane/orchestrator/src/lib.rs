//! The one loop of a run: load, step, commit, and reconcile what is pending with what is running.
//!
//! It owns the lease of a run's stream, its budget and its recovery. It cannot approve anything: approvals reach it as
//! signed decisions, and it holds no key that could make one.

#![forbid(unsafe_code)]

mod absent;
mod admission;
mod check;
mod context;
mod conversation;
mod covert;
mod drive;
mod drive_error;
mod effects;
mod holding;
mod inbox;
mod library;
mod live;
mod notes;
mod observer;
mod open_turn;
mod orchestrator;
mod reply;
mod start;
mod turn;
mod view;
mod withheld;

pub use admission::{Documents, MissingDocument};
pub use ambit_evidence::{SignedDecision, fold};
pub use ambit_ports::policy::{Policies, PolicyUnusable};
pub use ambit_ports::store::RunRef;
pub use drive_error::DriveError;
pub use holding::Driver;
pub use inbox::InboxCommand;
pub use library::{Library, LibraryError, ResolvedProfile};
pub use observer::Observer;
pub use orchestrator::Orchestrator;
pub use start::{Rejected, StartError, StartRun, Started};
pub use view::{
    ApprovalView, AttemptView, CompletionView, GateLimitView, GateView, LimitView, PinsView, PlanStepView,
    RunView, awaiting, ended, grants, view,
};
