//! A private key as PEM (RFC 7468), alone, in a string of JSON or of a program, or behind what a log puts before each line.

use crate::class::Class;
use crate::scan::{Ahead, Look, is_placeholder};

const BEGINS: &[u8] = b"-----BEGIN ";
const ENDS: &[u8] = b"-----END ";
const KIND: &[u8] = b"PRIVATE KEY";
const DASHES: &[u8] = b"-----";
/// The longest name of a kind of key.
const NAME: usize = 40;
/// The most bytes before the first line of the key: what says how it is sealed.
const HEADERS: usize = 512;
/// The shortest line that is taken for one of a key, and the most bytes between two.
const LINE: usize = 40;
const BETWEEN_LINES: usize = 16;
/// The longest key, with everything that stands between its lines.
const WHOLE: usize = 16 << 10;

/// Looks behind `-----BEGIN `, which is here.
pub(crate) fn look(ahead: Ahead<'_>) -> Look {
    let header = match label(ahead, BEGINS.len()) {
        Ok(end) => end,
        Err(look) => return look,
    };
    let first = match first_line(ahead, header) {
        Ok(at) => at,
        Err(look) => return look,
    };
    let window = &ahead.bytes[..ahead.bytes.len().min(WHOLE)];
    let mut at = first;
    while let Some(found) = find(&window[at..], ENDS) {
        match label(ahead, at + found + ENDS.len()) {
            Ok(end) => return Look::Secret { from: 0, to: end, then: None },
            Err(Look::More) => return Look::More,
            Err(_) => at += found + ENDS.len(),
        }
    }
    if ahead.bytes.len() < WHOLE && !ahead.is_all {
        return Look::More;
    }
    Look::Secret { from: 0, to: last_line(window, first), then: Some(Class::Base64) }
}

/// The end of a name that ends with `PRIVATE KEY` and dashes.
fn label(ahead: Ahead<'_>, at: usize) -> Result<usize, Look> {
    let rest = &ahead.bytes[at..];
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    let name = rest.iter().take(NAME).take_while(|byte| is_name(byte)).count();
    if name == rest.len() {
        return Err(ahead.ended());
    }
    if find(&rest[..name], KIND).is_none() {
        return Err(Look::Nothing);
    }
    Ahead { bytes: &rest[name..], ..ahead }.begins(DASHES)?;
    Ok(at + name + DASHES.len())
}

/// Where the first line of the key begins. Nothing but text of headers stands before it.
fn first_line(ahead: Ahead<'_>, header: usize) -> Result<usize, Look> {
    let mut at = header;
    loop {
        let run = Class::Base64.run(&ahead.bytes[at..], LINE);
        if run == LINE {
            let line = &ahead.bytes[at..at + LINE];
            return if is_placeholder(line) { Err(Look::Nothing) } else { Ok(at) };
        }
        let Some(next) = ahead.bytes.get(at + run) else { return Err(ahead.ended()) };
        if !is_between(*next) || at + run - header > HEADERS {
            return Err(Look::Nothing);
        }
        at += run + 1;
    }
}

const fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'\\' | b'"' | b'\'' | b',' | b':' | b'-' | b'.' | b'(' | b')' | b'|' | b'>' | b'#' | b';' | b'*'
        )
}

/// The end of the last line that still belongs to a key whose end is missing.
fn last_line(window: &[u8], first: usize) -> usize {
    let mut end = first + Class::Base64.run(&window[first..], WHOLE);
    loop {
        let gap =
            window[end..].iter().take(BETWEEN_LINES).take_while(|byte| !Class::Base64.holds(**byte)).count();
        let run = Class::Base64.run(&window[end + gap..], WHOLE);
        if gap == BETWEEN_LINES || run < LINE {
            return end;
        }
        end += gap + run;
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
