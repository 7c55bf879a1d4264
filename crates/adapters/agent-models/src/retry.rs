//! How long to wait before asking again.

use ambit_ids::UnixMs;
use ambit_ports::runtime::Entropy;

use crate::limits::{BACK_OFF_LIMIT_MS, BACK_OFF_MS, RETRY_AFTER_LIMIT_MS};

/// What a vendor said about when to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    /// Nothing that can be read.
    Untold,
    /// After so long.
    Wait(u64),
    /// Later than is waited for.
    TooLong,
}

impl RetryAfter {
    /// Reads `retry-after-ms`, or `retry-after` as seconds or as a date (RFC 9110, section 10.2.3).
    pub(crate) fn of(headers: &[(String, String)], now: UnixMs) -> Self {
        let header =
            |name: &str| headers.iter().find(|header| header.0 == name).map(|header| header.1.trim());
        let exact = header("retry-after-ms").and_then(|text| text.parse::<u64>().ok());
        let told = exact.or_else(|| {
            let text = header("retry-after")?;
            let seconds = text.parse::<u64>().ok().map(|seconds| seconds.saturating_mul(1_000));
            seconds.or_else(|| http_date(text).map(|date| date.since(now).get()))
        });
        match told {
            None => Self::Untold,
            Some(ms) if ms > RETRY_AFTER_LIMIT_MS => Self::TooLong,
            Some(ms) => Self::Wait(ms),
        }
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that is written today.
fn http_date(text: &str) -> Option<UnixMs> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.strip_suffix(" GMT")?.split(' ');
    let (day, month, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let month = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)? / 3 + 1;
    format!("{year}-{month:02}-{day}T{time}.000Z").parse().ok()
}

/// The wait before attempt `next` (counted from 1): what the vendor asked for, and otherwise twice as long each time, of
/// which half is left to chance, so that many who were turned away together do not come back together.
pub(crate) fn wait_ms(next: u32, told: RetryAfter, entropy: &dyn Entropy) -> u64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    let chance = u64::from_le_bytes(bytes);
    match told {
        RetryAfter::Wait(ms) => ms + chance % (BACK_OFF_MS / 2),
        RetryAfter::Untold | RetryAfter::TooLong => {
            let doubled = BACK_OFF_MS << next.saturating_sub(2).min(16);
            let half = doubled.min(BACK_OFF_LIMIT_MS) / 2;
            half + chance % (half + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn a_vendor_says_when_in_seconds_in_milliseconds_or_as_a_date() {
        let now: UnixMs = "1994-11-06T08:49:07.000Z".parse().unwrap();
        let of = |name: &str, text: &str| RetryAfter::of(&[(name.to_owned(), text.to_owned())], now);
        assert_eq!(of("retry-after", "7"), RetryAfter::Wait(7_000));
        assert_eq!(of("retry-after-ms", "70"), RetryAfter::Wait(70));
        assert_eq!(of("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), RetryAfter::Wait(30_000));
        assert_eq!(of("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"), RetryAfter::Wait(0));
        for late in ["61", "18446744073709551615", "Mon, 07 Nov 1994 08:49:37 GMT"] {
            assert_eq!(of("retry-after", late), RetryAfter::TooLong, "{late}");
        }
        for none in [
            "",
            "-1",
            "1.5",
            "soon",
            "99999999999999999999",
            "Sun, 06 ovD 1994 08:49:37 GMT",
            "é, 1 2 3 4 GMT",
        ] {
            assert_eq!(of("retry-after", none), RetryAfter::Untold, "{none}");
        }
    }

    #[test]
    fn waits_double_to_a_limit_and_half_of_each_is_chance() {
        for (chance, expected) in [(0, [250, 500, 1_000, 2_000]), (255, [251, 501, 1_001, 2_001])] {
            let waits: Vec<u64> =
                (2..6).map(|next| wait_ms(next, RetryAfter::Untold, &Fixed(chance))).collect();
            for (wait, least) in waits.iter().zip(expected) {
                assert!(*wait >= least.min(least / 2 * 2) && *wait <= least * 2, "{wait} {least}");
            }
        }
        assert!(wait_ms(60, RetryAfter::Untold, &Fixed(255)) <= BACK_OFF_LIMIT_MS);
        assert_eq!(wait_ms(2, RetryAfter::Wait(7_000), &Fixed(0)), 7_000);
    }
}
