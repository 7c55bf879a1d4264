//! Arms take turns: in each round all of them forwards and then backwards, so that a drift meets every arm alike.

use super::arm::{Arm, Sample, Start};
use super::noise::{Noise, Processor, spin_ns};
use super::operations::{ArmPlan, Operation};
use super::statistics::median;
use crate::failure::Failure;

/// What a run saw, before any of it is judged.
pub(super) struct Measured {
    pub(super) arms: Vec<MeasuredArm>,
    /// Arms that are not on this machine, and why.
    pub(super) absent: Vec<(&'static ArmPlan, String)>,
    /// One a round.
    pub(super) noise: Vec<Noise>,
}

pub(super) struct MeasuredArm {
    pub(super) plan: &'static ArmPlan,
    /// The time of one performance, one value a round: the mean of its two turns.
    pub(super) round_ns: Vec<f64>,
    /// Each count of each performance.
    pub(super) samples: Vec<Sample>,
}

pub(super) fn measure(operation: &'static Operation, rounds: usize) -> Result<Measured, Failure> {
    let mut running: Vec<Box<dyn Arm>> = Vec::new();
    let mut measured = Measured { arms: Vec::new(), absent: Vec::new(), noise: Vec::new() };
    for plan in operation.arms {
        match (plan.start)()? {
            Start::Ready(arm) => {
                running.push(arm);
                measured.arms.push(MeasuredArm { plan, round_ns: Vec::new(), samples: Vec::new() });
            }
            Start::Absent(why) => measured.absent.push((plan, why)),
        }
    }
    // The first performance of each arm pays for what later ones find ready.
    running.iter_mut().try_for_each(|arm| arm.operate().map(drop))?;
    for _ in 0..rounds {
        let (processor, spin_before_ns) = (Processor::read()?, spin_ns());
        one_round(&mut running, &mut measured.arms, operation.performances)?;
        let spin_after_ns = spin_ns();
        let stolen_share = processor.stolen_share_until(Processor::read()?);
        measured.noise.push(Noise { spin_before_ns, spin_after_ns, stolen_share });
    }
    Ok(measured)
}

fn one_round(
    running: &mut [Box<dyn Arm>],
    measured: &mut [MeasuredArm],
    performances: usize,
) -> Result<(), Failure> {
    let mut turns: Vec<Vec<f64>> = vec![Vec::new(); running.len()];
    for index in there_and_back(running.len()) {
        let mut times = Vec::with_capacity(performances);
        for _ in 0..performances {
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
            ArmPlan { name: "slowing", role: Role::Peer, start: || Ok(Start::Absent(String::new())) };
        let (clock, order) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(String::new())));
        let arm = |name| -> Box<dyn Arm> {
            Box::new(Slowing { name, clock: Rc::clone(&clock), order: Rc::clone(&order) })
        };
        let mut running = vec![arm('a'), arm('b'), arm('c')];
        let measured = || MeasuredArm { plan: &PLAN, round_ns: Vec::new(), samples: Vec::new() };
        let mut arms = vec![measured(), measured(), measured()];
        one_round(&mut running, &mut arms, 1).unwrap();
        one_round(&mut running, &mut arms, 2).unwrap();
        assert_eq!(order.borrow().as_str(), "abccbaaabbccccbbaa");
        for arm in &arms {
            assert_eq!(arm.round_ns, [3.5, 12.5]);
            assert_eq!(arm.samples.len(), 6);
        }
    }
}
