//! Arms take turns: in each round all of them forwards and then backwards, so that a drift meets every arm alike.

use super::arm::{Arm, Process, Sample, Start};
use super::counting::{self, Counted};
use super::noise::{Load, Noise, Processor, spin_ns};
use super::operations::{ArmPlan, Ground, Operation};
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
    /// The time of one performance, one value a round: the mean of its two turns.
    pub(super) round_ns: Vec<f64>,
    /// Each count of each performance.
    pub(super) samples: Vec<Sample>,
    /// What one performance writes, where that can be told.
    pub(super) written_bytes: Option<u64>,
    /// What one performance asks of the kernel.
    pub(super) counted: Counted,
}

impl MeasuredArm {
    fn of(plan: &'static ArmPlan, counted: Counted) -> Self {
        Self { plan, round_ns: Vec::new(), samples: Vec::new(), written_bytes: None, counted }
    }
}

pub(super) fn measure(
    operation: &'static Operation,
    ground: &Ground,
    rounds: usize,
) -> Result<Measured, Failure> {
    let mut running: Vec<Box<dyn Arm>> = Vec::new();
    let mut measured =
        Measured { arms: Vec::new(), absent: Vec::new(), noise: Vec::new(), load: Load::read()? };
    for plan in operation.arms {
        match Process::start(plan.name, &mut (plan.program)(ground)?)? {
            Start::Ready(arm) => {
                running.push(arm);
                let counted = counting::count(operation, plan, ground)?;
                measured.arms.push(MeasuredArm::of(plan, counted));
            }
            Start::Absent(why) => measured.absent.push((plan, why)),
        }
    }
    // The first performance of each arm pays for what later ones find ready.
    running.iter_mut().try_for_each(|arm| arm.operate().map(drop))?;
    let before: Vec<Option<u64>> = running.iter().map(|arm| arm.written_bytes()).collect();
    let prepare = || (operation.before)(ground);
    for _ in 0..rounds {
        let (processor, spin_before_ns) = (Processor::read()?, spin_ns());
        one_round(&mut running, &mut measured.arms, operation.performances, &prepare)?;
        let spin_after_ns = spin_ns();
        let stolen_share = processor.stolen_share_until(Processor::read()?);
        measured.noise.push(Noise { spin_before_ns, spin_after_ns, stolen_share });
    }
    for ((arm, running), before) in measured.arms.iter_mut().zip(&running).zip(before) {
        let written = running.written_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        arm.written_bytes = written.and_then(|bytes| bytes.checked_div(arm.samples.len() as u64));
    }
    Ok(measured)
}

fn one_round(
    running: &mut [Box<dyn Arm>],
    measured: &mut [MeasuredArm],
    performances: usize,
    prepare: &dyn Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut turns: Vec<Vec<f64>> = vec![Vec::new(); running.len()];
    for index in there_and_back(running.len()) {
        let mut times = Vec::with_capacity(performances);
        for _ in 0..performances {
            prepare()?;
            let sample = running[index].operate()?;
            times.push(sample.wall_ns as f64);
            measured[index].samples.push(sample);
        }
        turns[index].push(median(times));
    }
    for (arm, turns) in measured.iter_mut().zip(turns) {
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

    use super::super::operations::Role;
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
        let arm = |name| -> Box<dyn Arm> {
            Box::new(Slowing { name, clock: Rc::clone(&clock), order: Rc::clone(&order) })
        };
        let mut running = vec![arm('a'), arm('b'), arm('c')];
        let measured = || MeasuredArm::of(&PLAN, Ok(BTreeMap::new()));
        let prepared = Cell::new(0);
        let prepare = || {
            prepared.set(prepared.get() + 1);
            Ok(())
        };
        let mut arms = vec![measured(), measured(), measured()];
        one_round(&mut running, &mut arms, 1, &prepare).unwrap();
        one_round(&mut running, &mut arms, 2, &prepare).unwrap();
        assert_eq!(order.borrow().as_str(), "abccbaaabbccccbbaa");
        assert_eq!(prepared.get(), order.borrow().len());
        for arm in &arms {
            assert_eq!(arm.round_ns, [3.5, 12.5]);
            assert_eq!(arm.samples.len(), 6);
        }
    }
}
