use ambit_ids::{EffectKey, RunId, UnixMs};

use crate::call::ToolCall;
use crate::pins::HiddenCheck;
use crate::state::{Cleanup, Closing, InFlight, Open, Stage, State};

/// Something that must be done or waited for because of the state. Derived, never stored: after a crash, a cancellation
/// or a decision, what is running is compared with what is pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Make a sandbox ready.
    AllocateSandbox {
        /// Which allocation of this run, counted from 1.
        allocation: u32,
    },
    /// Ask the agent.
    OfferTurn {
        /// The turn.
        turn: u32,
    },
    /// Perform a call that was decided, through the broker.
    Perform(Box<InFlight>),
    /// Run a hidden check.
    CheckHidden(HiddenCheck),
    /// Stop every process of the sandbox.
    TerminateProcesses,
    /// Keep the trace so far as an artifact.
    ExportTrace,
    /// Remove the sandbox and prove it.
    DestroySandbox,
    /// Say that time passed.
    WakeAt(UnixMs),
}

impl Effect {
    /// The identity of the effect within its run: two that are the same effect have one key, and a key never comes
    /// back for another effect.
    ///
    /// # Panics
    /// Never: the parts fit the grammar of keys.
    #[must_use]
    pub fn key(&self, run: &RunId) -> EffectKey {
        let tail = match self {
            Self::AllocateSandbox { allocation } => format!("allocate.{allocation}"),
            Self::OfferTurn { turn } => format!("turn.{turn}"),
            Self::Perform(flight) => format!("call.{}", flight.intent),
            Self::CheckHidden(check) => format!("hidden.{}", check.command),
            Self::TerminateProcesses => "terminate".to_owned(),
            Self::ExportTrace => "export".to_owned(),
            Self::DestroySandbox => "destroy".to_owned(),
            Self::WakeAt(moment) => format!("wake.{}", moment.get()),
        };
        #[expect(clippy::expect_used, reason = "the longest run id and tail stay within the grammar of keys")]
        // INVARIANT: a run id has at most 68 characters, a gate id at most 64, and both share the alphabet of keys.
        EffectKey::new(format!("{run}.{tail}")).expect("a run id and a short tail are a valid key")
    }
}

/// Everything that the state asks for.
#[must_use]
pub fn pending(state: &State) -> Vec<Effect> {
    match state {
        State::Vacant | State::Ended(_) => Vec::new(),
        State::Open(open) => of_open(open),
        State::Closing(closing) => of_closing(closing),
    }
}

fn of_open(open: &Open) -> Vec<Effect> {
    let deadline = open.dossier.ledger.deadline();
    let mut effects = Vec::with_capacity(3);
    if open.sandbox.is_none() {
        effects.push(Effect::AllocateSandbox { allocation: open.dossier.allocations.saturating_add(1) });
    }
    let ready = open.sandbox.is_some();
    match &open.stage {
        Stage::Sandbox => {}
        Stage::Agent(turn) if ready => effects.push(Effect::OfferTurn { turn: turn.turn }),
        Stage::Call(flight) if ready || !needs_sandbox(&flight.call) => {
            effects.push(Effect::Perform(flight.clone()));
        }
        Stage::Approval { pending, .. } => {
            effects.push(Effect::WakeAt(pending.expires.min(deadline)));
            return effects;
        }
        Stage::HiddenChecks(remaining) if ready => {
            effects.extend(remaining.first().cloned().map(Effect::CheckHidden));
        }
        Stage::Agent(_) | Stage::Call(_) | Stage::Observed | Stage::HiddenChecks(_) => {}
    }
    effects.push(Effect::WakeAt(deadline));
    effects
}

const fn needs_sandbox(call: &ToolCall) -> bool {
    matches!(call, ToolCall::RunNamedGate { .. })
}

fn of_closing(closing: &Closing) -> Vec<Effect> {
    match closing.cleanup {
        Cleanup::Terminate => vec![Effect::TerminateProcesses],
        // A call that is still in flight is told first, so that the trace holds its observation.
        Cleanup::Export if closing.in_flight.is_none() => vec![Effect::ExportTrace],
        Cleanup::Destroy => vec![Effect::DestroySandbox],
        Cleanup::Export | Cleanup::Settle { .. } => Vec::new(),
    }
}
