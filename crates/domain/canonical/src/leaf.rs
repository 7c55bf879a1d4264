use ambit_ids::Digest;

/// The leaf hash of a record: SHA-256 of a zero byte and the bytes (RFC 6962, section 2.1), so that one hash serves the
/// chain and a Merkle tree.
#[must_use]
pub fn leaf_hash(record: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], record])
}
