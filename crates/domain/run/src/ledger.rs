use ambit_ids::{ByteCount, DurationMs, MicroUsd, UnixMs};

use crate::Limit;

/// The effective limits of a run, one value for each [`Limit`], in the unit of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Turns of the agent.
    pub model_steps: u32,
    /// Patches against one gate that does not pass.
    pub patch_attempts_per_gate: u32,
    /// Time since admission.
    pub elapsed: DurationMs,
    /// Files that differ from the base revision.
    pub changed_files: u32,
    /// Dependencies that the base revision did not have.
    pub added_dependencies: u32,
    /// Processes of named commands at any one time.
    pub parallel_processes: u32,
    /// Money.
    pub tool_cost: MicroUsd,
    /// Claimed fixes after which the same failure may be seen again; one more sighting ends the run.
    pub repeated_failure: u32,
    /// Bytes of output of named commands.
    pub output: ByteCount,
    /// Calls with a side effect.
    pub side_effects: u32,
}

/// What a call or a turn uses up. The same shape serves for a reservation and for what was really used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Turns of the agent.
    pub model_steps: u32,
    /// Money.
    pub cost: MicroUsd,
    /// Bytes of output.
    pub output: ByteCount,
    /// Calls with a side effect.
    pub side_effects: u32,
    /// Processes side by side. Given back when the call ends, never used up.
    pub processes: u32,
}

impl Amounts {
    /// What one turn of the agent uses up.
    #[must_use]
    pub const fn turn(cost: MicroUsd) -> Self {
        Self { model_steps: 1, cost, output: ByteCount::ZERO, side_effects: 0, processes: 0 }
    }

    /// Both together. What does not fit stays at the top.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        sum(self, other)
    }

    const NOTHING: Self =
        Self { model_steps: 0, cost: MicroUsd::ZERO, output: ByteCount::ZERO, side_effects: 0, processes: 0 };
}

/// What was used, what is reserved, and what is left of the additive limits.
///
/// Every use is reserved before its effect and settled after it, so the sum of both never passes a limit by more than
/// what a reservation was overdrawn by; that is charged in full and ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    limits: Limits,
    spent: Amounts,
    reserved: Amounts,
    admitted_at: UnixMs,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub const fn new(limits: Limits, admitted_at: UnixMs) -> Self {
        Self { limits, spent: Amounts::NOTHING, reserved: Amounts::NOTHING, admitted_at }
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was used.
    #[must_use]
    pub const fn spent(&self) -> &Amounts {
        &self.spent
    }

    /// What is reserved and not settled yet.
    #[must_use]
    pub const fn reserved(&self) -> &Amounts {
        &self.reserved
    }

    /// When time is up.
    #[must_use]
    pub fn deadline(&self) -> UnixMs {
        self.admitted_at.saturating_add(self.limits.elapsed)
    }

    /// Whether `wanted` fits beside all that is used and reserved.
    ///
    /// # Errors
    /// The limit that it would pass, the first in the order of [`Limit::ALL`].
    pub fn check(&self, wanted: &Amounts) -> Result<(), Limit> {
        let within = |spent: u64, reserved: u64, wanted: u64, limit: u64| {
            spent
                .checked_add(reserved)
                .and_then(|used| used.checked_add(wanted))
                .is_some_and(|total| total <= limit)
        };
        let (spent, reserved, limits) = (&self.spent, &self.reserved, &self.limits);
        let rows = [
            (
                Limit::ModelSteps,
                spent.model_steps.into(),
                reserved.model_steps.into(),
                wanted.model_steps.into(),
                limits.model_steps.into(),
            ),
            (
                Limit::ParallelProcesses,
                0,
                reserved.processes.into(),
                wanted.processes.into(),
                limits.parallel_processes.into(),
            ),
            (
                Limit::ToolCost,
                spent.cost.get(),
                reserved.cost.get(),
                wanted.cost.get(),
                limits.tool_cost.get(),
            ),
            (
                Limit::OutputBytes,
                spent.output.get(),
                reserved.output.get(),
                wanted.output.get(),
                limits.output.get(),
            ),
            (
                Limit::SideEffects,
                spent.side_effects.into(),
                reserved.side_effects.into(),
                wanted.side_effects.into(),
                limits.side_effects.into(),
            ),
        ];
        match rows
            .into_iter()
            .find(|(_, spent, reserved, wanted, limit)| !within(*spent, *reserved, *wanted, *limit))
        {
            Some((limit, ..)) => Err(limit),
            None => Ok(()),
        }
    }

    /// The ledger with `amounts` reserved.
    #[must_use]
    pub fn reserve(mut self, amounts: &Amounts) -> Self {
        self.reserved = sum(&self.reserved, amounts);
        self
    }

    /// The ledger with a reservation replaced by what was really used.
    #[must_use]
    pub fn settle(mut self, reservation: &Amounts, used: &Amounts) -> Self {
        self.reserved = difference(&self.reserved, reservation);
        self.spent = sum(&self.spent, &Amounts { processes: 0, ..*used });
        self
    }

    /// The limit that was overdrawn by a settlement above its reservation, if any.
    #[must_use]
    pub fn overdrawn(&self) -> Option<Limit> {
        self.check(&Amounts::default()).err()
    }
}

/// A sum that stays at the top where it would not fit: an overdraft is never lost by wrapping.
fn sum(a: &Amounts, b: &Amounts) -> Amounts {
    Amounts {
        model_steps: a.model_steps.saturating_add(b.model_steps),
        cost: MicroUsd::new(a.cost.get().saturating_add(b.cost.get())),
        output: ByteCount::new(a.output.get().saturating_add(b.output.get())),
        side_effects: a.side_effects.saturating_add(b.side_effects),
        processes: a.processes.saturating_add(b.processes),
    }
}

fn difference(a: &Amounts, b: &Amounts) -> Amounts {
    Amounts {
        model_steps: a.model_steps.saturating_sub(b.model_steps),
        cost: a.cost.saturating_sub(b.cost),
        output: a.output.saturating_sub(b.output),
        side_effects: a.side_effects.saturating_sub(b.side_effects),
        processes: a.processes.saturating_sub(b.processes),
    }
}
