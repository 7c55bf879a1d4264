//! Arms take turns: in each round all of them forwards and then backwards, so that a drift meets every arm alike.

use super::arm::{Arm, Process, Sample, Start};
use super::counting::{self, Counted};
use super::isolation::Held;
use super::noise::{Load, Noise, Processor, spin_ns};
use super::operations::{ArmPlan, Ground, Operation, Role};
use super::statistics::median;
use crate::failure::Failure;

/// What a run saw, before any of it is judged.
pub(super) struct Measured {
    pub(super) arms: Vec<MeasuredArm>,
    /// Arms that are not on this machine, and why.
    pub(super) absent: Vec<(&'static ArmPlan, String)>,
    /// One a round.
    pub(super) noise: Vec<Noise>,
    /// Before the first round.
    pub(super) load: Load,
}

pub(super) struct MeasuredArm {
    pub(super) plan: &'static ArmPlan,
    /// The time of one performance, one value a round: the mean of its two turns; not a number in a round without one.
    pub(super) round_ns: Vec<f64>,
    /// Each count of each performance.
    pub(super) samples: Vec<Sample>,
    /// What one performance writes, where that can be told.
    pub(super) written_bytes: Option<u64>,
    /// What one performance asks of the kernel.
    pub(super) counted: Counted,
    /// What it keeps apart, as probes in it found.
    pub(super) held: Held,
}

impl MeasuredArm {
    fn of(plan: &'static ArmPlan, counted: Counted, held: Held) -> Self {
        Self { plan, round_ns: Vec::new(), samples: Vec::new(), written_bytes: None, counted, held }
    }
}

/// A peer that takes longer than this takes part in every fourth round only, once, and is not traced.
const SLOW_NS: u64 = 100_000_000;
const SLOW_ROUNDS: usize = 4;

pub(super) fn measure(
    operation: &'static Operation,
    ground: &Ground,
    rounds: usize,
) -> Result<Measured, Failure> {
    let mut running: Vec<Running> = Vec::new();
    let mut measured =
        Measured { arms: Vec::new(), absent: Vec::new(), noise: Vec::new(), load: Load::read()? };
    for plan in operation.arms {
        match begin(operation, plan, ground)? {
            Ok((arm, of_arm)) => {
                running.push(arm);
                measured.arms.push(of_arm);
            }
            Err(why) => measured.absent.push((plan, why)),
        }
    }
    let before: Vec<Option<u64>> = running.iter().map(|running| running.arm.written_bytes()).collect();
    let prepare = || (operation.before)(ground);
    for round in 0..rounds {
        let (processor, spin_before_ns) = (Processor::read()?, spin_ns());
        one_round(&mut running, &mut measured.arms, (round, operation.performances), &prepare)?;
        let spin_after_ns = spin_ns();
        let stolen_share = processor.stolen_share_until(Processor::read()?);
        measured.noise.push(Noise { spin_before_ns, spin_after_ns, stolen_share });
    }
    for ((arm, running), before) in measured.arms.iter_mut().zip(&running).zip(before) {
        let written =
            running.arm.written_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        arm.written_bytes = written.and_then(|bytes| bytes.checked_div(arm.samples.len() as u64));
    }
    for (index, running) in running.iter().enumerate().rev() {
        if let Some(why) = &running.failed {
            measured.absent.push((measured.arms.remove(index).plan, why.clone()));
        }
    }
    Ok(measured)
}

/// An arm that takes turns.
struct Running {
    arm: Box<dyn Arm>,
    is_slow: bool,
    /// Why it takes none any more.
    failed: Option<String>,
}

/// Starts an arm, lets it perform twice, of which the first pays for what later ones find ready, sees what it holds and counts what it
/// asks for; or why it is left out.
fn begin(
    operation: &Operation,
    plan: &'static ArmPlan,
    ground: &Ground,
) -> Result<Result<(Running, MeasuredArm), String>, Failure> {
    // Where the folder of the benchmarks lies says nothing of an arm, and the page is of no one machine.
    let placeless =
        |text: &str| text.replace(&format!("{}/", ground.folder.display()), "").replace('\n', " ");
    let told = |failure: &Failure| placeless(&failure.with_causes());
    let mut arm = match Process::start(plan.name, &mut (plan.program)(ground)?) {
        Ok(Start::Ready(arm)) => arm,
        Ok(Start::Absent(why)) => return Ok(Err(placeless(&why))),
        Err(failure) => return Ok(Err(told(&failure))),
    };
    // The second tells how long it takes.
    let again = match arm.operate().and_then(|_| arm.operate()) {
        Ok(again) => again,
        Err(failure) => return Ok(Err(told(&failure))),
    };
    let is_slow = plan.role == Role::Peer && again.wall_ns > SLOW_NS;
    let held = if operation.isolates { Held::by(arm.as_mut()) } else { Held::Unasked };
    let counted = if is_slow {
        Err("its calls are not counted".to_owned())
    } else {
        counting::count(operation, plan, ground)?.map_err(|why| placeless(&why))
    };
    Ok(Ok((Running { arm, is_slow, failed: None }, MeasuredArm::of(plan, counted, held))))
}

/// One round of all arms. One that fails takes no turn any more.
fn one_round(
    running: &mut [Running],
    measured: &mut [MeasuredArm],
    (round, performances): (usize, usize),
    prepare: &dyn Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut turns: Vec<Vec<f64>> = vec![Vec::new(); running.len()];
    for index in there_and_back(running.len()) {
        let Running { arm, is_slow, failed } = &mut running[index];
        let is_out = *is_slow && (round % SLOW_ROUNDS != 0 || !turns[index].is_empty());
        if failed.is_some() || is_out {
            continue;
        }
        let mut times = Vec::with_capacity(performances);
        for _ in 0..if *is_slow { 1 } else { performances } {
            prepare()?;
            match arm.operate() {
                Ok(sample) => {
                    times.push(sample.wall_ns as f64);
                    measured[index].samples.push(sample);
                }
                Err(failure) => {
                    let why = failure.with_causes().replace('\n', " ");
                    *failed = Some(format!("it failed in round {}: {why}", round + 1));
                    break;
                }
            }
        }
        turns[index].push(median(times));
    }
    for (arm, turns) in measured.iter_mut().zip(turns) {
        // Not a number where it had no turn.
        arm.round_ns.push(turns.iter().sum::<f64>() / turns.len() as f64);
    }
    Ok(())
}

/// 0 1 2 2 1 0
fn there_and_back(count: usize) -> impl Iterator<Item = usize> {
    (0..count).chain((0..count).rev())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use super::*;

    /// Takes as long as the round has advanced: a machine that slows down steadily.
    struct Slowing {
        name: char,
        clock: Rc<Cell<u64>>,
        order: Rc<RefCell<String>>,
    }

    impl Arm for Slowing {
        fn operate(&mut self) -> Result<Sample, Failure> {
            self.clock.set(self.clock.get() + 1);
            self.order.borrow_mut().push(self.name);
            Ok(Sample { wall_ns: self.clock.get(), counts: BTreeMap::new() })
        }
    }

    #[test]
    fn arms_go_there_and_back_so_that_a_steady_drift_cancels() {
        static PLAN: ArmPlan =
            ArmPlan { name: "slowing", role: Role::Peer, lacks: "", program: |ground| ground.own("slowing") };
        let (clock, order) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(String::new())));
        let arm = |name| Running {
            arm: Box::new(Slowing { name, clock: Rc::clone(&clock), order: Rc::clone(&order) }),
            is_slow: false,
            failed: None,
        };
        let mut running = vec![arm('a'), arm('b'), arm('c')];
        let measured = || MeasuredArm::of(&PLAN, Ok(BTreeMap::new()), Held::Unasked);
        let prepared = Cell::new(0);
        let prepare = || {
            prepared.set(prepared.get() + 1);
            Ok(())
        };
        let mut arms = vec![measured(), measured(), measured()];
        one_round(&mut running, &mut arms, (0, 1), &prepare).unwrap();
        one_round(&mut running, &mut arms, (1, 2), &prepare).unwrap();
        assert_eq!(order.borrow().as_str(), "abccbaaabbccccbbaa");
        assert_eq!(prepared.get(), order.borrow().len());
        for arm in &arms {
            assert_eq!(arm.round_ns, [3.5, 12.5]);
            assert_eq!(arm.samples.len(), 6);
        }
    }

    /// Fails at its third performance.
    struct Failing(u32);

    impl Arm for Failing {
        fn operate(&mut self) -> Result<Sample, Failure> {
            self.0 += 1;
            if self.0 == 3 { Err(Failure::new("no more")) } else { Ok(Sample::default()) }
        }
    }

    #[test]
    fn an_arm_that_fails_takes_no_more_turns_and_a_slow_one_takes_few() {
        static PLAN: ArmPlan =
            ArmPlan { name: "failing", role: Role::Peer, lacks: "", program: |ground| ground.own("failing") };
        let arm = |performed, is_slow| Running { arm: Box::new(Failing(performed)), is_slow, failed: None };
        let mut running = vec![arm(0, false), arm(10, true)];
        let measured = || MeasuredArm::of(&PLAN, Ok(BTreeMap::new()), Held::Unasked);
        let mut arms = vec![measured(), measured()];
        for round in 0..5 {
            one_round(&mut running, &mut arms, (round, 1), &|| Ok(())).unwrap();
        }
        assert_eq!(running[0].failed.as_deref(), Some("it failed in round 2: no more"));
        assert_eq!((arms[0].samples.len(), arms[1].samples.len()), (2, 2));
        let counts = |arm: &MeasuredArm| arm.round_ns.iter().map(|time| time.is_nan()).collect::<Vec<_>>();
        assert_eq!(counts(&arms[1]), [false, true, true, true, false]);
    }
}
