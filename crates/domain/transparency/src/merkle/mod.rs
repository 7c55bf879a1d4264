//! The tree of RFC 6962, section 2.1: hashes, the frontier that appends, proofs and their verification.
//!
//! What a proof costs, counted in hashes, for a log of `n` records (`log n` rounded up, at most 64): to append needs one
//! leaf hash and, over time, one node hash a record; an inclusion or a consistency proof carries at most `log n` (`+ 1`)
//! hashes, and verifying it computes at most as many (twice as many for consistency) node hashes. A proof reads one stored
//! hash for each hash that it carries, and for the last one on the right as many as the frontier has peaks.

mod frontier;
mod prove;
mod range;
mod verify;

use ambit_ids::Digest;

pub use ambit_canonical::leaf_hash;
pub use frontier::{Frontier, FrontierError};
pub use prove::{
    Hashes, MissingHash, consistency_nodes, consistency_proof, inclusion_nodes, inclusion_proof, root,
    subtree_consistency_proof,
};
pub use range::Node;
pub use verify::{
    ProofError, verify_consistency, verify_inclusion, verify_subtree_consistency, verify_subtree_inclusion,
};

/// The most hashes that a proof of any tree can carry.
pub const PROOF_HASHES: usize = 65;

/// The hash of an inner node: SHA-256 of a one byte and both children.
#[must_use]
pub fn node_hash(left: Digest, right: Digest) -> Digest {
    Digest::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The root of the tree without records: SHA-256 of nothing.
#[must_use]
pub fn empty_root() -> Digest {
    Digest::of(&[])
}
