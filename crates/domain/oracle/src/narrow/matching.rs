//! Finds the functions of the side after on the side before.

use std::collections::BTreeMap;
use std::ops::Range;

use super::items::Item;

/// How many places are looked at, beside some for each function. More lines of one kind than that are not written.
const PLACES: usize = 20_000;
const PLACES_PER_ITEM: usize = 20;

/// A function that stands on both sides with the same text, once on each.
#[derive(Clone, Debug)]
pub(crate) struct Matched<'t> {
    pub(crate) name: &'t str,
    pub(crate) in_before: Range<usize>,
    pub(crate) in_after: Range<usize>,
}

/// The functions that stand on both sides, in one order. `None` where looking for them takes too long.
pub(crate) fn matched<'t>(items: &[Item<'t>], before: &str, after: &'t str) -> Option<Vec<Matched<'t>>> {
    // By the line of its name, which tells one function from most others.
    let mut by_line: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items.iter().filter(|item| stands_alone(&item.place, after)) {
        by_line.entry(line_at(after, item.name_at)).or_default();
        *copies.entry(&after[item.place.clone()]).or_default() += 1;
    }
    let mut offset = 0;
    for line in before.split_inclusive('\n') {
        if let Some(places) = by_line.get_mut(line.trim_end_matches(['\n', '\r'])) {
            places.push(offset);
        }
        offset += line.len();
    }
    let mut left = PLACES + items.len() * PLACES_PER_ITEM;
    let mut found = Vec::new();
    for item in items {
        let text = &after[item.place.clone()];
        if copies.get(text) != Some(&1) {
            continue;
        }
        let line_start = line_start(after, item.name_at);
        let places = by_line.get(line_at(after, item.name_at)).map_or(&[][..], Vec::as_slice);
        left = left.checked_sub(places.len())?;
        // Where the item starts lies before the line of its name, or behind its white space.
        let starts = places.iter().filter_map(|line| (line + item.place.start).checked_sub(line_start));
        let mut same = starts.filter(|start| {
            before.get(*start..start + text.len()) == Some(text)
                && stands_alone(&(*start..start + text.len()), before)
        });
        if let (Some(start), None) = (same.next(), same.next()) {
            let in_before = start..start + text.len();
            found.push(Matched { name: item.name, in_before, in_after: item.place.clone() });
        }
    }
    Some(with_those_between(&in_one_order(found), items, before, after))
}

/// The places that lie between those that are matched, on each side.
pub(crate) fn gaps(
    matched: &[Matched<'_>],
    before: usize,
    after: usize,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::with_capacity(matched.len() + 1);
    let (mut was, mut is) = (0, 0);
    for next in matched {
        gaps.push((was..next.in_before.start, is..next.in_after.start));
        (was, is) = (next.in_before.end, next.in_after.end);
    }
    gaps.push((was..before, is..after));
    gaps
}

/// Functions that stand more than once are the same where all is that stands around them.
fn with_those_between<'t>(
    matched: &[Matched<'t>],
    items: &[Item<'t>],
    before: &str,
    after: &str,
) -> Vec<Matched<'t>> {
    let mut all = Vec::with_capacity(items.len());
    let mut rest = items.iter().filter(|item| stands_alone(&item.place, after)).peekable();
    let gaps = gaps(matched, before.len(), after.len());
    for (at, (was, is)) in gaps.into_iter().enumerate() {
        let is_same = before[was.clone()] == after[is.clone()];
        while let Some(item) = rest.next_if(|item| item.place.end <= is.end) {
            if is_same && is.start <= item.place.start {
                let start = was.start + (item.place.start - is.start);
                let in_before = start..start + item.place.len();
                all.push(Matched { name: item.name, in_before, in_after: item.place.clone() });
            }
        }
        all.extend(matched.get(at).cloned());
    }
    all
}

/// Whether nothing else stands on the lines of a place.
fn stands_alone(place: &Range<usize>, text: &str) -> bool {
    let before = text.get(line_start(text, place.start)..place.start).unwrap_or("x");
    let after = text.as_bytes().get(place.end);
    before.bytes().all(|byte| matches!(byte, b' ' | b'\t')) && matches!(after, None | Some(b'\n' | b'\r'))
}

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

fn line_at(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..];
    line[..line.find('\n').unwrap_or(line.len())].trim_end_matches('\r')
}

/// The most of them that follow each other on both sides. Those that moved past others are no longer where they were.
fn in_one_order<'t>(found: Vec<Matched<'t>>) -> Vec<Matched<'t>> {
    // The end of the best sequence of each length, by where it ends before, and what each comes after.
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    let mut previous = vec![None; found.len()];
    for (at, matched) in found.iter().enumerate() {
        let start = matched.in_before.start;
        previous[at] = ends.range(..start).next_back().map(|(_, last)| *last);
        if let Some((worse, _)) = ends.range(start..).next() {
            let worse = *worse;
            ends.remove(&worse);
        }
        ends.insert(start, at);
    }
    let mut at = ends.into_values().next_back();
    let mut is_in = vec![false; found.len()];
    while let Some(place) = at {
        is_in[place] = true;
        at = previous[place];
    }
    let mut end = 0;
    let follows = |(matched, is_in): (Matched<'t>, bool)| {
        // One may be a part of another before.
        let follows = is_in && matched.in_before.start >= end;
        end = if follows { matched.in_before.end } else { end };
        follows.then_some(matched)
    };
    found.into_iter().zip(is_in).filter_map(follows).collect()
}
