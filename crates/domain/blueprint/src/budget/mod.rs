//! The limits of a run, and how several of them combine.

mod read;
mod write;

use ambit_ids::{ByteCount, DurationMs, MicroUsd};

pub(crate) use read::{MoneyKeys, read_ceilings, read_run_budget};

/// What one run may use in all. Every limit is enforced by the runtime; none is advice to a model.
///
/// Each field is the limit of the same name in a document's `runBudget`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunBudget {
    /// Turns of the agent.
    pub max_model_steps: u32,
    /// Patches against one gate that does not pass.
    pub max_patch_attempts_per_gate: u32,
    /// Time by the clock since admission. Whole minutes in a document.
    pub max_elapsed: DurationMs,
    /// Files that differ from the base revision.
    pub max_changed_files: u32,
    /// Dependencies that the base revision did not have.
    pub max_added_dependencies: u32,
    /// Processes of named commands at any one time.
    pub max_parallel_processes: u32,
    /// Money: model calls and named commands.
    pub max_tool_cost: MicroUsd,
    /// Claimed fixes after which the same failure fingerprint stops the run.
    pub stop_on_repeated_failure_fingerprint: u32,
    /// Bytes of output of named commands.
    pub max_output: ByteCount,
    /// Calls with a side effect.
    pub max_side_effects: u32,
}

/// Upper bounds for any of the limits of a [`RunBudget`]. An absent one bounds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetCeilings {
    /// See [`RunBudget::max_model_steps`].
    pub max_model_steps: Option<u32>,
    /// See [`RunBudget::max_patch_attempts_per_gate`].
    pub max_patch_attempts_per_gate: Option<u32>,
    /// See [`RunBudget::max_elapsed`].
    pub max_elapsed: Option<DurationMs>,
    /// See [`RunBudget::max_changed_files`].
    pub max_changed_files: Option<u32>,
    /// See [`RunBudget::max_added_dependencies`].
    pub max_added_dependencies: Option<u32>,
    /// See [`RunBudget::max_parallel_processes`].
    pub max_parallel_processes: Option<u32>,
    /// See [`RunBudget::max_tool_cost`].
    pub max_tool_cost: Option<MicroUsd>,
    /// See [`RunBudget::stop_on_repeated_failure_fingerprint`].
    pub stop_on_repeated_failure_fingerprint: Option<u32>,
    /// See [`RunBudget::max_output`].
    pub max_output: Option<ByteCount>,
    /// See [`RunBudget::max_side_effects`].
    pub max_side_effects: Option<u32>,
}

impl RunBudget {
    /// The budget with every limit lowered to its ceiling. No limit is ever raised.
    #[must_use]
    pub fn min(&self, ceilings: &BudgetCeilings) -> Self {
        fn lower<T: Ord + Copy>(limit: T, ceiling: Option<T>) -> T {
            ceiling.map_or(limit, |ceiling| limit.min(ceiling))
        }
        Self {
            max_model_steps: lower(self.max_model_steps, ceilings.max_model_steps),
            max_patch_attempts_per_gate: lower(
                self.max_patch_attempts_per_gate,
                ceilings.max_patch_attempts_per_gate,
            ),
            max_elapsed: lower(self.max_elapsed, ceilings.max_elapsed),
            max_changed_files: lower(self.max_changed_files, ceilings.max_changed_files),
            max_added_dependencies: lower(self.max_added_dependencies, ceilings.max_added_dependencies),
            max_parallel_processes: lower(self.max_parallel_processes, ceilings.max_parallel_processes),
            max_tool_cost: lower(self.max_tool_cost, ceilings.max_tool_cost),
            stop_on_repeated_failure_fingerprint: lower(
                self.stop_on_repeated_failure_fingerprint,
                ceilings.stop_on_repeated_failure_fingerprint,
            ),
            max_output: lower(self.max_output, ceilings.max_output),
            max_side_effects: lower(self.max_side_effects, ceilings.max_side_effects),
        }
    }
}

/// Why the bounds of a start command are not acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartBoundsError {
    /// `maxSteps` is out of range.
    #[error("maxSteps must be 1 to 100, and is {0}; nothing was started")]
    Steps(u32),
    /// `maxCostUsd` is out of range.
    #[error("maxCostUsd must be more than 0 and at most 100.00 US dollars, and is {0}; nothing was started")]
    Cost(MicroUsd),
}

impl StartBoundsError {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Steps(_) => "MAX_STEPS_OUT_OF_RANGE",
            Self::Cost(_) => "MAX_COST_OUT_OF_RANGE",
        }
    }
}

impl BudgetCeilings {
    /// The ceilings of a start command, which names at most two.
    ///
    /// # Errors
    /// [`StartBoundsError`] for `maxSteps` outside of 1 to 100, and for `maxCostUsd` of 0 or past 100.
    pub fn of_start_command(
        max_steps: Option<u32>,
        max_cost: Option<MicroUsd>,
    ) -> Result<Self, StartBoundsError> {
        match (max_steps, max_cost) {
            (Some(steps), _) if !(1..=read::MODEL_STEPS).contains(&steps) => {
                Err(StartBoundsError::Steps(steps))
            }
            (_, Some(cost)) if cost == MicroUsd::ZERO || cost > read::TOOL_COST => {
                Err(StartBoundsError::Cost(cost))
            }
            _ => Ok(Self { max_model_steps: max_steps, max_tool_cost: max_cost, ..Self::default() }),
        }
    }
}
