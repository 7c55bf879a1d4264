//! Which records a hash stands for, and the ways from a root down to a leaf or to an older tree.

/// A complete subtree: the records from `index * 2^level` on, `2^level` of them. Only such hashes never change, and only
/// they are stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Node {
    level: u8,
    index: u64,
}

impl Node {
    /// The node; `None` where it would hold records beyond the largest `u64`.
    #[must_use]
    pub const fn new(level: u8, index: u64) -> Option<Self> {
        let fits = level == 0 || (level < 64 && index >> (64 - level) == 0);
        if fits { Some(Self { level, index }) } else { None }
    }

    /// How far above the leaves it stands; at most 63.
    #[must_use]
    pub const fn level(self) -> u8 {
        self.level
    }

    /// Its position among those of its level.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }
}

/// Consecutive records of a tree that RFC 6962 hashes as one: `start` is a multiple of a power of two that is not less
/// than the number of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Range {
    /// The complete subtrees that it consists of, largest first. One for each bit of its width.
    pub(super) fn nodes(self) -> impl DoubleEndedIterator<Item = Node> {
        let width = self.end - self.start;
        (0..64_u8).rev().filter(move |level| width >> level & 1 == 1).map(move |level| {
            // Everything above this bit of the width stands to the left.
            let before = (width >> level & !1) << level;
            Node { level, index: (self.start + before) >> level }
        })
    }
}

/// What stands beside the way at one turn of it, from the root downwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beside {
    /// Records after the subtree that is looked for: they belong to the tree alone.
    After(Range),
    /// Records before it: they belong to the tree alone.
    Before(Range),
    /// Records that begin it: they belong to the tree and to the subtree.
    Within(Range),
}

impl Beside {
    pub(super) const fn range(self) -> Range {
        match self {
            Self::After(range) | Self::Before(range) | Self::Within(range) => range,
        }
    }
}

/// The way from the root of a tree down to a range, and what stands beside it.
pub(super) struct Way {
    /// From the root downwards. One turn a level, so never more than 64.
    pub(super) beside: Vec<Beside>,
    /// Where the way ends: the whole range looked for, or the last part of it.
    pub(super) end: Range,
    /// Whether the way ends at the whole of it.
    pub(super) whole: bool,
}

/// The way to `start..end` in the tree of `size` records; `None` where that is no subtree of it, or an empty one.
pub(super) fn way(start: u64, end: u64, size: u64) -> Option<Way> {
    if start >= end || end > size || !aligned(start, end - start) {
        return None;
    }
    let mut here = Range { start: 0, end: size };
    let mut way = Way { beside: Vec::new(), end: here, whole: true };
    let mut wanted = start;
    while here != (Range { start: wanted, end }) {
        let middle = here.start + left_width(here.end - here.start);
        let (left, right) =
            (Range { start: here.start, end: middle }, Range { start: middle, end: here.end });
        if end <= middle {
            way.beside.push(Beside::After(right));
            here = left;
        } else if wanted >= middle {
            way.beside.push(Beside::Before(left));
            here = right;
        } else {
            way.beside.push(Beside::Within(left));
            way.whole = false;
            wanted = middle;
            here = right;
        }
    }
    way.end = here;
    Some(way)
}

/// Whether `start` is a multiple of the smallest power of two that is not less than `width`.
fn aligned(start: u64, width: u64) -> bool {
    width.checked_next_power_of_two().map_or(start == 0, |power| start & (power - 1) == 0)
}

/// How many records stand left of the first turn of a tree of `width` records, two at least: the largest power of two that
/// is less.
const fn left_width(width: u64) -> u64 {
    1 << (width - 1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_end_with_the_largest_number() {
        assert!(Node::new(0, u64::MAX).is_some());
        assert!(Node::new(63, 1).is_some());
        assert!(Node::new(63, 2).is_none());
        assert!(Node::new(1, 1 << 63).is_none());
        assert!(Node::new(64, 0).is_none());
        assert_eq!(Range { start: 0, end: u64::MAX }.nodes().count(), 64);
    }

    #[test]
    fn a_way_has_one_turn_a_level() {
        for size in [1, 2, 3, 1 << 63, u64::MAX - 1, u64::MAX] {
            for index in [0, size / 3, size / 2, size - 1] {
                let way = way(index, index + 1, size).unwrap();
                assert!(way.whole && way.beside.len() <= 64, "{index} of {size}");
            }
        }
        assert!(way(u64::MAX, u64::MAX, u64::MAX).is_none());
        assert!(way(1, u64::MAX, u64::MAX).is_none());
        assert!(way(0, u64::MAX, u64::MAX).unwrap().beside.is_empty());
    }
}
