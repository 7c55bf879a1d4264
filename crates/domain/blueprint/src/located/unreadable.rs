/// Whether a character cannot be seen by whoever approves a document, or changes how others are seen: controls, turns
/// of the direction of text, invisible ones, the tag characters that carry hidden text, and non-characters.
///
/// Joiners and the emoji presentation selector stay allowed: words and symbols are written with them.
pub(crate) fn is_unreadable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}
