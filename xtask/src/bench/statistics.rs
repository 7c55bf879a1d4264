//! The median of per-round ratios, and how sure it is.

use crate::seeded::Seeded;

const RESAMPLES: usize = 2_000;

/// How two arms compare over the rounds that count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) median: f64,
    /// The 95 % confidence interval of the median, by the percentile bootstrap.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The best time of the one over the best of the other.
    pub(super) of_minima: f64,
}

/// Compares times of two arms, paired by round. A round in which one of them had no turn, which is not a number there, does
/// not count. `None` without a round, or where a time is not above zero.
pub(super) fn ratio(numerator: &[f64], denominator: &[f64], seed: u64) -> Option<Ratio> {
    if numerator.len() != denominator.len() {
        return None;
    }
    let pairs = numerator.iter().copied().zip(denominator.iter().copied());
    let (numerator, denominator): (Vec<f64>, Vec<f64>) =
        pairs.filter(|(over, under)| !over.is_nan() && !under.is_nan()).unzip();
    let sound = |times: &[f64]| !times.is_empty() && times.iter().all(|time| *time > 0.0 && time.is_finite());
    if !sound(&numerator) || !sound(&denominator) {
        return None;
    }
    let ratios: Vec<f64> = numerator.iter().zip(&denominator).map(|(over, under)| over / under).collect();
    let mut seeded = Seeded::new(seed);
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| median((0..ratios.len()).map(|_| ratios[seeded.below(ratios.len())]).collect()))
        .collect();
    medians.sort_by(f64::total_cmp);
    let (low, high) = (medians[RESAMPLES * 25 / 1_000], medians[RESAMPLES * 975 / 1_000 - 1]);
    Some(Ratio { median: median(ratios), low, high, of_minima: minimum(&numerator) / minimum(&denominator) })
}

/// The middle value, or the mean of the two in the middle; not a number where there is none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

pub(super) fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times around `centre` with a tail to the right, as times have.
    fn times(seeded: &mut Seeded, centre: f64, count: usize) -> Vec<f64> {
        let unit = |seeded: &mut Seeded| (seeded.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (0..count).map(|_| centre * (1.0 + 0.1 * unit(seeded) + 0.3 * unit(seeded).powi(8))).collect()
    }

    #[test]
    fn medians_are_of_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn a_known_ratio_lies_in_the_interval_about_as_often_as_it_should() {
        let mut seeded = Seeded::new(11);
        let trials = 200;
        let covered = (0..trials)
            .filter(|trial| {
                let (one, other) = (times(&mut seeded, 300.0, 30), times(&mut seeded, 100.0, 30));
                let found = ratio(&one, &other, *trial).unwrap();
                assert!(found.low <= found.median && found.median <= found.high);
                found.low <= 3.0 && 3.0 <= found.high
            })
            .count();
        assert!((180..=200).contains(&covered), "{covered} of {trials}");
    }

    #[test]
    fn the_interval_excludes_what_is_not_so() {
        let mut seeded = Seeded::new(5);
        let (one, other) = (times(&mut seeded, 120.0, 30), times(&mut seeded, 100.0, 30));
        let found = ratio(&one, &other, 1).unwrap();
        assert!(found.low > 1.0, "{found:?}");
        assert!(found.high - found.low < 0.2, "{found:?}");
    }

    #[test]
    fn pairing_by_round_cancels_what_slows_both() {
        let drift: Vec<f64> = (1..=30).map(|round| f64::from(round) * 10.0).collect();
        let double: Vec<f64> = drift.iter().map(|time| time * 2.0).collect();
        assert_eq!(
            ratio(&double, &drift, 3),
            Some(Ratio { median: 2.0, low: 2.0, high: 2.0, of_minima: 2.0 })
        );
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(ratio(&[], &[], 1), None);
        assert_eq!(ratio(&[1.0], &[1.0, 2.0], 1), None);
        assert_eq!(ratio(&[1.0], &[0.0], 1), None);
    }
}
