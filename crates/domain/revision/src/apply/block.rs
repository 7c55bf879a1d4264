use crate::patch::{Hunk, LineKind};

/// A hunk as bytes: what must stand at its place, and what stands there then.
pub(super) struct Block {
    pub(super) hunk: usize,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    pub(super) stated: Option<usize>,
    pub(super) anchors: Vec<Vec<u8>>,
    pub(super) ends_file: bool,
    /// Whether the last line of the hunk is context, and so the last on both sides.
    pub(super) ends_in_context: bool,
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
        let ends_in_context = hunk.lines().last().is_some_and(|(kind, _)| kind == LineKind::Context);
        Self { hunk: hunk.number(), before, after, stated, anchors, ends_file, ends_in_context }
    }
}
