use std::collections::BTreeMap;

use ambit_ids::Digest;

use super::{Kind, Tile};
use crate::merkle::{Hashes, MissingHash, Node, node_hash};

/// The bytes of a tile of hashes.
///
/// # Errors
/// [`MissingHash`] where a hash is not stored. A bundle of entries has no hashes, and a tile that no tree has none
/// either: both have no bytes, which no reader takes.
pub fn tile_content(tile: Tile, hashes: &dyn Hashes) -> Result<Vec<u8>, MissingHash> {
    let mut bytes = Vec::with_capacity(32 * usize::from(tile.width()));
    let nodes = nodes_of(tile).unwrap_or_default();
    for node in nodes {
        bytes.extend_from_slice(hashes.hash(node).ok_or(MissingHash { node })?.as_bytes());
    }
    Ok(bytes)
}

fn nodes_of(tile: Tile) -> Option<Vec<Node>> {
    let Kind::Hashes(level) = tile.kind() else { return None };
    let level = level.checked_mul(8)?;
    let first = tile.index().checked_mul(256)?;
    (0..u64::from(tile.width())).map(|at| Node::new(level, first.checked_add(at)?)).collect()
}

/// Why bytes are not taken as a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TilesError {
    /// Not 32 bytes for each hash of its width, or no tile of hashes at all.
    #[error("the tile has {found} bytes and must have {wanted}; it is not used. Fetch it again")]
    Length {
        /// How many it has.
        found: usize,
        /// How many it must have.
        wanted: usize,
    },
    /// A hash in it differs from one that is known for the same place.
    #[error(
        "the tile contradicts one of the same place; the first is kept. Keep both: the log may show two views"
    )]
    Contradiction,
}

impl TilesError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Length { .. } => "TILE_LENGTH",
            Self::Contradiction => "TILE_CONTRADICTION",
        }
    }
}

/// Tiles that were fetched, as a reader of the hashes that follow from them. They are not trusted: a proof that is made
/// from them is verified against a checkpoint like any other.
#[derive(Clone, Default, Debug)]
pub struct Tiles(BTreeMap<(u8, u64), Vec<Digest>>);

impl Tiles {
    /// No tiles.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Takes a tile; of two for one place the wider is kept.
    ///
    /// # Errors
    /// [`TilesError`]; what was known stays.
    pub fn insert(&mut self, tile: Tile, bytes: &[u8]) -> Result<(), TilesError> {
        let wanted = 32 * usize::from(tile.width());
        let (hashes, rest) = bytes.as_chunks::<32>();
        let Kind::Hashes(level) = tile.kind() else {
            return Err(TilesError::Length { found: bytes.len(), wanted: 0 });
        };
        if !rest.is_empty() || bytes.len() != wanted {
            return Err(TilesError::Length { found: bytes.len(), wanted });
        }
        let hashes: Vec<Digest> = hashes.iter().map(|hash| Digest::from_bytes(*hash)).collect();
        let known = self.0.entry((level, tile.index())).or_default();
        if known.iter().zip(&hashes).any(|(known, new)| known != new) {
            return Err(TilesError::Contradiction);
        }
        if hashes.len() > known.len() {
            *known = hashes;
        }
        Ok(())
    }
}

impl Hashes for Tiles {
    fn hash(&self, node: Node) -> Option<Digest> {
        let tile = Tile::of_node(node);
        let Kind::Hashes(level) = tile.kind() else { return None };
        let end = usize::from(tile.width());
        let start = end.checked_sub(1 << (node.level() % 8))?;
        let mut hashes = self.0.get(&(level, tile.index()))?.get(start..end)?.to_vec();
        while hashes.len() > 1 {
            let (pairs, _) = hashes.as_chunks::<2>();
            hashes = pairs.iter().map(|[left, right]| node_hash(*left, *right)).collect();
        }
        hashes.first().copied()
    }
}
