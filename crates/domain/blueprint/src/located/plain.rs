/// What text without quotes means.
///
/// It is read by YAML 1.2, and only where YAML 1.1 reads it alike: `no` is text in one and a boolean in the other, `010`
/// is ten or eight, `1:30` is text or ninety. Those are [`Plain::Ambiguous`] and accepted nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// Decimal digits without a leading zero, perhaps after a minus sign.
    Integer,
    /// Such digits, a point and more digits.
    Decimal,
    /// Something that readers disagree about, or that some of them take for another kind of number or for a date.
    Ambiguous,
    /// Text.
    Text,
}

impl Plain {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "" | "~" | "null" => Self::Null,
            "true" => Self::Boolean(true),
            "false" => Self::Boolean(false),
            _ if is_integer(text.strip_prefix('-').unwrap_or(text)) => match text {
                "-0" => Self::Ambiguous,
                _ => Self::Integer,
            },
            _ if is_decimal(text) => Self::Decimal,
            _ if is_switch(text) || is_number_like(text) || matches!(text, "=" | "<<") => Self::Ambiguous,
            _ => Self::Text,
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_integer(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_decimal(text: &str) -> bool {
    text.split_once('.').is_some_and(|(whole, fraction)| is_integer(whole) && is_digits(fraction))
}

/// Words that are a boolean or nothing at all in one version of YAML or in another spelling.
fn is_switch(text: &str) -> bool {
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// What starts like a number and goes on with nothing but what numbers and dates of YAML 1.1 and 1.2 hold: `0x10`,
/// `1_000`, `012`, `1e3`, `12:30`, `2001-12-14t21:59:43.10Z`, and the named ones.
fn is_number_like(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['+', '-']);
    let named = [".inf", ".nan"].iter().any(|name| unsigned.eq_ignore_ascii_case(name));
    let first = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let of_numbers =
        |c: char| c.is_ascii_hexdigit() || matches!(c, 'x' | 'X' | 'o' | 'O' | '_' | '.' | ':' | '+' | '-');
    let of_dates = |c: char| of_numbers(c) || matches!(c, 't' | 'T' | 'z' | 'Z' | ' ');
    named || (first.starts_with(|c: char| c.is_ascii_digit()) && unsigned.chars().all(of_dates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unquoted_text_means_the_same_to_every_reader_or_nothing() {
        for (meaning, texts) in [
            (Plain::Null, &["", "~", "null"][..]),
            (Plain::Boolean(true), &["true"]),
            (Plain::Integer, &["0", "7", "-7", "9007199254740993", "123456789012345678901234567890"]),
            (Plain::Decimal, &["4.00", "0.5", "10.0"]),
            (
                Plain::Ambiguous,
                &[
                    "yes",
                    "No",
                    "ON",
                    "off",
                    "y",
                    "N",
                    "True",
                    "NULL",
                    "0x10",
                    "0o17",
                    "017",
                    "-0",
                    "1_000",
                    ".5",
                    "4.",
                    "+4",
                    "1e3",
                    "12e03",
                    ".inf",
                    "-.INF",
                    ".NaN",
                    "1:30",
                    "2001-12-14",
                    "1.2.3",
                    "=",
                    "<<",
                    "2001-12-14 21:59:43",
                    "-.5",
                    "00",
                ],
            ),
            (
                Plain::Text,
                &[
                    "inf",
                    "NaN",
                    "nan",
                    "domain",
                    "3rd",
                    "a1",
                    "-",
                    "--",
                    "...x",
                    "yesterday",
                    "2 processes",
                    "src/**",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(Plain::of(text), meaning, "{text:?}");
            }
        }
    }
}
