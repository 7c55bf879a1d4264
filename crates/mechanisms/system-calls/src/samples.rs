//! Arguments that tell every answer of a rule apart.

use std::collections::BTreeSet;

use crate::policy::Rule;

/// One value of every class that a condition tells apart, and the same with bits that it does not look at.
fn representatives(rule: &Rule, argument: u32, into: &mut BTreeSet<u64>) {
    let Rule::Where(condition) = rule else { return };
    if condition.argument == argument {
        let told = condition.values.iter().copied();
        let near = told.clone().flat_map(|value| [value.wrapping_sub(1), value.wrapping_add(1)]);
        let bits = (0..32)
            .map(|bit| 1 << bit)
            .filter(|bit| condition.mask.count_ones() < 32 && condition.mask & bit != 0);
        for value in told.chain(near).chain(bits).chain([0, condition.mask, u32::MAX]) {
            for unseen in [0, !condition.mask] {
                // The kernel takes only the low half of any of these arguments.
                into.extend([u64::from(value ^ unseen), u64::from(value ^ unseen) | 0xffff_ffff_0000_0000]);
            }
        }
    }
    representatives(&condition.then, argument, into);
    representatives(&condition.otherwise, argument, into);
}

/// Every combination of the classes of every argument that a rule looks at; of the others one arbitrary value.
#[must_use]
pub fn partition(rule: &Rule) -> Vec<[u64; 6]> {
    let mut samples = vec![[0xdead_beef_dead_beef; 6]];
    for (argument, index) in (0..).zip(0..6_usize) {
        let mut values = BTreeSet::new();
        representatives(rule, argument, &mut values);
        if !values.is_empty() {
            samples = samples
                .iter()
                .flat_map(|sample| {
                    values.iter().map(|value| {
                        let mut sample = *sample;
                        sample[index] = *value;
                        sample
                    })
                })
                .collect();
        }
    }
    samples
}
