use ambit_ids::{GateId, UnixMs};
use ambit_run::{Dossier, Limit};
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
    /// Of a limit that holds for each gate by itself: what is left for every gate that a patch was counted for, which
    /// is the first that did not pass when the patch was made. `left` is that of the gate with the least.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_gate: Vec<GateLimitView>,
}

/// What is left of a limit for one gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateLimitView {
    /// The gate.
    pub gate: GateId,
    /// What is left.
    pub left: u64,
}

/// Every limit of a run and what is left of it.
pub(crate) fn limit_views(dossier: &Dossier, now: UnixMs) -> Vec<LimitView> {
    let (ledger, limits) = (&dossier.ledger, dossier.ledger.limits());
    let (spent, reserved) = (ledger.spent(), ledger.reserved());
    let attempts = dossier.attempts.values().max().copied().unwrap_or_default();
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
                    (limits.patch_attempts_per_gate.into(), attempts.into(), "patches")
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
            let per_gate =
                if *limit == Limit::PatchAttemptsPerGate { per_gate(dossier, of) } else { Vec::new() };
            LimitView { limit: limit.as_str().to_owned(), left: of.saturating_sub(used), of, unit, per_gate }
        })
        .collect()
}

/// In the order of the gates.
fn per_gate(dossier: &Dossier, of: u64) -> Vec<GateLimitView> {
    let gates = dossier.pins.gates.iter().map(|gate| &gate.id);
    gates
        .filter_map(|gate| {
            let used = dossier.attempts.get(gate)?;
            Some(GateLimitView { gate: gate.clone(), left: of.saturating_sub((*used).into()) })
        })
        .collect()
}
