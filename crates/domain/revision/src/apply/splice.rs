use super::locate::{Found, Lost, SearchBudget, locate, mismatch};
use super::refusal::Reason;
use super::text::Text;
use crate::patch::Hunk;

/// A hunk as bytes: what must stand at its place, and what stands there then.
pub(super) struct Block {
    pub(super) hunk: usize,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    pub(super) stated: Option<usize>,
}

impl Block {
    pub(super) fn forward(hunk: &Hunk) -> Self {
        let stated = hunk.stated().map(|stated| stated.old);
        Self { hunk: hunk.number(), before: hunk.before(), after: hunk.after(), stated }
    }

    pub(super) fn backward(hunk: &Hunk) -> Self {
        let stated = hunk.stated().map(|stated| stated.new);
        Self { hunk: hunk.number(), before: hunk.after(), after: hunk.before(), stated }
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
    let hunk = block.hunk;
    if block.before.is_empty() {
        let only_place = text.bytes().is_empty();
        let found = Found { offset: 0, line: 1, as_stated: true };
        return only_place.then_some(found).ok_or(Reason::UnanchoredInsert { hunk });
    }
    locate(text, &block.before, block.stated, budget).map_err(|lost| match lost {
        Lost::Nowhere => Reason::ContextMismatch(Box::new(mismatch(text, &block.before, block.stated, hunk))),
        Lost::Several(lines) => Reason::AmbiguousPlace { hunk, lines },
        Lost::SearchLimit => Reason::SearchLimit,
    })
}
