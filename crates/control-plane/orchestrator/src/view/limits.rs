use ambit_ids::UnixMs;
use ambit_run::{Dossier, Limit, current_gate};
use serde::Serialize;

/// A limit and what is left of it, in the unit of the limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitView {
    /// The limit.
    pub limit: String,
    /// What is left.
    pub left: u64,
    /// The limit itself.
    pub of: u64,
    /// The unit.
    pub unit: &'static str,
}

/// Every limit of a run and what is left of it.
pub(crate) fn limit_views(dossier: &Dossier, now: UnixMs) -> Vec<LimitView> {
    let (ledger, limits) = (&dossier.ledger, dossier.ledger.limits());
    let (spent, reserved) = (ledger.spent(), ledger.reserved());
    let current =
        current_gate(dossier).map(|(gate, _)| dossier.attempts.get(gate).copied().unwrap_or_default());
    let patches = dossier.patches.last();
    let sightings = dossier.gates.sightings().into_values().max().unwrap_or_default();
    Limit::ALL
        .iter()
        .map(|limit| {
            let (of, used, unit) = match limit {
                Limit::ModelSteps => {
                    (limits.model_steps.into(), u64::from(spent.model_steps + reserved.model_steps), "steps")
                }
                Limit::PatchAttemptsPerGate => {
                    (limits.patch_attempts_per_gate.into(), current.unwrap_or_default().into(), "patches")
                }
                Limit::Elapsed => {
                    let left = ledger.deadline().since(now).get();
                    (limits.elapsed.get(), limits.elapsed.get().saturating_sub(left), "ms")
                }
                Limit::ChangedFiles => (
                    limits.changed_files.into(),
                    patches.map_or(0, |patch| patch.changed_from_base).into(),
                    "files",
                ),
                Limit::AddedDependencies => (
                    limits.added_dependencies.into(),
                    patches.map_or(0, |patch| patch.added_dependencies).into(),
                    "dependencies",
                ),
                Limit::ParallelProcesses => {
                    (limits.parallel_processes.into(), reserved.processes.into(), "processes")
                }
                Limit::ToolCost => {
                    (limits.tool_cost.get(), spent.cost.get().saturating_add(reserved.cost.get()), "microUsd")
                }
                Limit::RepeatedFailure => {
                    (limits.repeated_failure.into(), u64::from(sightings.saturating_sub(1)), "repeats")
                }
                Limit::OutputBytes => {
                    (limits.output.get(), spent.output.get().saturating_add(reserved.output.get()), "bytes")
                }
                Limit::SideEffects => (
                    limits.side_effects.into(),
                    u64::from(spent.side_effects + reserved.side_effects),
                    "calls",
                ),
            };
            LimitView { limit: limit.as_str().to_owned(), left: of.saturating_sub(used), of, unit }
        })
        .collect()
}
