use super::locate::{Found, Lost, SearchBudget, locate, mismatch};
use super::narrow::narrow;
use super::refusal::Reason;
use super::text::Text;
use crate::patch::Hunk;

/// A hunk as bytes: what must stand at its place, and what stands there then.
pub(super) struct Block {
    pub(super) hunk: usize,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    pub(super) stated: Option<usize>,
    pub(super) anchors: Vec<Vec<u8>>,
    pub(super) ends_file: bool,
}

impl Block {
    pub(super) fn forward(hunk: &Hunk) -> Self {
        let stated = hunk.stated().map(|stated| stated.old);
        Self::of(hunk, hunk.before(), hunk.after(), stated)
    }

    pub(super) fn backward(hunk: &Hunk) -> Self {
        let stated = hunk.stated().map(|stated| stated.new);
        Self::of(hunk, hunk.after(), hunk.before(), stated)
    }

    fn of(hunk: &Hunk, before: Vec<u8>, after: Vec<u8>, stated: Option<usize>) -> Self {
        let (anchors, ends_file) = (hunk.anchors().to_vec(), hunk.ends_file());
        Self { hunk: hunk.number(), before, after, stated, anchors, ends_file }
    }
}

/// A file with all its blocks in place.
pub(super) struct Spliced {
    pub(super) bytes: Vec<u8>,
    pub(super) found: Vec<Found>,
}

/// Puts blocks in their places, which must follow one another.
pub(super) fn splice(bytes: &[u8], blocks: &[Block], budget: &mut SearchBudget) -> Result<Spliced, Reason> {
    let text = Text::new(bytes);
    let mut spliced = Spliced { bytes: Vec::with_capacity(bytes.len()), found: Vec::new() };
    let mut copied = 0;
    for block in blocks {
        let found = place(&text, block, budget)?;
        if found.offset < copied {
            return Err(Reason::HunkOrder { hunk: block.hunk, line: found.line });
        }
        let end = found.offset + block.before.len();
        if end < bytes.len() && !block.after.is_empty() && !block.after.ends_with(b"\n") {
            return Err(Reason::FinalNewline { hunk: block.hunk });
        }
        spliced.bytes.extend_from_slice(&bytes[copied..found.offset]);
        spliced.bytes.extend_from_slice(&block.after);
        spliced.found.push(found);
        copied = end;
    }
    spliced.bytes.extend_from_slice(&bytes[copied..]);
    Ok(spliced)
}

fn place(text: &Text<'_>, block: &Block, budget: &mut SearchBudget) -> Result<Found, Reason> {
    let part = narrow(text, block, budget)?;
    if block.before.is_empty() {
        let only_place = text.bytes().is_empty();
        let found = Found { offset: 0, line: 1, as_stated: true };
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
        Lost::Nowhere => Reason::ContextMismatch(Box::new(mismatch(text, &block.before, block.stated, hunk))),
        Lost::Several(lines) => Reason::AmbiguousPlace { hunk, lines },
        Lost::SearchLimit => Reason::SearchLimit,
    })
}
