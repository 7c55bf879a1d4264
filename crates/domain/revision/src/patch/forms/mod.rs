//! The forms of a patch beside the unified diff, and the Markdown and prose that stand around any of them.

pub(super) mod begin_patch;
pub(super) mod fence;
pub(super) mod prose;
pub(super) mod search_replace;

use super::set::{Hunk, LineKind, LineMark};

/// A hunk of whole lines that states no place.
fn placeless<'a>(number: usize, lines: impl Iterator<Item = (LineKind, &'a [u8])>) -> Hunk {
    let (mut text, mut marks) = (Vec::new(), Vec::new());
    for (kind, line) in lines {
        text.extend_from_slice(line);
        marks.push(LineMark { kind, end: text.len() });
    }
    Hunk { number, stated: None, anchors: Vec::new(), ends_file: false, text, lines: marks }
}
