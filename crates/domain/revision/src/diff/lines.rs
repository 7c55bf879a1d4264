use std::collections::BTreeMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff, group_diff_ops};

use crate::compare::LineCounts;
use crate::diff::heading::Headings;
use crate::diff::section::{HunkSection, LineSpan};
use crate::lines::split;

/// How many lines around a change a hunk shows.
const CONTEXT_LINES: usize = 3;

const NO_FINAL_LINE_FEED: &[u8] = b"\n\\ No newline at end of file\n";

/// The part of two files outside of which they are the same, in whole lines, with the context of its edges twice: a change
/// between equal lines can move to the end of what is compared, and needs its context there, too.
struct Window<'a> {
    before: &'a [u8],
    after: &'a [u8],
    /// How many of its first lines are not compared.
    margin_above: usize,
    /// How many of its last lines are not compared.
    margin_below: usize,
    /// What both files have above it.
    above: &'a [u8],
    /// How many lines lie above it.
    lines_above: usize,
}

/// Appends the hunks that lead from `before` to `after`, and answers what each of them is.
pub(super) fn write_hunks(before: &[u8], after: &[u8], text: &mut Vec<u8>) -> Vec<HunkSection> {
    let window = Window::of(before, after);
    let (old, new) = (split(window.before), split(window.after));
    let operations = compare(&window, &old, &new);
    let mut headings = Headings::of(window.above);
    let mut hunks = Vec::new();
    for group in group_diff_ops(operations, CONTEXT_LINES) {
        let span = |range: fn(&DiffOp) -> Range<usize>| {
            let start = group.first().map_or(0, |op| range(op).start);
            let end = group.last().map_or(0, |op| range(op).end);
            LineSpan { above: window.lines_above + start, count: end - start }
        };
        let (old_span, new_span) = (span(DiffOp::old_range), span(DiffOp::new_range));
        let start = text.len();
        text.extend_from_slice(format!("@@ -{old_span} +{new_span} @@\n").as_bytes());
        let lines = write_group(&group, &old, &new, text);
        let heading = headings.above(&old, old_span.above - window.lines_above);
        hunks.push(HunkSection {
            before: old_span,
            after: new_span,
            heading,
            lines,
            text: start..text.len(),
        });
    }
    hunks
}

/// What leads from the lines of one side to those of the other.
fn compare(window: &Window<'_>, old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let (above, below) = (window.margin_above, window.margin_below);
    let (old_end, new_end) = (old.len() - below, new.len() - below);
    let mut numbers = BTreeMap::new();
    let old = number(&old[above..old_end], &mut numbers);
    let new = number(&new[above..new_end], &mut numbers);
    let mut operations: Vec<DiffOp> = Vec::new();
    let mut add = |op: DiffOp| match (operations.last_mut(), op) {
        (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
        _ => operations.push(op),
    };
    if above > 0 {
        add(DiffOp::Equal { old_index: 0, new_index: 0, len: above });
    }
    for op in capture_diff(Algorithm::Myers, &old[..], 0..old.len(), &new[..], 0..new.len()) {
        add(below_margin(op, above));
    }
    if below > 0 {
        add(DiffOp::Equal { old_index: old_end, new_index: new_end, len: below });
    }
    operations
}

/// An operation of what is compared, by the lines of the window, so many of which lie above.
fn below_margin(mut op: DiffOp, above: usize) -> DiffOp {
    match &mut op {
        DiffOp::Equal { old_index, new_index, .. }
        | DiffOp::Delete { old_index, new_index, .. }
        | DiffOp::Insert { old_index, new_index, .. }
        | DiffOp::Replace { old_index, new_index, .. } => {
            *old_index += above;
            *new_index += above;
        }
    }
    op
}

fn write_group(group: &[DiffOp], old: &[&[u8]], new: &[&[u8]], text: &mut Vec<u8>) -> LineCounts {
    let mut counts = LineCounts::default();
    for op in group {
        if op.tag() == DiffTag::Equal {
            write_lines(b' ', &old[op.old_range()], text);
            continue;
        }
        counts.removed += op.old_range().len();
        counts.added += op.new_range().len();
        write_lines(b'-', &old[op.old_range()], text);
        write_lines(b'+', &new[op.new_range()], text);
    }
    counts
}

fn write_lines(sign: u8, lines: &[&[u8]], text: &mut Vec<u8>) {
    for line in lines {
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(NO_FINAL_LINE_FEED);
        }
    }
}

/// The lines as numbers, equal lines as equal ones, so that comparing two costs the same for long lines.
fn number<'a>(lines: &[&'a [u8]], numbers: &mut BTreeMap<&'a [u8], usize>) -> Vec<usize> {
    let mut numbered = Vec::with_capacity(lines.len());
    for line in lines {
        let next = numbers.len();
        numbered.push(*numbers.entry(line).or_insert(next));
    }
    numbered
}

impl<'a> Window<'a> {
    fn of(before: &'a [u8], after: &'a [u8]) -> Self {
        let same = common_prefix(before, after);
        let start = line_start(before, same);
        let tail = common_suffix(&before[start..], &after[start..]);
        let tail = tail - memchr::memchr(b'\n', &before[before.len() - tail..]).map_or(tail, |at| at + 1);
        let context = lines_below(&before[before.len() - tail..]);
        let margin = lines_below(&before[before.len() - tail + context..]);
        let below = tail - context - margin;
        let above =
            |start: usize| (0..CONTEXT_LINES).fold(start, |at, _| line_start(before, at.saturating_sub(1)));
        let compared_at = above(start);
        let start = above(compared_at);
        Self {
            before: &before[start..before.len() - below],
            after: &after[start..after.len() - below],
            margin_above: split(&before[start..compared_at]).len(),
            margin_below: split(&before[before.len() - below - margin..before.len() - below]).len(),
            above: &before[..start],
            lines_above: memchr::memchr_iter(b'\n', &before[..start]).count(),
        }
    }
}

/// Where the line starts that holds the byte at `at`.
fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |line_feed| line_feed + 1)
}

/// So many bytes are compared at once, where the whole of a large file is passed over.
const BLOCK: usize = 64;

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[same..].iter().zip(&other[same..]);
    same + rest.take_while(|(one, other)| one == other).count()
}

fn common_suffix(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[..one.len() - same].iter().rev().zip(other[..other.len() - same].iter().rev());
    same + rest.take_while(|(one, other)| one == other).count()
}

/// The bytes of the first lines that serve as context.
fn lines_below(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|b| *b == b'\n').take(CONTEXT_LINES).map(<[u8]>::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(before: &str, after: &str) -> String {
        let mut text = Vec::new();
        write_hunks(before.as_bytes(), after.as_bytes(), &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_change_has_three_lines_around_it() {
        let lines: Vec<String> = (1..=20).map(|n| format!("l{n}\n")).collect();
        let before = lines.concat();
        let after = before.replace("l10\n", "new\n");
        assert_eq!(hunks(&before, &after), "@@ -7,7 +7,7 @@\n l7\n l8\n l9\n-l10\n+new\n l11\n l12\n l13\n");
        let twice = after.replace("l17\n", "").replace("l1\n", "l0\nl1\n");
        assert_eq!(
            hunks(&before, &twice),
            "@@ -1,3 +1,4 @@\n+l0\n l1\n l2\n l3\n\
             @@ -7,14 +8,13 @@\n l7\n l8\n l9\n-l10\n+new\n l11\n l12\n l13\n l14\n l15\n l16\n-l17\n l18\n l19\n l20\n"
        );
    }

    #[test]
    fn a_change_that_moved_to_the_end_of_what_is_compared_has_its_context() {
        let (between, below) = ("a\nb\nc\nd\ne\nf\ng\nh\n", "* two\n */\nend\nof\nfile\n");
        let before = format!("0\n{between}x;\n}}\n\n/**\n{below}");
        let after = format!("I\n{between}x;\n}}\n\n/**\n* one\ny;\n}}\n\n/**\n{below}");
        let text = hunks(&before, &after);
        assert!(text.ends_with("\n+/**\n * two\n  */\n end\n"), "{text}");
    }

    proptest::proptest! {
        #[test]
        fn every_hunk_has_three_lines_around_it_unless_the_file_ends(
            one in proptest::collection::vec(0_u8..3, 0..40), at in 0_usize..40, insert in proptest::collection::vec(0_u8..3, 0..9),
            gone in 0_usize..4, first in proptest::bool::ANY,
        ) {
            let mut other = one.clone();
            let at = at.min(one.len());
            other.splice(at..(at + gone).min(one.len()), insert);
            if let (true, Some(line)) = (first, other.first_mut()) {
                *line += 1;
            }
            let file = |lines: &[u8]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let mut text = Vec::new();
            let sections = write_hunks(file(&one).as_bytes(), file(&other).as_bytes(), &mut text);
            for hunk in sections {
                let said = String::from_utf8_lossy(&text[hunk.text.clone()]).into_owned();
                let lines: Vec<&str> = said.lines().skip(1).collect();
                let is_context = |line: &&&str| line.starts_with(' ');
                let leading = lines.iter().take_while(is_context).count();
                let trailing = lines.iter().rev().take_while(is_context).count();
                let below = one.len() - hunk.before.above - hunk.before.count;
                proptest::prop_assert!(leading == 3 || leading < 3 && hunk.before.above == 0, "{}", said);
                proptest::prop_assert!(trailing == 3 || trailing < 3 && below == 0, "{}", said);
            }
        }

        #[test]
        fn what_two_files_have_in_common_is_what_a_plain_count_says(
            one in proptest::collection::vec(0_u8..2, 0..300), at in 0_usize..300, insert in proptest::bool::ANY,
        ) {
            let mut other = one.clone();
            match other.get_mut(at) {
                Some(byte) if !insert => *byte += 1,
                _ => other.insert(at.min(one.len()), 7),
            }
            let plain = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            proptest::prop_assert_eq!(common_prefix(&one, &other), plain);
            let plain = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
            proptest::prop_assert_eq!(common_suffix(&one, &other), plain);
        }
    }

    #[test]
    fn every_hunk_tells_what_its_text_is() {
        let body: Vec<String> = (1..=30).map(|n| format!("  l{n}\n")).collect();
        let before = format!("fn one() {{\n{}}}\nfn two() {{\n{}}}\n", body.concat(), body.concat());
        let after = before.replace("  l9\n", "  new\n").replacen("  l25\n", "", 1);
        let mut text = b"above".to_vec();
        let sections = write_hunks(before.as_bytes(), after.as_bytes(), &mut text);
        let told: Vec<_> = sections
            .iter()
            .map(|hunk| {
                let said = String::from_utf8_lossy(&text[hunk.text.clone()]).into_owned();
                assert!(said.starts_with(&format!("@@ -{} +{} @@\n", hunk.before, hunk.after)), "{said}");
                let signed = |sign| said.lines().filter(|line| line.starts_with(sign)).count();
                assert_eq!((hunk.lines.added, hunk.lines.removed), (signed('+'), signed('-')));
                assert_eq!(signed(' ') + signed('-'), hunk.before.count);
                (hunk.before.first(), hunk.after.first(), hunk.heading.as_deref())
            })
            .collect();
        assert_eq!(
            told,
            [(7, 7, Some("fn one() {")), (23, 23, Some("fn one() {")), (39, 38, Some("fn two() {"))]
        );
        let ends: Vec<usize> = sections.iter().flat_map(|hunk| [hunk.text.start, hunk.text.end]).collect();
        assert_eq!((ends[0], ends[5]), (5, text.len()), "nothing stands around them");
        assert!(ends[1] == ends[2] && ends[3] == ends[4], "{ends:?}");
        let none = write_hunks(b"", b"a\n", &mut text);
        assert_eq!((none[0].before.first(), none[0].before.count, &none[0].heading), (0, 0, &None));
    }

    #[test]
    fn the_end_of_the_file_is_marked() {
        assert_eq!(hunks("a\nb", "a\nb\n"), "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
        assert_eq!(hunks("", "a"), "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
        assert_eq!(hunks("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(hunks("a\nb", "x\nb"), "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n");
    }
}
