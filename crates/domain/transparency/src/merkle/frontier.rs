use ambit_ids::Digest;

use super::{Node, empty_root, node_hash};

/// The right edge of a tree: all that appending and the root need. One hash for each bit that is set in the size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frontier {
    size: u64,
    /// The roots of the complete subtrees, largest first.
    peaks: Vec<Digest>,
}

/// Why bytes are no frontier, or why one takes no further record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrontierError {
    /// The tree has as many records as can be counted.
    #[error("the log is full; nothing was appended. Begin another log under another origin")]
    Full,
    /// The stored bytes are too few or too many for the size that they name.
    #[error("the stored frontier is of another length; nothing of it is used. Build it again from the tiles")]
    Length,
}

impl FrontierError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Full => "LOG_FULL",
            Self::Length => "FRONTIER_LENGTH",
        }
    }
}

impl Frontier {
    /// That of the empty tree.
    #[must_use]
    pub const fn new() -> Self {
        Self { size: 0, peaks: Vec::new() }
    }

    /// How many records the tree has.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf hash, and tells every stored hash that this completes, the leaf first.
    ///
    /// # Errors
    /// [`FrontierError::Full`]; the frontier stays as it was.
    pub fn append(
        &mut self,
        leaf: Digest,
        mut completed: impl FnMut(Node, Digest),
    ) -> Result<(), FrontierError> {
        let size = self.size.checked_add(1).ok_or(FrontierError::Full)?;
        let mut hash = leaf;
        for level in 0..64_u8 {
            if let Some(node) = Node::new(level, self.size >> level) {
                completed(node, hash);
            }
            // A subtree of this height stands to the left exactly where the size has this bit.
            if self.size >> level & 1 == 0 {
                break;
            }
            let Some(left) = self.peaks.pop() else { break };
            hash = node_hash(left, hash);
        }
        self.peaks.push(hash);
        self.size = size;
        Ok(())
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> Digest {
        fold_peaks(self.peaks.iter().copied()).unwrap_or_else(empty_root)
    }

    /// The size in eight bytes, big end first, and the hashes behind it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.size.to_be_bytes().to_vec();
        for peak in &self.peaks {
            bytes.extend_from_slice(peak.as_bytes());
        }
        bytes
    }

    /// The frontier that was written so.
    ///
    /// # Errors
    /// [`FrontierError::Length`] where there is not exactly one hash for each bit of the size.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrontierError> {
        let (size, hashes) = bytes.split_first_chunk::<8>().ok_or(FrontierError::Length)?;
        let size = u64::from_be_bytes(*size);
        let (hashes, rest) = hashes.as_chunks::<32>();
        if !rest.is_empty() || hashes.len() != size.count_ones() as usize {
            return Err(FrontierError::Length);
        }
        Ok(Self { size, peaks: hashes.iter().map(|hash| Digest::from_bytes(*hash)).collect() })
    }
}

impl Default for Frontier {
    fn default() -> Self {
        Self::new()
    }
}

/// The hash over complete subtrees that stand side by side, given left to right; `None` over none.
pub(super) fn fold_peaks(peaks: impl DoubleEndedIterator<Item = Digest>) -> Option<Digest> {
    peaks.rev().reduce(|right, left| node_hash(left, right))
}
