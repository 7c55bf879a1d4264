use ambit_ids::Digest;

use crate::StreamName;

/// The exact bytes that are signed for the head of a stream. They begin with a context of their own.
#[must_use]
pub fn head_message(stream: &StreamName, seq: u64, leaf: Digest) -> Vec<u8> {
    format!("ambit.head/v1\n{stream}\n{seq}\n{leaf}\n").into_bytes()
}
