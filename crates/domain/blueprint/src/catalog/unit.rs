//! The units in which a catalog tells quantities.

pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;
pub(super) const SECOND_MS: u64 = 1_000;
pub(super) const DAY_SECONDS: u64 = 24 * 60 * 60;

/// How many whole units a quantity has; what is not whole has no form in a document.
pub(super) fn whole<E: serde::ser::Error>(value: u64, unit: u64) -> Result<u64, E> {
    if value.is_multiple_of(unit) {
        Ok(value / unit)
    } else {
        Err(E::custom(format_args!("{value} is not a multiple of {unit}, as a document tells it")))
    }
}
