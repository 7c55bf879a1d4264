use ambit_ids::{ByteCount, DurationMs, MicroUsd};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};

use super::run_budget::{BudgetCeilings, RunBudget};

const MINUTE_MS: u64 = 60_000;

impl Serialize for RunBudget {
    /// The keys of a document, with the money in micro-dollars. A time that is not whole minutes has no such form and
    /// is refused.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BudgetCeilings::from(*self).serialize(serializer)
    }
}

impl From<RunBudget> for BudgetCeilings {
    fn from(budget: RunBudget) -> Self {
        Self {
            max_model_steps: Some(budget.max_model_steps),
            max_patch_attempts_per_gate: Some(budget.max_patch_attempts_per_gate),
            max_elapsed: Some(budget.max_elapsed),
            max_changed_files: Some(budget.max_changed_files),
            max_added_dependencies: Some(budget.max_added_dependencies),
            max_parallel_processes: Some(budget.max_parallel_processes),
            max_tool_cost: Some(budget.max_tool_cost),
            stop_on_repeated_failure_fingerprint: Some(budget.stop_on_repeated_failure_fingerprint),
            max_output: Some(budget.max_output),
            max_side_effects: Some(budget.max_side_effects),
        }
    }
}

impl Serialize for BudgetCeilings {
    /// As [`RunBudget`], without the limits that are absent.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let minutes = match self.max_elapsed.map(DurationMs::get) {
            Some(ms) if ms % MINUTE_MS != 0 => {
                return Err(S::Error::custom("a document tells the time of a run in whole minutes"));
            }
            elapsed => elapsed.map(|ms| ms / MINUTE_MS),
        };
        let count = |limit: Option<u32>| limit.map(u64::from);
        let limits = [
            ("maxModelSteps", count(self.max_model_steps)),
            ("maxPatchAttemptsPerGate", count(self.max_patch_attempts_per_gate)),
            ("maxElapsedMinutes", minutes),
            ("maxChangedFiles", count(self.max_changed_files)),
            ("maxAddedDependencies", count(self.max_added_dependencies)),
            ("maxParallelProcesses", count(self.max_parallel_processes)),
            ("maxToolCostMicroUsd", self.max_tool_cost.map(MicroUsd::get)),
            ("stopOnRepeatedFailureFingerprint", count(self.stop_on_repeated_failure_fingerprint)),
            ("maxOutputBytes", self.max_output.map(ByteCount::get)),
            ("maxSideEffects", count(self.max_side_effects)),
        ];
        let mut map = serializer.serialize_map(None)?;
        for (key, limit) in limits {
            if let Some(limit) = limit {
                map.serialize_entry(key, &limit)?;
            }
        }
        map.end()
    }
}
