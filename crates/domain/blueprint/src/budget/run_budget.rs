use ambit_ids::{ByteCount, DurationMs, MicroUsd};

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
