use super::super::noise::Noise;
use super::super::operations::{ArmPlan, Goal};
use super::*;

const fn plan(name: &'static str, role: Role) -> ArmPlan {
    ArmPlan { name, role, lacks: "much", program: |ground| ground.own("none") }
}
static ARMS: [ArmPlan; 3] = [plan("floor", Role::Limit), plan("mine", Role::Ours), plan("other", Role::Peer)];
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
