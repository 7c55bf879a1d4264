//! Money, time and sizes as integers. No operation here wraps or rounds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// This many units.
            #[must_use]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The number of units.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The sum, or `None` where it cannot be told.
            #[must_use]
            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map(Self)
            }

            /// The difference, never below zero.
            #[must_use]
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
    };
}

quantity!(
    /// Money: millionths of a US dollar.
    MicroUsd
);
quantity!(
    /// A span of time in milliseconds.
    DurationMs
);
quantity!(
    /// A size in bytes.
    ByteCount
);
quantity!(
    /// A moment: milliseconds since 1970-01-01T00:00:00Z, from the clock of the control plane. Never used for order.
    UnixMs
);

impl DurationMs {
    /// Whole minutes, or `None` where the milliseconds would not fit.
    #[must_use]
    pub fn from_minutes(minutes: u64) -> Option<Self> {
        minutes.checked_mul(60_000).map(Self)
    }
}

impl UnixMs {
    /// The moment `span` later, at the end of time at the latest.
    #[must_use]
    pub fn saturating_add(self, span: DurationMs) -> Self {
        Self(self.0.saturating_add(span.get()))
    }

    /// How long ago `earlier` was; zero where the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> DurationMs {
        DurationMs(self.0.saturating_sub(earlier.0))
    }
}

/// Why a text is not an amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseMoneyError {
    /// Not `digits` or `digits.digits`.
    #[error("an amount in US dollars is digits with at most six decimals, such as 4 or 4.00 or 0.000001")]
    Form,
    /// Below a millionth of a dollar.
    #[error("an amount in US dollars has at most six decimals")]
    TooFine,
    /// More than can be told.
    #[error("an amount in US dollars must stay below 9,000,000,000")]
    TooLarge,
}

impl MicroUsd {
    const LIMIT_USD: u64 = 9_000_000_000;

    /// Reads an exact decimal amount of US dollars. Nothing is rounded: what cannot be told exactly is refused.
    ///
    /// # Errors
    /// [`ParseMoneyError`] for a sign, an exponent, a seventh decimal or an amount past the limit.
    pub fn from_usd_decimal(text: &str) -> Result<Self, ParseMoneyError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err(ParseMoneyError::Form);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 6 {
            return Err(ParseMoneyError::TooFine);
        }
        let dollars: u64 = whole.parse().map_err(|_| ParseMoneyError::TooLarge)?;
        if dollars >= Self::LIMIT_USD {
            return Err(ParseMoneyError::TooLarge);
        }
        let micros: u64 = format!("{fraction:0<6}").parse().map_err(|_| ParseMoneyError::Form)?;
        Ok(Self(dollars * 1_000_000 + micros))
    }
}

impl fmt::Display for MicroUsd {
    /// Dollars with at least two decimals and as many more as the amount needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = format!("{:06}", self.0 % 1_000_000);
        let shown = micros.trim_end_matches('0').len().max(2);
        write!(f, "{}.{}", self.0 / 1_000_000, &micros[..shown])
    }
}

impl FromStr for MicroUsd {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_usd_decimal(text)
    }
}

impl fmt::Display for DurationMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms @ 0..1_000 => write!(f, "{ms} ms"),
            ms @ 1_000..60_000 => write!(f, "{}.{} s", ms / 1_000, ms % 1_000 / 100),
            ms => write!(f, "{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        }
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b @ 0..1_024 => write!(f, "{b} B"),
            b @ 1_024..1_048_576 => write!(f, "{} KiB", b / 1_024),
            b => write!(f, "{} MiB", b / 1_048_576),
        }
    }
}

impl fmt::Display for UnixMs {
    /// RFC 3339 in UTC with exactly three decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, ms) = (self.0 / 86_400_000, self.0 % 86_400_000);
        let (year, month, day) = civil_date(days);
        let (h, m, s, ms) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z")
    }
}

/// A text is not a moment as records spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a moment is RFC 3339 in UTC with exactly three decimals, such as 2026-11-29T23:59:59.999Z")]
pub struct ParseMomentError;

impl FromStr for UnixMs {
    type Err = ParseMomentError;

    /// Reads exactly what [`Display`](fmt::Display) writes, for the years up to 9999: there is no second spelling.
    fn from_str(text: &str) -> Result<Self, ParseMomentError> {
        let number = |at: std::ops::Range<usize>| {
            let digits = text.get(at).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<u64>().ok()).ok_or(ParseMomentError)
        };
        if text.len() != 24 {
            return Err(ParseMomentError);
        }
        let days = days_since_1970(number(0..4)?, number(5..7)?, number(8..10)?).ok_or(ParseMomentError)?;
        let seconds = number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
        let moment = Self(days * 86_400_000 + seconds * 1_000 + number(20..23)?);
        if moment.to_string() == text { Ok(moment) } else { Err(ParseMomentError) }
    }
}

/// The inverse of [`civil_date`]; `None` before 1970 or where there is no such month. A day that the month does not
/// have is one of the next.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

/// The Gregorian date of a day counted from 1970-01-01, by eras of 400 years that start in March.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact() {
        for (text, micros) in [
            ("4.00", 4_000_000),
            ("4", 4_000_000),
            ("0.000001", 1),
            ("0.75", 750_000),
            ("1.2500000", 1_250_000),
        ] {
            assert_eq!(MicroUsd::from_usd_decimal(text).unwrap().get(), micros, "{text}");
        }
        for text in ["", ".", "4.", ".5", "-1", "+1", "1e2", "0.0000001", "1,0", " 1", "9000000000", "NaN"] {
            assert!(MicroUsd::from_usd_decimal(text).is_err(), "{text}");
        }
        assert_eq!(MicroUsd::new(4_000_000).to_string(), "4.00");
        assert_eq!(MicroUsd::new(1).to_string(), "0.000001");
        assert_eq!(MicroUsd::new(750_100).to_string(), "0.7501");
    }

    #[test]
    fn moments_read_as_rfc_3339() {
        assert_eq!(UnixMs::new(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(UnixMs::new(951_782_400_123).to_string(), "2000-02-29T00:00:00.123Z");
        assert_eq!(UnixMs::new(1_795_996_799_999).to_string(), "2026-11-29T23:59:59.999Z");
        assert_eq!(UnixMs::new(4_107_542_400_000).to_string(), "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn a_moment_reads_back_and_has_no_second_spelling() {
        for day in (0..2_932_897_u64).step_by(61) {
            let moment = UnixMs::new(day * 86_400_000 + day % 86_400_000);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
        for wrong in [
            "",
            "2026-11-29T23:59:59Z",
            "2026-11-29T23:59:59.999+00:00",
            "2026-11-29t23:59:59.999z",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-01-00T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:60:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "2026-11-29 23:59:59.999Z",
            "+026-11-29T23:59:59.999Z",
            "2026-11-29T23:59:59.\u{e9}9Z",
        ] {
            assert!(wrong.parse::<UnixMs>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_measures_nothing() {
        assert_eq!(UnixMs::new(5).since(UnixMs::new(9)), DurationMs::ZERO);
    }
}
