use ambit_ids::Digest;

use super::range::{Beside, way};
use super::{MissingHash, empty_root, node_hash};

/// Why a proof was not made, or not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProofError {
    /// The sizes or positions cannot belong together.
    #[error("no tree of this size has that part; nothing was proved. Ask for a size that holds it")]
    Range,
    /// A proof of another length than these numbers ask for.
    #[error(
        "the proof has {found} hashes and must have {wanted}; it proves nothing. Fetch it for exactly these sizes"
    )]
    Length {
        /// How many it has.
        found: usize,
        /// How many it must have.
        wanted: usize,
    },
    /// The hashes lead elsewhere.
    #[error(
        "the proof leads to another root; it proves nothing. Keep both checkpoints: the log may have been rewritten"
    )]
    Root,
    /// A stored hash is not there.
    #[error("a stored hash is missing")]
    Missing(#[source] MissingHash),
}

impl ProofError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Range => "LOG_PROOF_RANGE",
            Self::Length { .. } => "LOG_PROOF_LENGTH",
            Self::Root => "LOG_PROOF_ROOT",
            Self::Missing(missing) => missing.code(),
        }
    }
}

/// Whether the record with this leaf hash is number `index` of the tree with this size and root.
///
/// # Errors
/// [`ProofError`]: the numbers, the length or the hashes do not hold.
pub fn verify_inclusion(
    leaf: Digest,
    index: u64,
    size: u64,
    proof: &[Digest],
    root: Digest,
) -> Result<(), ProofError> {
    let end = index.checked_add(1).ok_or(ProofError::Range)?;
    // A leaf is the subtree of one record, and its own root.
    let (subtree, tree) = climb(index, end, size, proof, leaf)?;
    agree(subtree == leaf && tree == root)
}

/// Whether the tree of the first size and root is the beginning of that of the second. A tree without records begins
/// every tree, so a proof from it would say nothing and is refused.
///
/// # Errors
/// [`ProofError`]: the numbers, the length or the hashes do not hold.
pub fn verify_consistency(
    old: (u64, Digest),
    new: (u64, Digest),
    proof: &[Digest],
) -> Result<(), ProofError> {
    let (subtree, tree) = climb(0, old.0, new.0, proof, old.1)?;
    agree(subtree == old.1 && tree == new.1)
}

/// Whether the record is number `index` of the tree, inside the subtree of the records `start..end` with this root.
///
/// # Errors
/// [`ProofError`]: the numbers, the length or the hashes do not hold.
pub fn verify_subtree_inclusion(
    leaf: Digest,
    index: u64,
    (start, end): (u64, u64),
    proof: &[Digest],
    root: Digest,
) -> Result<(), ProofError> {
    way(start, end, end).ok_or(ProofError::Range)?;
    let within = index.checked_sub(start).ok_or(ProofError::Range)?;
    verify_inclusion(leaf, within, end - start, proof, root)
}

/// Whether the subtree of the records `start..end` has this root in the tree of that size and root. An empty subtree is
/// in every tree that reaches so far.
///
/// # Errors
/// [`ProofError`]: the numbers, the length or the hashes do not hold.
pub fn verify_subtree_consistency(
    (start, end): (u64, u64),
    subtree: Digest,
    tree: (u64, Digest),
    proof: &[Digest],
) -> Result<(), ProofError> {
    if start == end && end <= tree.0 {
        exactly(0, proof)?;
        return agree(subtree == empty_root());
    }
    let (found, root) = climb(start, end, tree.0, proof, subtree)?;
    agree(found == subtree && root == tree.1)
}

/// The roots of the subtree and of the tree that a proof leads to. The length is settled before anything is hashed, and
/// the numbers alone settle it: at most 65.
fn climb(
    start: u64,
    end: u64,
    size: u64,
    proof: &[Digest],
    known: Digest,
) -> Result<(Digest, Digest), ProofError> {
    let way = way(start, end, size).ok_or(ProofError::Range)?;
    exactly(way.beside.len() + usize::from(!way.whole), proof)?;
    let (seed, proof) = match proof.split_first() {
        Some((seed, rest)) if !way.whole => (*seed, rest),
        _ => (known, proof),
    };
    let (mut subtree, mut tree) = (seed, seed);
    for (beside, hash) in way.beside.iter().rev().zip(proof) {
        match beside {
            Beside::After(_) => tree = node_hash(tree, *hash),
            Beside::Before(_) => tree = node_hash(*hash, tree),
            Beside::Within(_) => {
                subtree = node_hash(*hash, subtree);
                tree = node_hash(*hash, tree);
            }
        }
    }
    Ok((subtree, tree))
}

fn exactly(wanted: usize, proof: &[Digest]) -> Result<(), ProofError> {
    let found = proof.len();
    if found == wanted { Ok(()) } else { Err(ProofError::Length { found, wanted }) }
}

fn agree(holds: bool) -> Result<(), ProofError> {
    if holds { Ok(()) } else { Err(ProofError::Root) }
}
