//! Takes out of a text what differs between two sightings of the same failure.

/// Directories whose content has a new name in every execution.
const TEMPORARY: [&str; 6] =
    ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/dev/shm/"];
const UNITS: [&str; 14] =
    ["ns", "us", "µs", "ms", "s", "m", "h", "d", "sec", "secs", "seconds", "min", "mins", "Z"];
const DATE_WORDS: [&str; 19] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug",
    "Sep", "Oct", "Nov", "Dec",
];

/// A message without its numbers: no timestamp, duration, address, port, process id, line number, object id, UUID,
/// digest or temporary path is left, and white space is single. Digits within an identifier (`E0308`, `test_2`) stay.
pub(crate) fn without_noise(text: &str) -> String {
    let collapsed = rewrite(text, true);
    let mut words: Vec<&str> = Vec::new();
    for word in collapsed.split_whitespace() {
        let repeats = word == "#" && words.last() == Some(&"#");
        if !repeats {
            words.push(word);
        }
    }
    words.join(" ")
}

/// A name without addresses, object ids and temporary paths. Its plain numbers stay: `case[2]` is not `case[3]`.
pub(crate) fn stable_name(text: &str) -> String {
    rewrite(text, false)
}

fn rewrite(text: &str, numbers: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let at_start = !is_word(before);
        let token = match first {
            '/' if at_start => temporary_path(rest).map(|length| (length, "<tmp>")),
            c if at_start && is_word(c) => noisy_word(rest, numbers).map(|length| (length, "#")),
            _ => None,
        };
        let length = match token {
            Some((length, replacement)) => {
                out.push_str(replacement);
                length
            }
            None => {
                let length = verbatim(rest, first);
                out.push_str(&rest[..length]);
                length
            }
        };
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    out
}

/// One character, or the whole identifier where one starts: what follows within it is no token of its own.
fn verbatim(rest: &str, first: char) -> usize {
    if first.is_alphabetic() || first == '_' { word_length(rest) } else { first.len_utf8() }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_length(rest: &str) -> usize {
    rest.find(|c| !is_word(c)).unwrap_or(rest.len())
}

fn temporary_path(rest: &str) -> Option<usize> {
    TEMPORARY.iter().any(|root| rest.starts_with(root)).then(|| {
        rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | ']' | '>' | ',' | ':'))
            .unwrap_or(rest.len())
    })
}

/// The length of the token at the start of `rest`, where the token is noise.
fn noisy_word(rest: &str, numbers: bool) -> Option<usize> {
    let word = &rest[..word_length(rest)];
    if let Some(hex) = word.strip_prefix("0x")
        && !hex.is_empty()
        && hex.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return Some(word.len());
    }
    if let Some(length) = object_id(rest) {
        return Some(length);
    }
    if word.len() == 11 && word.starts_with("tmp") && word.bytes().any(|b| b.is_ascii_digit()) {
        return Some(word.len());
    }
    if numbers && DATE_WORDS.contains(&word) {
        return Some(word.len());
    }
    (numbers && rest.starts_with(|c: char| c.is_ascii_digit())).then(|| number(rest))
}

/// Eight or more hexadecimal digits, letters and figures both, with dashes between: a UUID, a digest, a handle.
fn object_id(rest: &str) -> Option<usize> {
    let length = rest.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(rest.len());
    let candidate = rest[..length].trim_end_matches('-');
    let ends = !rest[candidate.len()..].starts_with(is_word);
    let figures = candidate.bytes().filter(u8::is_ascii_digit).count();
    let letters = candidate.bytes().filter(u8::is_ascii_alphabetic).count();
    (ends && figures > 0 && letters > 0 && figures + letters >= 8).then_some(candidate.len())
}

/// A number with everything that makes it a date, a time, a version or a duration: `12:30:01.5Z`, `1m2.5s`, `3 ms`.
fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    loop {
        while digit_at(at) {
            at += 1;
        }
        let joined =
            matches!(bytes.get(at), Some(b'.' | b':' | b'-' | b'T' | b'_' | b'+')) && digit_at(at + 1);
        if joined {
            at += 1;
            continue;
        }
        let Some(length) = unit(&rest[at..]) else { return at };
        at += length;
        if !digit_at(at) {
            return at;
        }
    }
}

fn unit(rest: &str) -> Option<usize> {
    let spaced = usize::from(rest.starts_with(' '));
    let word = &rest[spaced..];
    let length = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
    let known = UNITS.contains(&&word[..length]) && (spaced == 0 || !word[length..].starts_with(is_word));
    known.then_some(spaced + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sightings_of_one_line_read_the_same() {
        for (one, other) in [
            ("2026-11-29T21:49:00.123Z error: x", "2027-01-02T03:04:05Z error: x"),
            ("Sun Nov 29 21:49:00 2026 down", "Mon Dec  7 01:02:03 2026 down"),
            ("took 1m2.5s", "took 900ms"),
            ("took 2 seconds now", "took 900 ms now"),
            ("<object object at 0x7ff94a2aff10>", "<object object at 0x7f00b>"),
            ("id 0b5dfe3c-1c2d-4e5f-8a9b-0c1d2e3f4a5b", "id f47ac10b-58cc-4372-a567-0e02b2c3d479"),
            ("id 12345678", "id a1b2c3d4"),
            ("/tmp/pytest-of-root/pytest-3/a.txt: no", "/tmp/x: no"),
            ("listen on 127.0.0.1:43127 failed", "listen on 127.0.0.1:5000 failed"),
            ("pid=4711 thread-12", "pid=17 thread-3"),
            ("file tmpk3j2h_x1 gone", "file tmp0a_b8zz9 gone"),
        ] {
            assert_eq!(without_noise(one), without_noise(other), "{one}");
        }
    }

    #[test]
    fn what_tells_two_failures_apart_stays() {
        for (one, other) in [
            ("error[E0308]: mismatched", "error[E0425]: mismatched"),
            ("cannot find `alpha`", "cannot find `beta`"),
            ("test_2 failed", "test_3 failed"),
            ("src/a.c: oops", "src/b.c: oops"),
            ("/srv/tmp/a", "/srv/tmp/b"),
        ] {
            assert_ne!(without_noise(one), without_noise(other), "{one}");
        }
        assert_ne!(stable_name("case[2]"), stable_name("case[3]"));
        assert_eq!(stable_name("case[0x7f]"), stable_name("case[0x80]"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_fail_and_a_second_pass_finds_little(text in "\\PC{0,200}") {
            let once = without_noise(&text);
            proptest::prop_assert!(once.len() <= text.len() * 5 + 5);
            proptest::prop_assert!(stable_name(&text).len() <= text.len() * 5 + 5);
        }
    }
}
