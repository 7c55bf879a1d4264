//! Whether the machine was quiet enough: a fixed piece of work before and after each round, and the time that the
//! hypervisor took away meanwhile.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use crate::failure::Failure;
use crate::seeded::Seeded;

/// Steps of the fixed work: about a millisecond.
const SPIN_STEPS: u32 = 600_000;
/// A round counts where its fixed work took no longer than this times the run's best.
const SPIN_TOLERANCE: f64 = 1.15;
/// A round counts where at most this share of processor time was stolen.
const STEAL_TOLERANCE: f64 = 0.03;
/// A run says something where at most this share of its rounds was dropped.
const DROP_TOLERANCE: f64 = 0.40;

/// What was seen around one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    pub(super) spin_before_ns: u64,
    pub(super) spin_after_ns: u64,
    /// Of all processor time during the round.
    pub(super) stolen_share: f64,
}

/// Processor time so far, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Processor {
    total: u64,
    stolen: u64,
}

impl Processor {
    pub(super) fn read() -> Result<Self, Failure> {
        let path = Path::new("/proc/stat");
        let text = fs::read_to_string(path).map_err(Failure::at("read", path))?;
        Self::parse(&text).ok_or_else(|| Failure::new("/proc/stat has no line of all processors"))
    }

    /// Of the first line: user, nice, system, idle, iowait, irq, softirq, steal; guest time is within user time.
    fn parse(text: &str) -> Option<Self> {
        let ticks: Vec<u64> = text
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Self { total: ticks.get(..8)?.iter().sum(), stolen: ticks[7] })
    }

    pub(super) fn stolen_share_until(self, later: Self) -> f64 {
        let total = later.total.saturating_sub(self.total);
        let stolen = later.stolen.saturating_sub(self.stolen);
        if total == 0 { 0.0 } else { stolen as f64 / total as f64 }
    }
}

/// How many tasks wanted to run on the average of the last minute, and how many can at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) average: f64,
    pub(super) processors: usize,
}

impl Load {
    pub(super) fn read() -> Result<Self, Failure> {
        let path = Path::new("/proc/loadavg");
        let text = fs::read_to_string(path).map_err(Failure::at("read", path))?;
        let average = Self::parse(&text).ok_or_else(|| Failure::new("/proc/loadavg has no average"))?;
        let processors = std::thread::available_parallelism()
            .map_err(|cause| Failure::caused("the processors cannot be counted", cause))?;
        Ok(Self { average, processors: processors.get() })
    }

    fn parse(text: &str) -> Option<f64> {
        text.split(' ').next()?.parse().ok().filter(|average: &f64| average.is_finite())
    }

    /// Whether others were at work here: an operation alone never wants more than all processors.
    pub(super) fn is_heavy(self) -> bool {
        self.average > self.processors as f64
    }
}

/// Does the fixed work and answers how long it took.
pub(super) fn spin_ns() -> u64 {
    let started = Instant::now();
    let mut seeded = Seeded::new(1);
    for _ in 0..SPIN_STEPS {
        black_box(seeded.next());
    }
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Which rounds count.
pub(super) fn kept(noise: &[Noise]) -> Vec<bool> {
    let best = noise.iter().map(|round| round.spin_before_ns.min(round.spin_after_ns)).min().unwrap_or(0);
    let longest = best as f64 * SPIN_TOLERANCE;
    let quiet = |round: &Noise| {
        round.spin_before_ns as f64 <= longest
            && round.spin_after_ns as f64 <= longest
            && round.stolen_share <= STEAL_TOLERANCE
    };
    noise.iter().map(quiet).collect()
}

/// Whether enough rounds count, and nobody else was at work when they began.
pub(super) fn is_conclusive(kept: &[bool], load: Load) -> bool {
    let dropped = kept.iter().filter(|kept| !**kept).count();
    !load.is_heavy() && !kept.is_empty() && dropped as f64 <= DROP_TOLERANCE * kept.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Noise = Noise { spin_before_ns: 1_000, spin_after_ns: 1_100, stolen_share: 0.0 };

    #[test]
    fn a_noisy_round_is_dropped_whichever_way_it_shows() {
        let noisy = [
            Noise { spin_before_ns: 1_151, ..QUIET },
            Noise { spin_after_ns: 1_151, ..QUIET },
            Noise { stolen_share: 0.031, ..QUIET },
        ];
        for round in noisy {
            assert_eq!(kept(&[QUIET, round]), [true, false], "{round:?}");
        }
        let edge = Noise { spin_before_ns: 1_000, spin_after_ns: 1_150, stolen_share: 0.03 };
        assert_eq!(kept(&[QUIET, edge]), [true, true]);
    }

    #[test]
    fn a_run_with_more_than_two_fifths_dropped_says_nothing() {
        let idle = Load { average: 0.5, processors: 2 };
        assert!(is_conclusive(&[true, true, true, false, false], idle));
        assert!(!is_conclusive(&[true, true, false, false], idle));
        assert!(!is_conclusive(&[], idle));
    }

    #[test]
    fn a_run_beside_the_work_of_others_says_nothing() {
        assert!(is_conclusive(&[true], Load { average: 2.0, processors: 2 }));
        assert!(!is_conclusive(&[true], Load { average: 2.01, processors: 2 }));
        assert_eq!(Load::parse("7.25 8.16 8.02 3/512 31\n"), Some(7.25));
        for bad in ["", "x 1 2", "NaN 1 2"] {
            assert_eq!(Load::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn stolen_time_is_read_from_the_first_line() {
        let before = Processor::parse("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n").unwrap();
        let after = Processor::parse("cpu  60 0 10 110 0 0 0 20 50 0\n").unwrap();
        assert_eq!(before.stolen_share_until(after), 0.1);
        assert_eq!(before.stolen_share_until(before), 0.0);
        for bad in ["", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu a b c d e f g h"] {
            assert_eq!(Processor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn this_machine_can_be_watched() {
        assert!(Processor::read().is_ok());
        assert!(Load::read().is_ok());
        assert!(spin_ns() > 0);
    }
}
