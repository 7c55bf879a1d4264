use ambit_ids::{DurationMs, MicroUsd};
use ambit_orchestrator::{LimitView, RunView};
use ambit_run::Limit;
use ratatui::text::Line;

use super::frame::{Screen, clock, labelled};

/// What is left of the budget: steps, money and time, and whatever else is nearly used up; the scarcest first.
pub(super) fn lines(view: &RunView, screen: Screen) -> Vec<Line<'static>> {
    let mut told: Vec<&LimitView> = view.remaining_budget.iter().filter(|limit| is_told(limit)).collect();
    told.sort_by_key(|limit| per_mille_left(limit));
    let with_bars = screen.width >= 100;
    let parts: Vec<String> = told
        .into_iter()
        .map(|limit| {
            let bar =
                if with_bars { format!(" {}", screen.bar(limit.left, limit.of, 8)) } else { String::new() };
            format!("{}{bar} {}", name(limit), left(limit))
        })
        .collect();
    let most = if screen.width < 60 { 3 } else { 2 };
    labelled("left", screen.flow(&parts, screen.dot(), most))
}

fn is_told(limit: &LimitView) -> bool {
    let Ok(kind) = limit.limit.parse::<Limit>() else { return false };
    match kind {
        Limit::ModelSteps | Limit::ToolCost | Limit::Elapsed => true,
        // Given back whenever a call ends.
        Limit::ParallelProcesses => false,
        _ => limit.left < limit.of && per_mille_left(limit) <= 340,
    }
}

fn per_mille_left(limit: &LimitView) -> u64 {
    limit.left.saturating_mul(1_000).checked_div(limit.of).unwrap_or(0)
}

fn name(limit: &LimitView) -> &'static str {
    match limit.limit.parse() {
        Ok(Limit::ModelSteps) => "steps",
        Ok(Limit::PatchAttemptsPerGate) => "patches per gate",
        Ok(Limit::Elapsed) => "time",
        Ok(Limit::ChangedFiles) => "files",
        Ok(Limit::AddedDependencies) => "dependencies",
        Ok(Limit::ParallelProcesses) => "processes",
        Ok(Limit::ToolCost) => "money",
        Ok(Limit::RepeatedFailure) => "repeated failures",
        Ok(Limit::OutputBytes) => "output",
        Ok(Limit::SideEffects) => "side effects",
        Err(()) => "limit",
    }
}

fn left(limit: &LimitView) -> String {
    match limit.unit {
        "ms" => format!("{} of {}", clock(DurationMs::new(limit.left)), clock(DurationMs::new(limit.of))),
        "microUsd" => format!("{} of {} USD", MicroUsd::new(limit.left), MicroUsd::new(limit.of)),
        "bytes" => format!("{} of {} KiB", limit.left / 1_024, limit.of / 1_024),
        _ => format!("{} of {}", limit.left, limit.of),
    }
}
