use ambit_ids::Digest;

use super::frontier::fold_peaks;
use super::range::{Range, Way, way};
use super::{Node, ProofError, empty_root};

/// Reads stored hashes. Whoever waits for files asks [`inclusion_nodes`] or [`consistency_nodes`] first which they are.
pub trait Hashes {
    /// The hash of a complete subtree; `None` where it is not stored.
    fn hash(&self, node: Node) -> Option<Digest>;
}

/// A stored hash that a proof needs is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the hash {} of level {} is not stored; nothing was computed without it. Fetch its tile and ask again",
    node.index(),
    node.level()
)]
pub struct MissingHash {
    /// Whose hash it is.
    pub node: Node,
}

impl MissingHash {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "LOG_HASH_MISSING"
    }
}

/// The root of the tree of `size` records.
///
/// # Errors
/// [`MissingHash`].
pub fn root(size: u64, hashes: &dyn Hashes) -> Result<Digest, MissingHash> {
    range_hash(Range { start: 0, end: size }, hashes)
}

/// The stored hashes from which the inclusion proof is computed, bottom first.
///
/// # Errors
/// [`ProofError::Range`] where the tree has no such record.
pub fn inclusion_nodes(index: u64, size: u64) -> Result<Vec<Node>, ProofError> {
    let way = leaf_way(index, size)?;
    Ok(beside(&way).flat_map(Range::nodes).collect())
}

/// The proof that record `index` is in the tree of `size` records, bottom first.
///
/// # Errors
/// [`ProofError::Range`] where the tree has no such record, [`ProofError::Missing`] where a hash is not stored.
pub fn inclusion_proof(index: u64, size: u64, hashes: &dyn Hashes) -> Result<Vec<Digest>, ProofError> {
    let way = leaf_way(index, size)?;
    collect(beside(&way), hashes)
}

/// The stored hashes from which the consistency proof is computed, bottom first.
///
/// # Errors
/// [`ProofError::Range`] where the first tree is empty or larger than the second.
pub fn consistency_nodes(old: u64, new: u64) -> Result<Vec<Node>, ProofError> {
    let way = way(0, old, new).ok_or(ProofError::Range)?;
    Ok(seed(&way).chain(beside(&way)).flat_map(Range::nodes).collect())
}

/// The proof that the tree of `old` records is the beginning of that of `new` records.
///
/// # Errors
/// [`ProofError::Range`] where the first tree is empty or larger than the second, [`ProofError::Missing`] where a hash is
/// not stored.
pub fn consistency_proof(old: u64, new: u64, hashes: &dyn Hashes) -> Result<Vec<Digest>, ProofError> {
    subtree_consistency_proof(0, old, new, hashes)
}

/// The proof that the records `start..end`, hashed as a tree of their own, are those of the tree of `size` records.
///
/// # Errors
/// [`ProofError::Range`] where they are no subtree of it, [`ProofError::Missing`] where a hash is not stored.
pub fn subtree_consistency_proof(
    start: u64,
    end: u64,
    size: u64,
    hashes: &dyn Hashes,
) -> Result<Vec<Digest>, ProofError> {
    let way = way(start, end, size).ok_or(ProofError::Range)?;
    collect(seed(&way).chain(beside(&way)), hashes)
}

fn leaf_way(index: u64, size: u64) -> Result<Way, ProofError> {
    index.checked_add(1).and_then(|end| way(index, end, size)).ok_or(ProofError::Range)
}

fn beside(way: &Way) -> impl Iterator<Item = Range> {
    way.beside.iter().rev().map(|beside| beside.range())
}

/// Where the way ends inside the older tree, the verifier does not know the hash there.
fn seed(way: &Way) -> impl Iterator<Item = Range> {
    (!way.whole).then_some(way.end).into_iter()
}

fn collect(ranges: impl Iterator<Item = Range>, hashes: &dyn Hashes) -> Result<Vec<Digest>, ProofError> {
    ranges.map(|range| range_hash(range, hashes).map_err(ProofError::Missing)).collect()
}

fn range_hash(range: Range, hashes: &dyn Hashes) -> Result<Digest, MissingHash> {
    let peaks = range
        .nodes()
        .map(|node| hashes.hash(node).ok_or(MissingHash { node }))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(fold_peaks(peaks.into_iter()).unwrap_or_else(empty_root))
}
