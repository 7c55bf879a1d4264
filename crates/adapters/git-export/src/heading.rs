//! The headers of a mail (RFC 5322, RFC 2047).

use ambit_ids::UnixMs;

use crate::author::Author;
use crate::envelope::Envelope;

/// The line that `git format-patch` starts a mail with. Its time is always this one.
const SEPARATOR: &str = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n";
const BODY: &str =
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n";
/// The longest line that a header is folded to.
const LINE: usize = 76;
/// The longest encoded word, without `=?UTF-8?q?` and `?=`.
const WORD: usize = 75 - 12;

/// Everything above the text, with the empty line that ends it.
pub(crate) fn heading(envelope: &Envelope) -> String {
    let subject = envelope.message.subject();
    let subject = if is_plain(subject) {
        folded("Subject: [PATCH]", subject)
    } else {
        encoded("Subject: [PATCH]", subject)
    };
    format!("{SEPARATOR}{}Date: {}\n{subject}{BODY}\n", from(&envelope.author), date(envelope.at))
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~')) && !text.contains("=?")
}

fn from(author: &Author) -> String {
    let (name, mail) = (author.name(), author.mail());
    let is_atoms = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~ ".contains(c);
    let escaped: String =
        name.chars().flat_map(|c| matches!(c, '"' | '\\').then_some('\\').into_iter().chain([c])).collect();
    let quoted = format!("\"{escaped}\"");
    if !is_plain(name) {
        // Git takes quotes out of what it decoded.
        let text = if name.contains('"') { &quoted } else { name };
        return format!("{} <{mail}>\n", encoded("From:", text).trim_end());
    }
    let shown = if name.chars().all(is_atoms) { name } else { &quoted };
    format!("From: {shown} <{mail}>\n")
}

/// The header with its words on as many lines as they need.
fn folded(start: &str, text: &str) -> String {
    let (mut header, mut column) = (start.to_owned(), start.len());
    for word in text.split(' ') {
        let breaks = column + 1 + word.len() > LINE;
        header.push_str(if breaks { "\n " } else { " " });
        column = if breaks { 0 } else { column } + 1 + word.len();
        header.push_str(word);
    }
    header + "\n"
}

/// The header with its text in encoded words, one a line. No character stands in two of them.
fn encoded(start: &str, text: &str) -> String {
    let mut words = vec![String::new()];
    for c in text.chars() {
        let mut buffer = [0; 4];
        let written: String = match c {
            ' ' => "_".to_owned(),
            c if c.is_ascii_alphanumeric() => c.to_string(),
            c => c.encode_utf8(&mut buffer).bytes().map(|b| format!("={b:02X}")).collect(),
        };
        match words.last_mut() {
            Some(word) if word.len() + written.len() <= WORD => word.push_str(&written),
            _ => words.push(written),
        }
    }
    words.iter().fold(start.to_owned(), |header, word| format!("{header}\n =?UTF-8?q?{word}?=")) + "\n"
}

/// A moment as mails tell it, in UTC.
fn date(at: UnixMs) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let weekday = at.get() / 86_400_000 % 7;
    let day_name = DAYS.iter().zip(0..).find(|(_, number)| *number == weekday).map_or("", |(name, _)| name);
    // A moment is told as `YYYY-MM-DDThh:mm:ss.mmmZ`.
    let text = at.to_string();
    let mut parts = text.split(['-', 'T', '.']);
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let (year, month, day, time) = (part(), part(), part(), part());
    let month =
        month.parse::<usize>().ok().and_then(|month| MONTHS.get(month - 1)).copied().unwrap_or_default();
    format!("{day_name}, {} {month} {year} {time} +0000", day.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_mails_have_them() {
        assert_eq!(date(UnixMs::new(0)), "Thu, 1 Jan 1970 00:00:00 +0000");
        assert_eq!(date(UnixMs::new(1_795_996_799_999)), "Sun, 29 Nov 2026 23:59:59 +0000");
        assert_eq!(date(UnixMs::new(951_782_400_123)), "Tue, 29 Feb 2000 00:00:00 +0000");
    }

    #[test]
    fn no_line_is_longer_than_a_header_may_be() {
        let words = "word ".repeat(60);
        let long = "é".repeat(90);
        for header in [folded("Subject: [PATCH]", words.trim()), encoded("Subject: [PATCH]", &long)] {
            assert!(header.lines().all(|line| line.len() <= LINE), "{header}");
            assert!(header.lines().skip(1).all(|line| line.starts_with(' ')), "{header}");
        }
        assert_eq!(encoded("S:", "é ="), "S:\n =?UTF-8?q?=C3=A9_=3D?=\n");
    }

    #[test]
    fn a_name_with_marks_is_quoted() {
        let line = |author: &str| from(&author.parse().unwrap());
        assert_eq!(line("Ada L <a@b>"), "From: Ada L <a@b>\n");
        assert_eq!(line("A. \"B\" <a@b>"), "From: \"A. \\\"B\\\"\" <a@b>\n");
        assert_eq!(line("Zoë <a@b>"), "From:\n =?UTF-8?q?Zo=C3=AB?= <a@b>\n");
        let quoted = "From:\n =?UTF-8?q?=22Zo=C3=AB_=5C=22Z=5C=22=22?= <a@b>\n";
        assert_eq!(line("Zoë \"Z\" <a@b>"), quoted);
    }
}
