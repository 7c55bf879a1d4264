//! What a run says: to people, to machines, and to the page that keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Value, json};

use super::arm::Sample;
use super::isolation::Held;
use super::noise::{Load, is_conclusive, kept};
use super::operations::{Bound, Operation, Role};
use super::rounds::{Measured, MeasuredArm};
use super::statistics::{Ratio, median, minimum, ratio};

/// One operation, judged.
pub(super) struct Outcome {
    name: &'static str,
    says: &'static str,
    seed: u64,
    rounds: usize,
    kept: usize,
    load: Load,
    conclusive: bool,
    arms: Vec<ArmResult>,
    absent: Vec<(&'static str, String)>,
    ratios: Vec<(String, Ratio)>,
    goals: Vec<String>,
}

struct ArmResult {
    name: &'static str,
    role: Role,
    median_ns: f64,
    min_ns: f64,
    lacks: &'static str,
    held: Held,
    /// What one performance counts.
    counts: BTreeMap<String, u64>,
    /// Why the kernel's side is not among the counts.
    uncounted: Option<String>,
}

impl Outcome {
    pub(super) fn of(operation: &Operation, measured: &Measured, seed: u64) -> Self {
        let kept = kept(&measured.noise);
        // Without ours, or the limit, nothing is compared that matters.
        let is_whole = measured.absent.iter().all(|(plan, _)| plan.role == Role::Peer);
        let conclusive = is_whole && is_conclusive(&kept, measured.load);
        // Where too little is left to judge by, all of it is shown, and nothing is judged.
        let shown = if conclusive { kept.clone() } else { vec![true; kept.len()] };
        let times: Vec<Vec<f64>> = measured.arms.iter().map(|arm| only(&shown, &arm.round_ns)).collect();
        let arms = measured.arms.iter().zip(&times).map(|(arm, times)| ArmResult::of(arm, times)).collect();
        let roles: Vec<Role> = measured.arms.iter().map(|arm| arm.plan.role).collect();
        let name = |index: usize| measured.arms[index].plan.name;
        let found = |wanted: &str| measured.arms.iter().position(|arm| arm.plan.name == wanted);
        let aimed = operation.goals.iter().filter_map(|goal| Some((found(goal.over)?, found(goal.under)?)));
        let mut compared = pairs(&roles);
        for pair in aimed {
            if !compared.contains(&pair) {
                compared.push(pair);
            }
        }
        let ratios = compared
            .into_iter()
            .filter_map(|(over, under)| {
                let ratio = ratio(&times[over], &times[under], seed)?;
                Some((format!("{} / {}", name(over), name(under)), ratio))
            })
            .collect();
        let goals = operation
            .goals
            .iter()
            .map(|goal| {
                let ratio = found(goal.over)
                    .zip(found(goal.under))
                    .and_then(|(over, under)| ratio(&times[over], &times[under], seed))
                    .filter(|_| conclusive);
                goal_text(&format!("{} / {}", goal.over, goal.under), goal.bound, ratio)
            })
            .collect();
        Self {
            name: operation.name,
            says: operation.says,
            seed,
            rounds: kept.len(),
            kept: kept.iter().filter(|kept| **kept).count(),
            load: measured.load,
            conclusive,
            arms,
            absent: measured.absent.iter().map(|(plan, why)| (plan.name, why.clone())).collect(),
            ratios,
            goals,
        }
    }

    pub(super) fn is_conclusive(&self) -> bool {
        self.conclusive
    }

    /// What probes found in each arm that they ran in.
    fn held(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.arms.iter().filter_map(|arm| Some((arm.name, arm.held.text()?)))
    }

    fn verdict(&self) -> &'static str {
        if self.conclusive { "conclusive" } else { "inconclusive" }
    }

    fn headline(&self) -> String {
        let (kept, rounds, seed) = (self.kept, self.rounds, self.seed);
        let Load { average, processors } = self.load;
        let verdict = match (self.conclusive, self.load.is_heavy()) {
            (true, _) => "conclusive",
            (false, true) => "inconclusive, others were at work on this machine and its times prove nothing",
            (false, false) => "inconclusive, its times prove nothing",
        };
        format!(
            "{kept} of {rounds} rounds quiet, load {average:.1} on {processors} processors: {verdict}; seed {seed}"
        )
    }

    pub(super) fn table(&self) -> String {
        let mut text = format!("{}: {}\n  {}\n", self.name, self.says, self.headline());
        for arm in &self.arms {
            let (median, min) = (micros(arm.median_ns), micros(arm.min_ns));
            let (role, counts) = (arm.role.as_str(), arm.counts_text());
            let _ = writeln!(text, "  {:<20}{role:<7}{median:>12} us{min:>12} us best  {counts}", arm.name);
        }
        for (name, why) in &self.absent {
            let _ = writeln!(text, "  {name:<20}absent: {why}");
        }
        for (name, held) in self.held() {
            let _ = writeln!(text, "  {name:<20}{held}");
        }
        for (pair, ratio) in &self.ratios {
            let _ = writeln!(text, "  {pair:<34}{}", ratio_text(ratio));
        }
        for goal in &self.goals {
            let _ = writeln!(text, "  goal: {goal}");
        }
        text
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = format!("\n### {}: {}\n\n{}.\n\n", self.name, self.says, self.headline());
        text.push_str(
            "| arm | role | median µs | best µs | counts of one performance |\n|---|---|---:|---:|---|\n",
        );
        for arm in &self.arms {
            let (median, min) = (micros(arm.median_ns), micros(arm.min_ns));
            let _ = writeln!(
                text,
                "| {} | {} | {median} | {min} | {} |",
                arm.name,
                arm.role.as_str(),
                arm.counts_text()
            );
        }
        for (name, why) in &self.absent {
            let _ = writeln!(text, "| {name} | absent | | | {why} |");
        }
        text.push('\n');
        for (pair, ratio) in &self.ratios {
            let _ = writeln!(text, "- {pair}: {}", ratio_text(ratio));
        }
        for goal in &self.goals {
            let _ = writeln!(text, "- goal, {goal}");
        }
        for (name, held) in self.held() {
            let _ = writeln!(text, "- {name} {held}");
        }
        for arm in self.arms.iter().filter(|arm| !arm.lacks.is_empty()) {
            let _ = writeln!(text, "- {} lacks {}", arm.name, arm.lacks);
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let arms: Vec<Value> = self
            .arms
            .iter()
            .map(|arm| {
                json!({ "name": arm.name, "role": arm.role.as_str(), "medianNs": arm.median_ns, "minNs": arm.min_ns,
                    "counts": arm.counts, "held": arm.held.text() })
            })
            .collect();
        let absent: Vec<Value> =
            self.absent.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect();
        let ratios: Vec<Value> = self
            .ratios
            .iter()
            .map(|(pair, ratio)| {
                json!({ "pair": pair, "median": ratio.median, "low": ratio.low, "high": ratio.high,
                    "ofMinima": ratio.of_minima })
            })
            .collect();
        json!({ "operation": self.name, "says": self.says, "seed": self.seed, "rounds": self.rounds,
            "roundsKept": self.kept, "verdict": self.verdict(), "load": self.load.average, "arms": arms, "absent": absent, "ratios": ratios,
            "goals": self.goals })
    }
}

impl ArmResult {
    fn of(arm: &MeasuredArm, times: &[f64]) -> Self {
        let names: BTreeSet<&String> = arm.samples.iter().flat_map(|sample| sample.counts.keys()).collect();
        let counts = names
            .into_iter()
            .map(|name| {
                let mut values: Vec<u64> =
                    arm.samples.iter().filter_map(|sample| sample.counts.get(name)).copied().collect();
                values.sort_unstable();
                (name.clone(), values.get(values.len() / 2).copied().unwrap_or(0))
            })
            .collect();
        let mut counts: BTreeMap<String, u64> = counts;
        counts.extend(arm.written_bytes.map(|bytes| ("writtenBytes".to_owned(), bytes)));
        counts.extend(p99_us(&arm.samples).map(|p99| ("p99Us".to_owned(), p99)));
        let uncounted = match &arm.counted {
            Ok(counted) => {
                counts.extend(counted.clone());
                None
            }
            Err(why) => Some(why.clone()),
        };
        Self {
            name: arm.plan.name,
            role: arm.plan.role,
            median_ns: median(times.iter().copied().filter(|time| !time.is_nan()).collect()),
            min_ns: minimum(times),
            lacks: arm.plan.lacks,
            held: arm.held.clone(),
            counts,
            uncounted,
        }
    }

    fn counts_text(&self) -> String {
        let counts = self.counts.iter().map(|(name, count)| format!("{name} {count}"));
        counts.chain(self.uncounted.clone()).collect::<Vec<_>>().join(", ")
    }
}

/// The time that one performance in a hundred exceeds, where there were enough of them to tell.
fn p99_us(samples: &[Sample]) -> Option<u64> {
    const ENOUGH: usize = 50;
    let mut times: Vec<u64> = samples.iter().map(|sample| sample.wall_ns / 1000).collect();
    times.sort_unstable();
    (times.len() >= ENOUGH).then(|| times.get(times.len() * 99 / 100).copied()).flatten()
}

/// Which arms are told as a ratio, by their index: ours over the limit and each peer over ours; without ours, each peer
/// over the limit.
fn pairs(roles: &[Role]) -> Vec<(usize, usize)> {
    let first = |wanted: Role| roles.iter().position(|role| *role == wanted);
    let (limit, ours) = (first(Role::Limit), first(Role::Ours));
    let mut pairs: Vec<(usize, usize)> = ours.zip(limit).into_iter().collect();
    let peers = roles.iter().enumerate().filter(|(_, role)| **role == Role::Peer);
    pairs.extend(peers.filter_map(|(peer, _)| Some((peer, ours.or(limit)?))));
    pairs
}

fn only(kept: &[bool], times: &[f64]) -> Vec<f64> {
    times.iter().zip(kept).filter(|(_, kept)| **kept).map(|(time, _)| *time).collect()
}

fn micros(ns: f64) -> String {
    if ns.is_finite() { format!("{:.1}", ns / 1_000.0) } else { "-".to_owned() }
}

fn ratio_text(ratio: &Ratio) -> String {
    format!(
        "{:.2} (95 %: {:.2} to {:.2}; of the best {:.2})",
        ratio.median, ratio.low, ratio.high, ratio.of_minima
    )
}

fn goal_text(pair: &str, bound: Bound, ratio: Option<Ratio>) -> String {
    let (words, wanted) = match bound {
        Bound::AtMost(wanted) => ("at most", wanted),
        Bound::AtLeast(wanted) => ("at least", wanted),
    };
    let verdict = match (ratio.map(|ratio| ratio.median), bound) {
        (None, _) => "not judged".to_owned(),
        (Some(is), Bound::AtMost(wanted)) if is <= wanted => format!("met with {is:.2}"),
        (Some(is), Bound::AtLeast(wanted)) if is >= wanted => format!("met with {is:.2}"),
        (Some(is), Bound::AtMost(wanted)) => format!("missed with {is:.2}, by {:.2} times", is / wanted),
        (Some(is), Bound::AtLeast(wanted)) => format!("missed with {is:.2}, by {:.2} times", wanted / is),
    };
    format!("{pair} {words} {wanted:.2}: {verdict}")
}

#[cfg(test)]
mod tests;
