use memchr::memmem::Finder;

use super::excerpt::Excerpt;
use super::refusal::Mismatch;
use super::text::Text;

/// The most places that a refusal names.
const CANDIDATES: usize = 8;

/// How many bytes all searches of one patch may pass over. Hunks that are where they say need none. Without it a
/// patch of 1 MiB could cause 4096 searches through 64 MiB each.
const SEARCH_BYTES: usize = 1 << 30;

/// What is left of the searching that one patch may cause.
pub(super) struct SearchBudget {
    left: usize,
}

impl SearchBudget {
    pub(super) const fn whole() -> Self {
        Self { left: SEARCH_BYTES }
    }

    #[cfg(test)]
    pub(super) const fn spent(&self) -> usize {
        SEARCH_BYTES - self.left
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Lost> {
        self.left = self.left.checked_sub(bytes).ok_or(Lost::SearchLimit)?;
        Ok(())
    }
}

/// Where whole lines stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) offset: usize,
    /// How many bytes they are there.
    pub(super) length: usize,
    pub(super) line: usize,
    /// Whether that is the stated line. Otherwise it is the only place.
    pub(super) as_stated: bool,
    /// Whether the last of them ends there as it does in the block: with a line feed, or with the file.
    pub(super) is_exact: bool,
}

/// Why whole lines have no place in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// They stand at none.
    Nowhere,
    /// They stand at several, of which these are the first lines.
    Several(Vec<usize>),
    /// Finding out would pass the budget.
    SearchLimit,
}

/// The place of `block`, which is not empty: at the stated line, or else at the only one in the file.
///
/// It is there byte for byte. Only where it is so nowhere, the end of its last line is left out of account. Where it
/// stands without that at the stated line, and byte for byte elsewhere, either could be meant.
pub(super) fn locate(
    text: &Text<'_>,
    block: &[u8],
    stated: Option<usize>,
    budget: &mut SearchBudget,
) -> Result<Found, Lost> {
    let found = |offset: usize, as_stated| {
        let (length, is_exact) = fit(text.bytes(), block, offset)?;
        Some(Found { offset, length, line: text.line_at(offset), as_stated, is_exact })
    };
    let at_stated = stated.and_then(|line| text.offset_of(line)).and_then(|offset| found(offset, true));
    if let Some(found) = at_stated.filter(|found| found.is_exact) {
        return Ok(found);
    }
    let is_ended = block.ends_with(b"\n");
    let mut places = places(text.bytes(), block, budget)?;
    if let Some(loosely) = at_stated.filter(|_| places.is_empty() || is_ended) {
        if places.is_empty() {
            return Ok(loosely);
        }
        places.push(loosely.offset);
        places.sort_unstable();
    }
    if places.is_empty() {
        places = loose_places(text.bytes(), block, budget)?;
    }
    match places.as_slice() {
        [] => Err(Lost::Nowhere),
        [offset] => found(*offset, false).ok_or(Lost::Nowhere),
        several => Err(Lost::Several(several.iter().map(|offset| text.line_at(*offset)).collect())),
    }
}

/// How many bytes the lines of `block` are at `offset`, which is the start of a line, and whether the last of them ends
/// there as in the block; `None` where they do not stand there.
fn fit(bytes: &[u8], block: &[u8], offset: usize) -> Option<(usize, bool)> {
    let lines = without_end(block);
    let is_ended = match bytes[offset..].strip_prefix(lines)?.first() {
        Some(b'\n') => true,
        // A line of no bytes at all is none.
        None if !lines.is_empty() && !lines.ends_with(b"\n") => false,
        Some(_) | None => return None,
    };
    Some((lines.len() + usize::from(is_ended), is_ended == block.ends_with(b"\n")))
}

fn without_end(block: &[u8]) -> &[u8] {
    block.strip_suffix(b"\n").unwrap_or(block)
}

/// The first places of `block` as whole lines, at most [`CANDIDATES`] of them. They may overlap.
fn places(bytes: &[u8], block: &[u8], budget: &mut SearchBudget) -> Result<Vec<usize>, Lost> {
    if block.ends_with(b"\n") { ended_places(bytes, block, budget) } else { last_place(bytes, block, budget) }
}

/// The same where the last line ends otherwise than in `block`.
fn loose_places(bytes: &[u8], block: &[u8], budget: &mut SearchBudget) -> Result<Vec<usize>, Lost> {
    if block.ends_with(b"\n") {
        last_place(bytes, without_end(block), budget)
    } else {
        ended_places(bytes, &[block, b"\n"].concat(), budget)
    }
}

/// The place of lines of which the last has no line feed.
fn last_place(bytes: &[u8], lines: &[u8], budget: &mut SearchBudget) -> Result<Vec<usize>, Lost> {
    budget.spend(lines.len())?;
    let last = bytes.len().checked_sub(lines.len());
    let stands = |at: &usize| (*at == 0 || bytes[at - 1] == b'\n') && fit(bytes, lines, *at).is_some();
    Ok(last.filter(stands).into_iter().collect())
}

/// The places of lines that all have their line feeds.
fn ended_places(bytes: &[u8], lines: &[u8], budget: &mut SearchBudget) -> Result<Vec<usize>, Lost> {
    let mut found = Vec::new();
    if bytes.starts_with(lines) {
        found.push(0);
    }
    // Searching with the line feed before the block makes every hit the start of a line.
    let needle = [b"\n", lines].concat();
    let finder = Finder::new(&needle);
    let mut from = 0;
    while found.len() < CANDIDATES {
        let hit = finder.find(&bytes[from..]);
        budget.spend(needle.len() + hit.unwrap_or(bytes.len() - from))?;
        let Some(hit) = hit else { break };
        from += hit + 1;
        found.push(from);
    }
    Ok(found)
}

/// Where a block that stands nowhere parts from the file, at the place where its most leading lines fit: the stated one,
/// or one where its longest line stands.
pub(super) fn mismatch(text: &Text<'_>, block: &[u8], stated: Option<usize>, hunk: usize) -> Mismatch {
    let lines: Vec<&[u8]> = block.split_inclusive(|b| *b == b'\n').collect();
    let key = (0..lines.len()).rev().max_by_key(|index| lines[*index].len()).unwrap_or_default();
    let key_line = lines.get(key).copied().unwrap_or_default();
    let places = match key_line {
        [] => Vec::new(),
        line => places(text.bytes(), line, &mut SearchBudget::whole()).unwrap_or_default(),
    };
    let candidates: Vec<usize> = places
        .iter()
        .filter_map(|offset| text.line_at(*offset).checked_sub(key))
        .filter(|line| *line > 0)
        .collect();
    let best = stated
        .into_iter()
        .chain(candidates.iter().copied())
        .filter_map(|line| Some((line, text.offset_of(line)?)))
        .map(|(line, offset)| (line, offset, leading_lines(text, offset, &lines)))
        .reduce(|best, next| if next.2 > best.2 { next } else { best });
    let (line, offset, fitting) = best.unwrap_or_else(|| (1, 0, leading_lines(text, 0, &lines)));
    Mismatch {
        hunk,
        line: line + fitting,
        expected: lines.get(fitting).map(|line| Excerpt::of(line)),
        found: text.lines_from(offset).nth(fitting).map(Excerpt::of),
        candidates,
    }
}

fn leading_lines(text: &Text<'_>, offset: usize, lines: &[&[u8]]) -> usize {
    text.lines_from(offset).zip(lines).take_while(|(found, expected)| found == *expected).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(file: &str, block: &str, stated: usize) -> Result<(usize, bool), Lost> {
        let text = Text::new(file.as_bytes());
        locate(&text, block.as_bytes(), Some(stated), &mut SearchBudget::whole())
            .map(|found| (found.line, found.as_stated))
    }

    #[test]
    fn the_stated_line_wins_and_any_other_must_be_the_only_one() {
        let file = "a\nb\na\nb\nc\n";
        assert_eq!(find(file, "a\nb\n", 1), Ok((1, true)));
        assert_eq!(find(file, "a\nb\n", 3), Ok((3, true)));
        assert_eq!(find(file, "a\nb\n", 2), Err(Lost::Several(vec![1, 3])));
        assert_eq!(find(file, "b\nc\n", 1), Ok((4, false)));
        assert_eq!(find(file, "c\na\n", 1), Err(Lost::Nowhere));
        assert_eq!(find(file, "b\nc\n", 900), Ok((4, false)));
        assert_eq!(find(file, "b\nc\n", 0), Ok((4, false)));
    }

    #[test]
    fn only_whole_lines_are_found() {
        assert_eq!(find("xa\nb\n", "a\nb\n", 9), Err(Lost::Nowhere));
        assert_eq!(find("a\nbb\n", "a\nb", 1), Err(Lost::Nowhere));
        assert_eq!(find("a\nbb", "a\nb\n", 1), Err(Lost::Nowhere));
        assert_eq!(find("xa\nb\na\nb\n", "a\nb\n", 1), Ok((3, false)));
    }

    fn is_exact(file: &str, block: &str, stated: usize) -> Option<(usize, bool)> {
        let text = Text::new(file.as_bytes());
        let found = locate(&text, block.as_bytes(), Some(stated), &mut SearchBudget::whole()).ok()?;
        Some((found.line, found.is_exact))
    }

    #[test]
    fn the_end_of_the_last_line_counts_only_where_the_lines_stand_several_times() {
        for (file, block, stated, expected) in [
            ("a\nb\na", "a", 1, Some((3, true))),
            ("a\nb\nxa", "a", 1, Some((1, false))),
            ("a\nb\n", "b", 2, Some((2, false))),
            ("a\nb", "b\n", 2, Some((2, false))),
            ("a\nb", "b\n", 9, Some((2, false))),
            ("b\na\nb", "b\n", 3, None),
            ("b\na\nb", "b\n", 9, Some((1, true))),
            ("b\na\nb\n", "b", 3, Some((3, false))),
            ("b\na\nb\n", "b", 9, None),
            ("a\n", "a\n\n", 1, None),
            ("a\n", "\n", 2, None),
        ] {
            assert_eq!(is_exact(file, block, stated), expected, "{file:?} {block:?} {stated}");
        }
    }

    #[test]
    fn overlapping_places_are_counted() {
        assert_eq!(find("x\na\na\na\n", "a\na\n", 9), Err(Lost::Several(vec![2, 3])));
    }

    #[test]
    fn a_search_passes_over_the_file_a_bounded_number_of_times() {
        let file = "a\n".repeat(200_000);
        let block = "a\n".repeat(100_000);
        let text = Text::new(file.as_bytes());
        let mut budget = SearchBudget::whole();
        assert!(matches!(locate(&text, block.as_bytes(), None, &mut budget), Err(Lost::Several(_))));
        assert!(budget.spent() <= (CANDIDATES + 1) * (file.len() + block.len()), "{}", budget.spent());
        budget = SearchBudget { left: file.len() };
        assert_eq!(locate(&text, b"b\n", None, &mut budget), Err(Lost::SearchLimit));
    }

    #[test]
    fn a_mismatch_is_told_where_the_most_lines_fit() {
        let text = Text::new(b"start\none\ntwo\nthe longest line\nthree\nend\n");
        let found = mismatch(&text, b"two\nthe longest line\nTHREE\nend\n", Some(1), 4);
        assert_eq!((found.hunk, found.line, found.candidates.as_slice()), (4, 5, &[3][..]));
        assert_eq!(found.expected.unwrap().text(), "THREE\n");
        assert_eq!(found.found.unwrap().text(), "three\n");
        let beyond = mismatch(&text, b"end\nmore\n", Some(6), 1);
        assert_eq!((beyond.line, beyond.found), (7, None));
    }
}
