//! What a consent needs before it can be given, and what ends one before it is used.

use ambit_ids::{Digest, vocabulary};

vocabulary!(
    /// Why a receipt counts no more, though it was never used.
    VoidReason {
        /// Its time is over, or did not begin yet: a clock was put back.
        Expired = "expired",
        /// The tree that it was given for is no longer the current one.
        BaseMoved = "base-moved",
        /// What it was given under is approved no more: the blueprint was withdrawn, or it is of another policy.
        PolicyChanged = "policy-changed",
        /// Whoever gave it may approve no more.
        ApproverRevoked = "approver-revoked",
        /// The sandbox under which it was given is gone.
        LeaseReplaced = "lease-replaced",
        /// The customer cancelled the run.
        RunCancelled = "run-cancelled",
        /// The run ends for another reason.
        RunEnding = "run-ending",
    }
);

vocabulary!(
    /// Why nobody could see all of what a proposal does. One that cannot be seen cannot be approved.
    Uninspectable {
        /// It has more bytes than a person is shown.
        TooLarge = "too-large",
        /// It has more lines than a person is shown.
        TooManyLines = "too-many-lines",
        /// A line is longer than a person is shown.
        LineTooLong = "line-too-long",
        /// It is no text.
        NotText = "not-text",
        /// A path holds characters that can pass for others or cannot be seen.
        OddPath = "odd-path",
        /// There are more facts about it than a person is shown.
        TooManyFacts = "too-many-facts",
        /// It is not known what it would do.
        EffectUnknown = "effect-unknown",
    }
);

/// Whether a person can see all of what a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// The digest of the view, which holds all of it. The view is kept as a blob before anybody is asked.
    Whole(Digest),
    /// It cannot be shown whole, for these reasons, sorted.
    Impossible(Vec<Uninspectable>),
}
