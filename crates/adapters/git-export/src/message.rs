use std::str::FromStr;

use ambit_ids::is_unprintable;

use crate::limits;

/// What a commit says: a subject of one line, and a text.
///
/// Whatever is read is made fit for both forms: a character that does not show becomes U+FFFD, and a line that git could
/// take for a part of a mail or a patch gets a space before it, so that nothing of a message changes who a commit is
/// from, where it ends, or what it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    subject: String,
    body: String,
}

/// Why a text is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Nothing that shows, or nothing but what `git am` leaves out: `Re:`, colons, and words in square brackets.
    #[error("a message has a subject, beside `Re:` and words in square brackets")]
    Empty,
    /// Past [`limits::SUBJECT_BYTES`].
    #[error("the first line of a message has at most {} bytes", limits::SUBJECT_BYTES)]
    Subject,
    /// Past [`limits::MESSAGE_BYTES`].
    #[error("a message has at most {} bytes", limits::MESSAGE_BYTES)]
    TooLarge,
}

/// How a line starts that git reads as something else than text, in lower case: the start of a mail, a header within a
/// mail, the start of a patch, or a trailer of ours.
const READ_BY_GIT: [&str; 10] =
    ["from ", "from:", "subject:", "date:", "[patch]", "diff -", "index: ", "---", "ambit-", "content-type:"];
/// Scissors: beside dashes they cut off what stands above them.
const SCISSORS: [&str; 4] = [">8", "8<", ">%", "%<"];

impl Message {
    /// The first line, with its blanks folded to one each.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// What follows, without blank lines at either end; empty where nothing does.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

impl FromStr for Message {
    type Err = MessageError;

    fn from_str(text: &str) -> Result<Self, MessageError> {
        if text.len() > limits::MESSAGE_BYTES {
            return Err(MessageError::TooLarge);
        }
        let text: String = text.replace("\r\n", "\n").chars().map(shown).collect();
        let (subject, body) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        if kept_of_subject(&subject).is_empty() {
            return Err(MessageError::Empty);
        }
        if subject.len() > limits::SUBJECT_BYTES {
            return Err(MessageError::Subject);
        }
        let body = body.lines().map(harmless).collect::<Vec<_>>().join("\n");
        Ok(Self { subject, body: body.trim_matches('\n').to_owned() })
    }
}

/// What `git am` keeps of a subject.
fn kept_of_subject(subject: &str) -> &str {
    let mut kept = subject;
    loop {
        let is_reply = kept.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("re:"));
        kept = match kept.split_once(']') {
            _ if kept.starts_with([' ', ':']) => &kept[1..],
            _ if is_reply => &kept[3..],
            Some((_, rest)) if kept.starts_with('[') => rest,
            _ => return kept,
        };
    }
}

fn shown(c: char) -> char {
    if is_unprintable(c) && !matches!(c, '\n' | '\t') { char::REPLACEMENT_CHARACTER } else { c }
}

fn harmless(line: &str) -> String {
    let mut line = line.trim_end().to_owned();
    for mark in SCISSORS {
        if line.contains(mark) {
            let (one, other) = mark.split_at(1);
            line = line.replace(mark, &format!("{one} {other}"));
        }
    }
    let start = line.trim_start_matches('>').to_ascii_lowercase();
    let is_read = READ_BY_GIT.iter().any(|read| start.starts_with(read));
    if is_read { format!(" {line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_subject_and_a_text() {
        let message: Message = "\n One \t two\u{202e}\r\n\r\n\r\nbody \n  more\u{7}\n\n".parse().unwrap();
        assert_eq!((message.subject(), message.body()), ("One two\u{fffd}", "body\n  more\u{fffd}"));
        let only: Message = "only".parse().unwrap();
        assert_eq!((only.subject(), only.body()), ("only", ""));
        for empty in [" \n\n", "[a] [b]", "Re: [PATCH]", ": :", "[é] re:RE:\n\nbody"] {
            assert_eq!(empty.parse::<Message>(), Err(MessageError::Empty), "{empty}");
        }
        for kept in ["[a] b", "Re: é", "[a", "]", "Re"] {
            assert_eq!(kept.parse::<Message>().unwrap().subject(), kept);
        }
        assert_eq!("x".repeat(401).parse::<Message>(), Err(MessageError::Subject));
        assert_eq!("x\n".repeat(9000).parse::<Message>(), Err(MessageError::TooLarge));
    }

    #[test]
    fn no_line_is_read_as_something_else() {
        for line in ["From a", ">>From a", "FROM: x", "diff --git a/x b/x", "---", "--- a/x", "Ambit-Run: x"]
        {
            assert_eq!(harmless(line), format!(" {line}"));
        }
        assert_eq!(harmless("-- >8 -- 8< "), "-- > 8 -- 8 <");
        assert_eq!(harmless("-- fine, from here"), "-- fine, from here");
    }
}
