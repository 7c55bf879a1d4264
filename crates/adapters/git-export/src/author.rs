use std::fmt;
use std::str::FromStr;

use ambit_ids::is_unprintable;

use crate::limits;

/// Who a commit says it is from: `Name <mail>`.
///
/// The name is printable and holds none of `<`, `>` and `@`; the address is plain ASCII with one `@`. Git takes both from
/// a mail exactly as they are, but for marks such as a full stop at the ends of a name, which it leaves out, and a name of
/// fewer than three bytes, for which it puts the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    name: String,
    mail: String,
}

/// Why a text names no author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthorError {
    /// Not a name and an address.
    #[error("an author is a name and an address, as in `Ada Lovelace <ada@example.com>`")]
    Form,
    /// The name is one that git does not take.
    #[error(
        "the name of an author has a letter or digit, at most {} bytes, and no control character, `<`, `>` or `@`",
        limits::AUTHOR_NAME_BYTES
    )]
    Name,
    /// The address is one that git does not take.
    #[error(
        "the address of an author is plain ASCII with one `@`, without spaces, quotes and comments, and has at most {} \
         bytes",
        limits::AUTHOR_MAIL_BYTES
    )]
    Mail,
}

impl Author {
    /// This program, where nobody else is named. Nobody reads what is sent there (RFC 2606).
    #[must_use]
    pub fn program() -> Self {
        Self { name: "Ambit".to_owned(), mail: "ambit@ambit.invalid".to_owned() }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address.
    #[must_use]
    pub fn mail(&self) -> &str {
        &self.mail
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.mail)
    }
}

impl FromStr for Author {
    type Err = AuthorError;

    fn from_str(text: &str) -> Result<Self, AuthorError> {
        let (name, mail) =
            text.trim().strip_suffix('>').and_then(|text| text.split_once('<')).ok_or(AuthorError::Form)?;
        let name = name.trim();
        let is_named = name.chars().any(char::is_alphanumeric)
            && name.len() <= limits::AUTHOR_NAME_BYTES
            && !name.chars().any(|c| is_unprintable(c) || matches!(c, '<' | '>' | '@'));
        if !is_named {
            return Err(AuthorError::Name);
        }
        let is_address = mail.len() <= limits::AUTHOR_MAIL_BYTES
            && mail.split('@').all(|part| !part.is_empty())
            && mail.matches('@').count() == 1
            && mail.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.@".contains(&b))
            && mail.ends_with(|c: char| c.is_ascii_alphanumeric());
        if !is_address {
            return Err(AuthorError::Mail);
        }
        Ok(Self { name: name.to_owned(), mail: mail.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_a_name_and_an_address() {
        for good in ["Ada <ada@example.com>", "  Zoë O'Neil, Jr. <a.b+c@x> "] {
            assert_eq!(good.parse::<Author>().unwrap().to_string(), good.trim(), "{good}");
        }
        let long = format!("{} <a@b>", "n".repeat(61));
        for (bad, why) in [
            ("Ada", AuthorError::Form),
            ("ada@example.com", AuthorError::Form),
            ("<a@b>", AuthorError::Name),
            ("... <a@b>", AuthorError::Name),
            ("a@b <a@b>", AuthorError::Name),
            ("A\nBcc: x <a@b>", AuthorError::Name),
            ("A\u{202e} <a@b>", AuthorError::Name),
            (long.as_str(), AuthorError::Name),
            ("Ada <a>", AuthorError::Mail),
            ("Ada <@b>", AuthorError::Mail),
            ("Ada <a@b@c>", AuthorError::Mail),
            ("Ada <a b@c>", AuthorError::Mail),
            ("Ada <a@b> <c@d>", AuthorError::Mail),
            ("Ada <a@b\n>", AuthorError::Mail),
        ] {
            assert_eq!(bad.parse::<Author>(), Err(why), "{bad:?}");
        }
    }
}
