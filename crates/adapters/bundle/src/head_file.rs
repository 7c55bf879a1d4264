//! The signed head of a stream as a file: what a store keeps of it, and nothing that would have to be believed.

use ambit_canonical::{decode, encode};
use ambit_ids::Digest;
use ambit_ports::signer::Signature;
use ambit_ports::store::{Seq, SignedHead, StreamId};
use serde::{Deserialize, Serialize};

use crate::limits;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HeadFile {
    /// The stream, as `organization/project/run`.
    stream: String,
    seq: u64,
    leaf: Digest,
    /// The digest of the 32 bytes of the key, which is looked for among those that are trusted.
    key: Digest,
    /// The 64 bytes of the signature in hexadecimal digits.
    signature: String,
}

/// The head as a file holds it.
pub(crate) fn to_bytes(stream: &StreamId, head: &SignedHead) -> Result<Vec<u8>, String> {
    let file = HeadFile {
        stream: stream.to_string(),
        seq: head.seq.0,
        leaf: head.leaf,
        key: head.signature.key,
        signature: head.signature.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    encode(&file).map(ambit_canonical::CanonicalBytes::into_bytes).map_err(|error| error.to_string())
}

/// Reads the head of exactly this stream.
pub(crate) fn read(stream: &StreamId, bytes: &[u8]) -> Result<SignedHead, String> {
    let file: HeadFile = decode(bytes, limits::HEAD_BYTES).map_err(|error| error.to_string())?;
    if file.stream != stream.to_string() {
        return Err(format!("it is the head of {}", file.stream));
    }
    let bytes = signature(&file.signature).ok_or("its signature is not 128 hexadecimal digits")?;
    Ok(SignedHead { seq: Seq(file.seq), leaf: file.leaf, signature: Signature { key: file.key, bytes } })
}

fn signature(text: &str) -> Option<[u8; 64]> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 128 || !text.bytes().all(is_hex) {
        return None;
    }
    let mut bytes = [0; 64];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
