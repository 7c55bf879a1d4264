use std::sync::{Mutex, PoisonError};

use ambit_ports::runtime::IdGenerator;

use crate::clock::system_now;
use crate::entropy;

/// Crockford's base 32 in lower case: no `i`, `l`, `o` and `u`, and in ASCII order.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Identifiers of 26 characters that sort by their age: 48 bits of milliseconds since 1970 and 80 bits of chance, in
/// lower-case base 32 (the layout of a ULID).
///
/// Within one process each is greater than the one before, even where the clock goes backwards. It needs no tokio.
#[derive(Debug, Default)]
pub struct TimeOrderedIds(Mutex<u128>);

impl IdGenerator for TimeOrderedIds {
    fn next(&self) -> String {
        let mut chance = [0; 16];
        entropy::fill(&mut chance[6..]);
        let time = u128::from(system_now().get());
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = successor(*last, time << 80 | u128::from_be_bytes(chance));
        encode(*last)
    }
}

/// The candidate, where it is greater than the last one.
fn successor(last: u128, candidate: u128) -> u128 {
    candidate.max(last.wrapping_add(1))
}

/// 130 bits for 128: the first digit is below 8.
fn encode(id: u128) -> String {
    (0..26).rev().map(|place| char::from(DIGITS[(id >> (5 * place)) as usize & 31])).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ambit_ids::{LeaseId, RunId};

    use super::*;

    #[test]
    fn the_text_is_the_number() {
        assert_eq!(encode(0), "00000000000000000000000000");
        assert_eq!(encode(u128::MAX), "7zzzzzzzzzzzzzzzzzzzzzzzzz");
        assert_eq!(encode(32 + 31), "0000000000000000000000001z");
        // The example of the ULID specification for the time 1469918176385: `01ARYZ6S41` and sixteen digits of chance.
        assert!(encode(1_469_918_176_385 << 80).starts_with("01aryz6s41"));
    }

    #[test]
    fn an_identifier_is_greater_than_the_last_whatever_the_clock_says() {
        let moment = 1_800_000_000_000_u128 << 80;
        assert_eq!(successor(0, moment | 7), moment | 7);
        assert_eq!(successor(moment | 7, moment | 9), moment | 9);
        assert_eq!(successor(moment | 9, moment | 7), (moment | 9) + 1, "the same millisecond");
        assert_eq!(successor(moment, 5), moment + 1, "the clock went backwards");
    }

    #[test]
    fn many_at_once_are_ordered_and_differ() {
        let ids = TimeOrderedIds::default();
        let made: Vec<Vec<String>> = std::thread::scope(|scope| {
            let makers: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..5_000).map(|_| ids.next()).collect::<Vec<_>>())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(made.iter().all(|one| one.is_sorted()));
        let all: BTreeSet<&String> = made.iter().flatten().collect();
        assert_eq!(all.len(), 20_000);
        let now = encode(u128::from(system_now().get()) << 80);
        for id in all {
            assert!(RunId::new(format!("run_{id}")).is_ok() && LeaseId::new(format!("lease_{id}")).is_ok());
            assert_eq!(id[..4], now[..4], "the time stands first");
        }
    }
}
