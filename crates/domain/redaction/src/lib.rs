//! Which text is a secret, and what stands in its place. It is taken out before anything is hashed, kept or told.
//!
//! Two things are looked for: texts that have the form of a secret by [rules](Rule) that never change, and the very keys that
//! this program holds, in every form in which a program may write them. Chance alone is no sign: digests, ids and
//! compressed data look like it. What is found is replaced by a short [mark](Rule::mark), and counted.
//!
//! The answer is the same however the bytes are cut, and redacting twice changes nothing more. Both rest on one property of
//! every form: no byte of it is [`MARK_OPENS`], so a text that holds a mark is no secret that it was not before.

#![forbid(unsafe_code)]

mod class;
mod known;
mod pem;
mod redactions;
mod redactor;
mod rule;
mod scan;
mod stream;

pub use known::LEAST_KEY_BYTES;
pub use redactions::{MoreFound, Redactions};
pub use redactor::{Redacted, Redactor};
pub use rule::{MARK, MARK_OPENS, Rule, rules_digest};
pub use stream::Stream;
