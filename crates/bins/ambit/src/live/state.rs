use std::collections::{BTreeMap, BTreeSet};

use ambit_evidence::Link;
use ambit_evidence::v1::ReadError;
use ambit_ids::{DurationMs, GateId, StepId, UnixMs};
use ambit_orchestrator::awaiting;
use ambit_run::{CallDecided, CallOutcome, Event, Observation, State, ToolCall, evolve};

use super::output::Output;
use crate::text::call;

/// What a live view shows of a run: folded from its states and events, and from nothing else but what a gate puts out.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveState {
    /// The newest state.
    pub(super) state: State,
    /// Since when the same thing is waited for.
    pub(super) since: UnixMs,
    /// The newest call that was decided.
    pub(super) call: Option<Decided>,
    /// The steps of the plan that patches which were applied cite.
    pub(super) patched: BTreeSet<StepId>,
    /// How long each gate may take.
    pub(super) gate_limits: BTreeMap<GateId, DurationMs>,
    /// Whether whoever looks on is asked, or was.
    pub(super) cancel: Cancel,
    /// The step that the patch in flight cites.
    pub(super) citing: Option<StepId>,
    /// What the gate in flight put out last.
    pub(super) output: Output,
}

/// Where the question stands that the keyboard may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cancel {
    /// Nobody wants to cancel.
    #[default]
    Unasked,
    /// It is asked whether the run is to be cancelled. `by_key`: whether a key can answer.
    Asked { by_key: bool },
    /// The run is told to end.
    Wanted,
}

/// A call that was decided, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    /// The call in a few words.
    pub(super) call: String,
    /// The verdict.
    pub(super) verdict: Verdict,
    /// What it rests on; empty where the call was allowed.
    pub(super) why: String,
}

/// What was decided about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    Denied,
    NeedsApproval,
    Repeated,
    OverLimit,
}

impl Verdict {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::NeedsApproval => "needs approval",
            Self::Repeated => "answered before",
            Self::OverLimit => "over a limit",
        }
    }
}

impl LiveState {
    /// What the records of a run lead to.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub(crate) fn of(links: &[Link]) -> Result<Self, ReadError> {
        let mut live = Self::default();
        for link in links {
            let event = link.record.event()?;
            let at = link.record.ts.parse().unwrap_or(live.since);
            let state = evolve(std::mem::take(&mut live.state), &event);
            live.tell(at, state, &event);
        }
        Ok(live)
    }

    /// Takes what happened: these events led to this state.
    pub(crate) fn told(&mut self, at: UnixMs, state: &State, events: &[Event]) {
        for event in events {
            self.take(event);
        }
        self.arrive(at, state.clone());
    }

    fn tell(&mut self, at: UnixMs, state: State, event: &Event) {
        self.take(event);
        self.arrive(at, state);
    }

    fn arrive(&mut self, at: UnixMs, state: State) {
        if self.since == UnixMs::default() || awaiting(&state) != awaiting(&self.state) {
            self.since = at;
        }
        self.state = state;
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::PlanAccepted { .. } => self.patched.clear(),
            Event::CallDecided(made) => {
                self.output = Output::default();
                self.citing = made.step.clone().filter(|_| made.outcome == CallOutcome::Perform);
                self.call = Some(Decided::of(made));
            }
            Event::CallObserved { observation, .. } => {
                if let (Observation::PatchApplied(_), Some(step)) = (observation, self.citing.take()) {
                    self.patched.insert(step);
                }
            }
            Event::ProposalDenied { denial, was_plan, .. } => {
                let call = if *was_plan { "a plan" } else { "no call" };
                let why = format!("{}: {}", denial.code, denial.detail);
                self.call = Some(Decided { call: call.to_owned(), verdict: Verdict::Denied, why });
            }
            _ => {}
        }
    }
}

impl Decided {
    fn of(made: &CallDecided) -> Self {
        let facts = || made.facts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let rules =
            || made.decision.rules.iter().map(ambit_ids::RuleId::as_str).collect::<Vec<_>>().join(", ");
        let (verdict, why) = match &made.outcome {
            CallOutcome::Perform => (Verdict::Allowed, String::new()),
            CallOutcome::Denied(denial) if denial.rules.is_empty() => (Verdict::Denied, denial.to_string()),
            CallOutcome::Denied(denial) => {
                let rules: Vec<&str> = denial.rules.iter().map(ambit_ids::RuleId::as_str).collect();
                (Verdict::Denied, format!("by {}: {}", rules.join(", "), denial.detail))
            }
            CallOutcome::Held(held) => {
                (Verdict::NeedsApproval, format!("{} by {}: {}", held.capability, rules(), facts()))
            }
            CallOutcome::Replayed(_) => (Verdict::Repeated, "the original effect is the answer".to_owned()),
            CallOutcome::Ends { .. } => {
                (Verdict::Denied, format!("by {}, which ends the run: {}", rules(), facts()))
            }
            CallOutcome::OverLimit(limit) => (Verdict::OverLimit, limit.to_string()),
        };
        Self { call: described(&made.call, made.step.as_ref()), verdict, why }
    }
}

/// A call in a few words. Of a patch, nothing but its size is known before it is applied.
fn described(tool_call: &ToolCall, step: Option<&StepId>) -> String {
    match tool_call {
        ToolCall::ApplyProjectPatch { patch_bytes, .. } => {
            let step = step.map(|step| format!(" for {step}")).unwrap_or_default();
            format!("patch of {patch_bytes}{step}")
        }
        other => call(other),
    }
}
