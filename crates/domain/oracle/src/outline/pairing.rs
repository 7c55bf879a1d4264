//! Which check after a patch stands in the place of which before it.

use std::collections::{BTreeMap, BTreeSet};

use super::check::Check;

/// The most pairs of checks that are held against each other word by word.
const PAIRS: usize = 40_000;
/// How many of their words two checks share, of one, that are one check rewritten.
const ALIKE: f64 = 0.4;

/// The checks of a test from both sides, by their places in it.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) lost: Vec<usize>,
    pub(super) gained: Vec<usize>,
}

/// Pairs checks by what they say, then by what they look at and how, then by what they look at, then by the words that they
/// share.
pub(super) fn pair(before: &[Check], after: &[Check]) -> Pairing {
    let mut pairing =
        Pairing { pairs: Vec::new(), lost: (0..before.len()).collect(), gained: (0..after.len()).collect() };
    pairing.by(before, after, Check::key);
    pairing.by(before, after, Check::resolved_key);
    pairing.by(before, after, |check| format!("{:?} {}", check.relation, subject(check, &check.subject)));
    pairing.by(before, after, |check| subject(check, &check.subject));
    pairing.by(before, after, |check| subject(check, &check.resolved.0));
    pairing.by_words(before, after);
    pairing
}

/// What a check looks at. A check of nothing that is named is found by its place alone.
fn subject(check: &Check, text: &str) -> String {
    if text.is_empty() { format!("{:?} {}", check.relation, check.expected) } else { text.to_owned() }
}

impl Pairing {
    fn by(&mut self, before: &[Check], after: &[Check], key: impl Fn(&Check) -> String) {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for place in self.gained.iter().rev() {
            places.entry(key(&after[*place])).or_default().push(*place);
        }
        let mut taken = BTreeSet::new();
        let pairs = &mut self.pairs;
        self.lost.retain(|place| match places.get_mut(&key(&before[*place])).and_then(Vec::pop) {
            Some(found) => {
                taken.insert(found);
                pairs.push((*place, found));
                false
            }
            None => true,
        });
        self.gained.retain(|place| !taken.contains(place));
    }

    fn by_words(&mut self, before: &[Check], after: &[Check]) {
        if self.lost.len() * self.gained.len() > PAIRS {
            return;
        }
        let words_after: Vec<(usize, BTreeSet<String>)> =
            self.gained.iter().map(|place| (*place, words(&after[*place]))).collect();
        let mut scored = Vec::new();
        for lost in &self.lost {
            let wanted = words(&before[*lost]);
            for (gained, found) in &words_after {
                let score = likeness(&wanted, found);
                if score >= ALIKE {
                    scored.push((score, *lost, *gained));
                }
            }
        }
        scored.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        let (mut left, mut right) = (BTreeSet::new(), BTreeSet::new());
        for (_, lost, gained) in scored {
            if !left.contains(&lost) && !right.contains(&gained) {
                left.insert(lost);
                right.insert(gained);
                self.pairs.push((lost, gained));
            }
        }
        self.lost.retain(|place| !left.contains(place));
        self.gained.retain(|place| !right.contains(place));
    }
}

/// The words of a check, its values in the place of its variables.
pub(super) fn words(check: &Check) -> BTreeSet<String> {
    let split = |text: &str| -> Vec<String> {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let texts = [&check.subject, &check.expected, &check.resolved.0, &check.resolved.1];
    texts.into_iter().flat_map(|text| split(text)).collect()
}

/// How many words two sets share, of one.
pub(super) fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = u32::try_from(one.intersection(other).count()).unwrap_or(u32::MAX);
    let all = u32::try_from(one.len() + other.len()).unwrap_or(u32::MAX).max(1);
    2.0 * f64::from(shared) / f64::from(all)
}
