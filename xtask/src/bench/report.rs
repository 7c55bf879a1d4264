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
mod tests {
    use super::super::noise::Noise;
    use super::super::operations::{ArmPlan, Goal};
    use super::*;

    const fn plan(name: &'static str, role: Role) -> ArmPlan {
        ArmPlan { name, role, lacks: "much", program: |ground| ground.own("none") }
    }
    static ARMS: [ArmPlan; 3] =
        [plan("floor", Role::Limit), plan("mine", Role::Ours), plan("other", Role::Peer)];
    static OPERATION: Operation = Operation {
        name: "act",
        says: "do it",
        rounds: 10,
        performances: 1,
        traced: true,
        isolates: true,
        before: |_| Ok(()),
        arms: &ARMS,
        goals: &[
            Goal { over: "mine", under: "floor", bound: Bound::AtMost(1.6) },
            Goal { over: "other", under: "mine", bound: Bound::AtLeast(2.0) },
        ],
    };

    fn arm(plan: &'static ArmPlan, ns: [f64; 10]) -> MeasuredArm {
        let sample = |count| Sample { wall_ns: 1, counts: BTreeMap::from([("forks".to_owned(), count)]) };
        let counted = match plan.role {
            Role::Limit => Err("not counted: no tracer".to_owned()),
            Role::Ours | Role::Peer => Ok(BTreeMap::from([("syncs".to_owned(), 4)])),
        };
        let samples = vec![sample(1), sample(3), sample(3)];
        MeasuredArm {
            plan,
            round_ns: ns.to_vec(),
            samples,
            written_bytes: Some(900),
            counted,
            held: Held::Unasked,
        }
    }

    /// Ten rounds, of which the first `noisy` are noisy, and in those the peer looks a hundred times as slow.
    fn measured(noisy: usize) -> Measured {
        let quiet = Noise { spin_before_ns: 100, spin_after_ns: 100, stolen_share: 0.0 };
        let noise = (0..10)
            .map(|round| if round < noisy { Noise { stolen_share: 0.5, ..quiet } } else { quiet })
            .collect();
        let peer = std::array::from_fn(|round| if round < noisy { 40_000.0 } else { 4_000.0 });
        let arms = vec![arm(&ARMS[0], [1_000.0; 10]), arm(&ARMS[1], [2_000.0; 10]), arm(&ARMS[2], peer)];
        let load = Load { average: 1.0, processors: 2 };
        Measured { arms, absent: vec![(&ARMS[2], "not installed".to_owned())], noise, load }
    }

    #[test]
    fn every_pair_of_a_goal_is_compared_also_beside_those_that_always_are() {
        let apart = Operation {
            goals: &[Goal { over: "other", under: "floor", bound: Bound::AtLeast(2.0) }],
            ..OPERATION
        };
        let result = Outcome::of(&apart, &measured(0), 1);
        let pairs: Vec<(&str, f64)> =
            result.ratios.iter().map(|(pair, ratio)| (pair.as_str(), ratio.median)).collect();
        assert_eq!(pairs, [("mine / floor", 2.0), ("other / mine", 2.0), ("other / floor", 4.0)]);
    }

    #[test]
    fn noisy_rounds_do_not_count_and_too_many_of_them_make_a_run_inconclusive() {
        let result = Outcome::of(&OPERATION, &measured(4), 1);
        assert!(result.is_conclusive());
        let ratios: Vec<(&str, f64)> =
            result.ratios.iter().map(|(pair, ratio)| (pair.as_str(), ratio.median)).collect();
        assert_eq!(ratios, [("mine / floor", 2.0), ("other / mine", 2.0)]);
        let noisy = Outcome::of(&OPERATION, &measured(5), 1);
        assert!(!noisy.is_conclusive());
        assert_eq!(noisy.json()["verdict"], "inconclusive");
        assert!(noisy.table().contains("5 of 10 rounds quiet, load 1.0 on 2 processors: inconclusive, its"));
        assert!(noisy.table().contains("other") && noisy.table().contains("22.0 us"), "{}", noisy.table());
    }

    #[test]
    fn a_run_beside_the_work_of_others_says_so() {
        let busy = Measured { load: Load { average: 7.2, processors: 2 }, ..measured(0) };
        let result = Outcome::of(&OPERATION, &busy, 1);
        assert!(!result.is_conclusive());
        assert!(result.markdown().contains("load 7.2 on 2 processors: inconclusive, others were at work"));
    }

    #[test]
    fn counts_and_absent_arms_stand_beside_the_times() {
        let result = Outcome::of(&OPERATION, &measured(0), 1);
        for text in [result.table(), result.markdown()] {
            assert!(text.contains("forks 3, syncs 4, writtenBytes 900"), "{text}");
            assert!(text.contains("writtenBytes 900, not counted: no tracer"), "{text}");
            assert!(text.contains("absent") && text.contains("not installed"), "{text}");
        }
        assert_eq!(result.json()["arms"][1]["counts"]["forks"], 3);
        assert_eq!(result.json()["absent"][0]["why"], "not installed");
    }

    #[test]
    fn a_goal_is_met_or_missed_by_so_much_and_not_judged_where_the_run_says_nothing() {
        let goals = Outcome::of(&OPERATION, &measured(4), 1).goals;
        assert_eq!(goals[0], "mine / floor at most 1.60: missed with 2.00, by 1.25 times");
        assert_eq!(goals[1], "other / mine at least 2.00: met with 2.00");
        let noisy = Outcome::of(&OPERATION, &measured(5), 1);
        assert_eq!(noisy.goals[1], "other / mine at least 2.00: not judged");
        // Counts are told all the same.
        assert!(noisy.markdown().contains("syncs 4"));
    }

    #[test]
    fn without_an_arm_of_ours_peers_are_held_against_the_limit() {
        assert_eq!(pairs(&[Role::Peer, Role::Limit, Role::Peer]), [(0, 1), (2, 1)]);
        assert_eq!(pairs(&[Role::Peer]), []);
    }
}
