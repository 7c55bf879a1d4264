/// Bytes that a secret may consist of. None holds [`MARK_OPENS`](crate::MARK_OPENS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Alphanumeric,
    Upper,
    Hex,
    /// What names are made of, with dashes.
    Dashed,
    /// The same with the point.
    Dotted,
    Base64,
    /// The steps of a path.
    Steps,
    /// What stands between a name and its value.
    Between,
    /// The name of a user, or a password, in a URL.
    InUrl,
}

impl Class {
    pub(crate) const fn holds(self, byte: u8) -> bool {
        let alphanumeric = byte.is_ascii_alphanumeric();
        match self {
            Self::Alphanumeric => alphanumeric,
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Dashed => alphanumeric || matches!(byte, b'_' | b'-'),
            Self::Dotted => alphanumeric || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => alphanumeric || matches!(byte, b'+' | b'/' | b'='),
            Self::Steps => alphanumeric || byte == b'/',
            Self::Between => matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'=' | b':' | b',' | b'>'),
            Self::InUrl => {
                alphanumeric
                    || matches!(
                        byte,
                        b'_' | b'-' | b'.' | b'~' | b'%' | b'!' | b'&' | b'+' | b'=' | b';' | b'^'
                    )
            }
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Alphanumeric => "alphanumeric",
            Self::Upper => "upper",
            Self::Hex => "hex",
            Self::Dashed => "dashed",
            Self::Dotted => "dotted",
            Self::Base64 => "base64",
            Self::Steps => "steps",
            Self::Between => "between",
            Self::InUrl => "in-url",
        }
    }

    /// How many bytes at the start are of this class, and at most how many are looked at.
    pub(crate) fn run(self, bytes: &[u8], most: usize) -> usize {
        bytes.iter().take(most).take_while(|byte| self.holds(**byte)).count()
    }
}
