//! Whether a secret begins at a place.

use crate::class::Class;
use crate::pem;
use crate::rule::{Form, Left, MARK, Shape};

/// The most bytes between a name and its value.
const BETWEEN: usize = 8;
/// The most bytes of the first part of a JSON web token, and the fewest of each of the first two.
const JWT_HEAD: usize = 512;
const JWT_LEAST: usize = 10;
/// The most bytes of a user or of a password in a URL, and the fewest of a password that is taken for one.
const IN_URL: usize = 200;
const PASSWORD: usize = 6;

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// No secret.
    Nothing,
    /// It cannot be told before there are more bytes.
    More,
    /// A secret from one place to another, both counted from here, and every byte of the class behind it.
    Secret { from: usize, to: usize, then: Option<Class> },
}

/// Bytes from the place on, and whether they are all there will be.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) is_all: bool,
}

impl Ahead<'_> {
    /// What cannot go on at the end of the bytes.
    pub(crate) const fn ended(self) -> Look {
        if self.is_all { Look::Nothing } else { Look::More }
    }

    /// Whether this text is here; [`Look::More`] in the error where that cannot be told yet.
    pub(crate) fn begins(self, text: &[u8]) -> Result<(), Look> {
        if self.bytes.starts_with(text) {
            Ok(())
        } else if text.starts_with(self.bytes) {
            Err(self.ended())
        } else {
            Err(Look::Nothing)
        }
    }
}

/// Looks for one form. `before` are the last bytes before the place.
pub(crate) fn look(form: &Form, ahead: Ahead<'_>, before: [u8; 3]) -> Look {
    if !form.left.fits(before) {
        return Look::Nothing;
    }
    if let Err(look) = ahead.begins(form.start.as_bytes()) {
        return look;
    }
    match form.shape {
        Shape::Token(class, least) => token(ahead, form.start.len(), class, least, 0),
        Shape::Value(class, least) => {
            let gap = Class::Between.run(&ahead.bytes[form.start.len()..], BETWEEN);
            let at = form.start.len() + gap;
            if at == ahead.bytes.len() { ahead.ended() } else { token(ahead, at, class, least, at) }
        }
        Shape::Jwt => jwt(ahead),
        Shape::Pem => pem::look(ahead),
        Shape::Password => password(ahead, before[2]),
    }
}

impl Left {
    /// Whether these may be the last bytes before the place.
    pub(crate) const fn fits(self, before: [u8; 3]) -> bool {
        match self {
            Self::Anywhere => true,
            Self::AtWord => begins_word(before),
            Self::AtPart => before[2] == b'_' || begins_word(before),
        }
    }
}

/// Whether a word can begin behind these bytes: no letter, digit or underscore goes on, unless it ends an escape in JSON or a
/// URL, or what colours a terminal.
const fn begins_word(before: [u8; 3]) -> bool {
    let is_word = before[2].is_ascii_alphanumeric() || before[2] == b'_';
    match before {
        _ if !is_word => true,
        [_, b'\\', b'n' | b'r' | b't'] => true,
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [_, b'[' | b'0'..=b'9', b'm'] => true,
        _ => false,
    }
}

fn token(ahead: Ahead<'_>, at: usize, class: Class, least: usize, from: usize) -> Look {
    let rest = &ahead.bytes[at..];
    let run = class.run(rest, least);
    if run < least {
        return if run == rest.len() { ahead.ended() } else { Look::Nothing };
    }
    if is_placeholder(&rest[..least]) {
        return Look::Nothing;
    }
    Look::Secret { from, to: at + least, then: Some(class) }
}

/// Whether a text stands in the place of a secret: it says so, or hardly changes.
pub(crate) fn is_placeholder(text: &[u8]) -> bool {
    let says = |word: &[u8]| text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    let mut seen = [false; 256];
    text.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let distinct = seen.iter().filter(|seen| **seen).count();
    distinct < 8 || says(b"example") || text.windows(5).any(|five| five.iter().all(|byte| *byte == five[0]))
}

/// A header and the start of a body, both of them JSON objects in base64.
fn jwt(ahead: Ahead<'_>) -> Look {
    let head = Class::Dashed.run(ahead.bytes, JWT_HEAD);
    if head == ahead.bytes.len() {
        return ahead.ended();
    }
    if head < JWT_LEAST || ahead.bytes[head] != b'.' {
        return Look::Nothing;
    }
    let body = Ahead { bytes: &ahead.bytes[head + 1..], ..ahead };
    if let Err(look) = body.begins(b"eyJ") {
        return look;
    }
    let run = Class::Dashed.run(body.bytes, JWT_LEAST);
    if run < JWT_LEAST {
        return if run == body.bytes.len() { ahead.ended() } else { Look::Nothing };
    }
    Look::Secret { from: 0, to: head + 1 + run, then: Some(Class::Dotted) }
}

/// `://USER:PASSWORD@`, behind a scheme.
fn password(ahead: Ahead<'_>, before: u8) -> Look {
    if !before.is_ascii_alphanumeric() {
        return Look::Nothing;
    }
    let user = &ahead.bytes[3..];
    let name = Class::InUrl.run(user, IN_URL);
    let Some(colon) = user.get(name) else { return ahead.ended() };
    if *colon != b':' {
        return Look::Nothing;
    }
    let from = 3 + name + 1;
    let rest = &ahead.bytes[from..];
    let len = Class::InUrl.run(rest, IN_URL);
    match rest.get(len) {
        None => ahead.ended(),
        Some(b'@') if len >= PASSWORD && !stands_for_a_password(&rest[..len]) => {
            match is_an_example(Ahead { bytes: &rest[len + 1..], ..ahead }) {
                Ok(false) => Look::Secret { from, to: from + len, then: None },
                Ok(true) => Look::Nothing,
                Err(look) => look,
            }
        }
        Some(_) => Look::Nothing,
    }
}

/// Whether a host says that it is none. One that holds a mark is not looked at twice.
fn is_an_example(host: Ahead<'_>) -> Result<bool, Look> {
    let len = Class::Dotted.run(host.bytes, IN_URL);
    if len == host.bytes.len() && !host.is_all {
        return Err(Look::More);
    }
    let is_marked = match (Ahead { bytes: &host.bytes[len..], ..host }).begins(MARK.as_bytes()) {
        Ok(()) => true,
        Err(Look::More) => return Err(Look::More),
        Err(_) => false,
    };
    let name = &host.bytes[..len];
    Ok(is_marked || name.windows(7).any(|word| word.eq_ignore_ascii_case(b"example")))
}

/// Words that texts about passwords have in the place of one.
fn stands_for_a_password(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 7] =
        [b"passw", b"secret", b"example", b"postgres", b"changeme", b"token", b"x-oauth"];
    let first = text[0];
    text.iter().all(|byte| *byte == first)
        || WORDS
            .iter()
            .any(|word| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
}
