//! Cosignatures: a witness says when it saw which checkpoint.

use crate::checkpoint::Checkpoint;
use crate::key::{SignatureKind, VerifierKey};
use crate::note::{NoteSignature, SignError, finish};

/// What every signed message of this kind begins with, and nothing else that a key here signs.
pub(crate) const HEADER: &str = "cosignature/v1\n";

/// The latest time that a cosignature may name.
const SECONDS_MAX: u64 = (1 << 63) - 1;

/// Signs the text of a checkpoint as seen at `at_seconds` since 1970. The whole text is signed, as it was read. `private`
/// makes an Ed25519 signature over the bytes that it is given; what comes back is verified before it is used.
///
/// # Errors
/// [`SignError`].
pub fn cosign<E: std::error::Error + 'static>(
    text: &str,
    at_seconds: u64,
    key: &VerifierKey,
    private: impl FnOnce(&[u8]) -> Result<[u8; 64], E>,
) -> Result<NoteSignature, SignError<E>> {
    if key.kind() != SignatureKind::Cosignature {
        return Err(SignError::Kind);
    }
    if at_seconds == 0 || at_seconds > SECONDS_MAX {
        return Err(SignError::Time);
    }
    if Checkpoint::read(text).is_err() {
        return Err(SignError::Text);
    }
    finish(text, key, message(text, at_seconds).as_bytes(), &at_seconds.to_be_bytes(), private)
}

/// When the cosignature says that it was made; `None` where it is none of `key` over this checkpoint.
pub(crate) fn made_at(text: &str, bytes: &[u8], key: &VerifierKey) -> Option<u64> {
    let (seconds, signature) = bytes.split_first_chunk::<8>()?;
    let seconds = u64::from_be_bytes(*seconds);
    let holds = seconds <= SECONDS_MAX
        && Checkpoint::read(text).is_ok()
        && key.signed(message(text, seconds).as_bytes(), signature);
    holds.then_some(seconds)
}

fn message(text: &str, at_seconds: u64) -> String {
    format!("{HEADER}time {at_seconds}\n{text}")
}
