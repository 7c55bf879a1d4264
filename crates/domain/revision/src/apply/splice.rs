use std::borrow::Cow;

use super::block::Block;
use super::locate::{Found, Lost, SearchBudget, locate, mismatch};
use super::narrow::narrow;
use super::refusal::Reason;
use super::text::Text;

/// A file with all its blocks in place.
pub(super) struct Spliced {
    pub(super) bytes: Vec<u8>,
    /// Where each block was found, in the order of the blocks.
    pub(super) found: Vec<Found>,
    /// The hunks that stand above one that comes before them.
    pub(super) out_of_order: Vec<usize>,
    /// The hunks that are wrong about the end of the file, which stays as it is.
    pub(super) end_kept: Vec<usize>,
}

/// Puts blocks in their places, whatever their order. They must not overlap.
pub(super) fn splice(bytes: &[u8], blocks: &[Block], budget: &mut SearchBudget) -> Result<Spliced, Reason> {
    let text = Text::new(bytes);
    let mut placed = Vec::with_capacity(blocks.len());
    let (mut out_of_order, mut furthest) = (Vec::new(), 0);
    for block in blocks {
        let found = place(&text, block, budget)?;
        if found.offset < furthest {
            out_of_order.push(block.hunk);
        }
        furthest = furthest.max(found.offset);
        placed.push((block, found));
    }
    let found = placed.iter().map(|(_, found)| *found).collect();
    placed.sort_by_key(|(_, found)| found.offset);
    let mut spliced =
        Spliced { bytes: Vec::with_capacity(bytes.len()), found, out_of_order, end_kept: Vec::new() };
    let mut copied = 0;
    for (block, found) in placed {
        if found.offset < copied {
            return Err(Reason::HunkOverlap { hunk: block.hunk, line: found.line });
        }
        let end = found.offset + found.length;
        let (after, is_end_kept) = replacement(block, &found, end < bytes.len())?;
        if is_end_kept {
            spliced.end_kept.push(block.hunk);
        }
        spliced.bytes.extend_from_slice(&bytes[copied..found.offset]);
        spliced.bytes.extend_from_slice(&after);
        copied = end;
    }
    spliced.bytes.extend_from_slice(&bytes[copied..]);
    Ok(spliced)
}

/// What a block puts in its place, and whether it is wrong there about the end of the file.
///
/// Context is what does not change, so that a hunk that ends with it leaves the end of the file as it is. Nor can a line
/// be without its line feed where others follow.
fn replacement<'b>(block: &'b Block, found: &Found, goes_on: bool) -> Result<(Cow<'b, [u8]>, bool), Reason> {
    let after = block.after.as_slice();
    if !found.is_exact && !block.ends_in_context {
        return Err(Reason::FinalNewline { hunk: block.hunk });
    }
    let is_cut = goes_on && !after.is_empty() && !after.ends_with(b"\n");
    if found.is_exact && !is_cut {
        return Ok((Cow::Borrowed(after), false));
    }
    let kept = match after.strip_suffix(b"\n") {
        Some(unended) => unended.to_vec(),
        None => [after, b"\n"].concat(),
    };
    Ok((Cow::Owned(kept), true))
}

fn place(text: &Text<'_>, block: &Block, budget: &mut SearchBudget) -> Result<Found, Reason> {
    let part = narrow(text, block, budget)?;
    if block.before.is_empty() {
        let only_place = text.bytes().is_empty();
        let found = Found { offset: 0, length: 0, line: 1, as_stated: true, is_exact: true };
        return only_place.then_some(found).ok_or(Reason::UnanchoredInsert { hunk: block.hunk });
    }
    match part {
        None => place_within(text, block, budget),
        Some(part) => part.of_whole(place_within(&part.text, block, budget)),
    }
}

fn place_within(text: &Text<'_>, block: &Block, budget: &mut SearchBudget) -> Result<Found, Reason> {
    let hunk = block.hunk;
    locate(text, &block.before, block.stated, budget).map_err(|lost| match lost {
        Lost::Nowhere => nowhere(text, block, budget),
        Lost::Several(lines) => Reason::AmbiguousPlace { hunk, lines },
        Lost::SearchLimit => Reason::SearchLimit,
    })
}

/// Why a block has no place.
fn nowhere(text: &Text<'_>, block: &Block, budget: &mut SearchBudget) -> Reason {
    let hunk = block.hunk;
    let (turned, file_has) = with_other_line_ends(&block.before);
    let line = match locate(text, &turned, block.stated, budget) {
        Ok(found) => Some(found.line),
        Err(Lost::Several(lines)) => lines.first().copied(),
        Err(Lost::Nowhere | Lost::SearchLimit) => None,
    };
    match line {
        Some(line) => Reason::ContextLineEnding { hunk, line, file_has },
        None => Reason::ContextMismatch(Box::new(mismatch(text, &block.before, block.stated, hunk))),
    }
}

/// Lines with CR LF instead of LF, or with LF where they have that, and which of the two they have then.
fn with_other_line_ends(lines: &[u8]) -> (Vec<u8>, &'static str) {
    let to_cr_lf = !lines.contains(&b'\r');
    let mut turned = Vec::with_capacity(lines.len() + lines.len() / 8);
    for line in lines.split_inclusive(|b| *b == b'\n') {
        match line.strip_suffix(if to_cr_lf { &b"\n"[..] } else { b"\r\n" }) {
            None => turned.extend_from_slice(line),
            Some(line) => {
                turned.extend_from_slice(line);
                turned.extend_from_slice(if to_cr_lf { b"\r\n" } else { b"\n" });
            }
        }
    }
    (turned, if to_cr_lf { "CR LF" } else { "LF" })
}
