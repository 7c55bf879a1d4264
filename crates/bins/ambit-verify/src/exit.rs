use ambit_verify_trace::Verdict;

/// Every check ran and held.
pub const PROVED: u8 = 0;
/// The command line was wrong.
pub const USAGE: u8 = 2;
/// Something is not as it must be.
pub const REFUTED: u8 = 10;
/// It could not be verified, which is never a proof.
pub const UNVERIFIED: u8 = 12;

/// The exit code of a verdict.
pub(crate) const fn of(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Proved => PROVED,
        Verdict::Refuted => REFUTED,
        Verdict::CouldNotVerify => UNVERIFIED,
    }
}
