use ambit_ids::{ByteCount, DurationMs, MicroUsd};

use super::run_budget::{BudgetCeilings, RunBudget};
use crate::cursor::{Cursor, Fields, Read, Reported};
use crate::problem::{Finding, ProblemCode};

pub(super) const MODEL_STEPS: u32 = 100;
const PATCH_ATTEMPTS: u32 = 20;
const ELAPSED_MINUTES: u64 = 24 * 60;
const CHANGED_FILES: u32 = 1_000;
const ADDED_DEPENDENCIES: u32 = 50;
const PARALLEL_PROCESSES: u32 = 64;
pub(super) const TOOL_COST: MicroUsd = MicroUsd::new(100_000_000);
const REPEATED_FAILURES: u32 = 10;
const OUTPUT_BYTES: u64 = 16 << 30;
const SIDE_EFFECTS: u32 = 1_000;

/// Reads a `runBudget` of which any limit may be absent.
pub(crate) fn read_ceilings(cursor: &Cursor<'_>) -> Read<BudgetCeilings> {
    read_limits(cursor, Presence::Optional)
}

/// Reads a `runBudget` of which every limit must stand.
pub(crate) fn read_run_budget(cursor: &Cursor<'_>) -> Read<RunBudget> {
    complete(&read_limits(cursor, Presence::Required)?).ok_or(Reported)
}

/// Whether a limit may be absent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

impl Presence {
    fn of<'a>(self, fields: &mut Fields<'a>, key: &'static str) -> Option<Cursor<'a>> {
        match self {
            Self::Required => fields.required(key).ok(),
            Self::Optional => fields.optional(key),
        }
    }
}

fn read_limits(cursor: &Cursor<'_>, presence: Presence) -> Read<BudgetCeilings> {
    let mut fields = cursor.fields()?;
    let mut integer =
        |key, low, high| presence.of(&mut fields, key).map(|c| c.integer(low..=high)).transpose();
    let minutes = integer("maxElapsedMinutes", 1, ELAPSED_MINUTES);
    let output = integer("maxOutputBytes", 1, OUTPUT_BYTES);
    let mut count = |key, low, high| presence.of(&mut fields, key).map(|c| c.count(low..=high)).transpose();
    let steps = count("maxModelSteps", 1, MODEL_STEPS);
    let attempts = count("maxPatchAttemptsPerGate", 1, PATCH_ATTEMPTS);
    let files = count("maxChangedFiles", 1, CHANGED_FILES);
    let dependencies = count("maxAddedDependencies", 0, ADDED_DEPENDENCIES);
    let processes = count("maxParallelProcesses", 1, PARALLEL_PROCESSES);
    let repeats = count("stopOnRepeatedFailureFingerprint", 1, REPEATED_FAILURES);
    let effects = count("maxSideEffects", 1, SIDE_EFFECTS);
    let money = MoneyKeys { usd: "maxToolCostUsd", micro_usd: "maxToolCostMicroUsd", limit: TOOL_COST };
    let cost = money.read(&mut fields);
    if cost == Ok(None) && presence == Presence::Required {
        let _ = fields.required(money.usd);
    }
    fields.finish()?;
    Ok(BudgetCeilings {
        max_model_steps: steps?,
        max_patch_attempts_per_gate: attempts?,
        max_elapsed: minutes?.and_then(DurationMs::from_minutes),
        max_changed_files: files?,
        max_added_dependencies: dependencies?,
        max_parallel_processes: processes?,
        max_tool_cost: cost?,
        stop_on_repeated_failure_fingerprint: repeats?,
        max_output: output?.map(ByteCount::new),
        max_side_effects: effects?,
    })
}

fn complete(ceilings: &BudgetCeilings) -> Option<RunBudget> {
    Some(RunBudget {
        max_model_steps: ceilings.max_model_steps?,
        max_patch_attempts_per_gate: ceilings.max_patch_attempts_per_gate?,
        max_elapsed: ceilings.max_elapsed?,
        max_changed_files: ceilings.max_changed_files?,
        max_added_dependencies: ceilings.max_added_dependencies?,
        max_parallel_processes: ceilings.max_parallel_processes?,
        max_tool_cost: ceilings.max_tool_cost?,
        stop_on_repeated_failure_fingerprint: ceilings.stop_on_repeated_failure_fingerprint?,
        max_output: ceilings.max_output?,
        max_side_effects: ceilings.max_side_effects?,
    })
}

/// An amount of money under one of two keys: a decimal for people, or an integer as canonical bytes hold it.
pub(crate) struct MoneyKeys {
    pub(crate) usd: &'static str,
    pub(crate) micro_usd: &'static str,
    pub(crate) limit: MicroUsd,
}

impl MoneyKeys {
    /// Reads the amount where it stands.
    pub(crate) fn read(&self, fields: &mut Fields<'_>) -> Read<Option<MicroUsd>> {
        match (fields.optional(self.usd), fields.optional(self.micro_usd)) {
            (None, None) => Ok(None),
            (Some(usd), None) => usd.us_dollars(MicroUsd::ZERO..=self.limit).map(Some),
            (None, Some(micro)) => {
                micro.integer(0..=self.limit.get()).map(|value| Some(MicroUsd::new(value)))
            }
            (Some(_), Some(micro)) => {
                let message = format!("the amount stands in `{}` and in `{}`", self.usd, self.micro_usd);
                Err(micro.refuse_key(Finding::new(
                    ProblemCode::Contradiction,
                    message,
                    "exactly one may stand",
                )))
            }
        }
    }
}
