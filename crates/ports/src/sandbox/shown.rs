//! How the bytes that a command writes are shown, in every view of them. The bytes themselves stand in the artifact alone.

use ambit_ids::is_unprintable;

/// The text that stands for these bytes, piece by piece: what is shown, and for how many bytes. What is no UTF-8 and what
/// is unprintable, other than line feed and tab, is shown as U+FFFD, so that no terminal obeys it and nobody overlooks it.
pub fn shown(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().chars().map(|c| {
            let is_shown = matches!(c, '\n' | '\t') || !is_unprintable(c);
            let shown = if is_shown { c } else { char::REPLACEMENT_CHARACTER };
            (shown, c.len_utf8())
        });
        let invalid = chunk.invalid();
        valid.chain((!invalid.is_empty()).then_some((char::REPLACEMENT_CHARACTER, invalid.len())))
    })
}

/// How many of these bytes, at their end, begin a character that goes on behind them; at most 3.
#[must_use]
pub fn begun_at_end(bytes: &[u8]) -> usize {
    let start = bytes.iter().rev().take(3).position(|byte| byte & 0xc0 != 0x80);
    let Some((back, byte)) = start.and_then(|back| Some((back + 1, bytes.get(bytes.len() - back - 1)?)))
    else {
        return 0;
    };
    let len = match byte {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    if len > back { back } else { 0 }
}

/// How many of these bytes, at their start, go on with a character that begins before them; at most 3.
#[must_use]
pub fn continued_at_start(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        shown(bytes).map(|(shown, _)| shown).collect()
    }

    #[test]
    fn what_cannot_be_shown_is_replaced_and_the_rest_stays() {
        let bytes = b"ok \xff\xfe \xc3( caf\xe9\n\x1b[31m\ta\0b\r\n";
        assert_eq!(
            text(bytes),
            "ok \u{fffd}\u{fffd} \u{fffd}( caf\u{fffd}\n\u{fffd}[31m\ta\u{fffd}b\u{fffd}\n"
        );
        assert_eq!(shown(bytes).map(|(_, bytes)| bytes).sum::<usize>(), bytes.len());
    }

    #[test]
    fn a_character_is_known_to_be_cut() {
        let euro = "a€b".as_bytes();
        assert_eq!((0..=5).map(|end| begun_at_end(&euro[..end])).collect::<Vec<_>>(), [0, 0, 1, 2, 0, 0]);
        assert_eq!((0..=5).map(|at| continued_at_start(&euro[at..])).collect::<Vec<_>>(), [0, 0, 2, 1, 0, 0]);
        assert_eq!(begun_at_end(&"𝄞".as_bytes()[..3]), 3);
        assert_eq!((begun_at_end(b"\x80\x80\x80\x80"), continued_at_start(b"\x80\x80\x80\x80")), (0, 3));
    }
}
