//! The run: one bounded job of one agent, as a pure state machine.
//!
//! [`step`] says what follows from a command, [`evolve`] what an event makes of the state, and [`pending`] what the state
//! asks for. All three are pure and total. Nothing here performs an effect: whoever holds the run compares what is
//! pending with what is running, starts the one and aborts the other, and tells the run what came of it.

#![forbid(unsafe_code)]

mod acceptance;
mod answer;
mod approvals;
mod bounds;
mod call;
mod command;
mod compare;
mod consent;
mod denial;
mod derive;
mod event;
mod evolve;
mod gate_book;
mod ledger;
mod limit;
mod pending;
mod phase;
mod pins;
mod plan;
mod state;
mod step;
mod stop;
pub mod table;
pub mod tool;

pub use acceptance::{Acceptance, acceptance, current_gate};
pub use answer::{Move, ProposedCall, read_answer};
pub use approvals::{
    ApprovalBook, ApprovalDecision, ApprovalVerdict, HeldProposal, PendingApproval, Receipt, Rollback,
    proposal_id,
};
pub use bounds::{APPROVAL_MS, CLEANUP_TRIES, SANDBOX_ALLOCATIONS};
pub use call::ToolCall;
pub use command::{Answered, AssessedCall, Command, Finding, PatchFinding, Proposal, Refusal};
pub use compare::{
    CaseComparison, CaseStanding, Change, Evidence, GateComparison, GateStanding, HiddenStanding, Judged,
    Side, compare_cases, compare_gates,
};
pub use consent::{Inspection, Uninspectable, VoidReason};
pub use denial::{Denial, DenialCode};
pub use derive::{Circumstances, PinnedDocuments, PinsError};
pub use event::{AppliedPatch, CallDecided, CallOutcome, ChargeBasis, Event, Observation, SandboxHeld};
pub use evolve::evolve;
pub use gate_book::{GateBook, GateRecord, GateStatus};
pub use ledger::{Amounts, Ledger, Limits};
pub use limit::Limit;
pub use pending::{Effect, pending};
pub use phase::Phase;
pub use pins::{
    Accountability, AgentPin, BlueprintPin, GatePin, HiddenCheck, Pins, ProfilePin, RequestPin, RevisionPin,
    Rules,
};
pub use plan::{Plan, PlanStep, check_step};
pub use state::{
    Cleanup, Closing, DeniedCall, Dossier, Ended, FailedGate, InFlight, Open, OpenTurn, Stage, State,
};
pub use step::step;
pub use stop::StopReason;
