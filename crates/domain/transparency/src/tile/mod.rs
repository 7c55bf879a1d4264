//! The files of a log: C2SP tile coordinates, which of them a growing tree changes, and what stands in them.

mod bundle;
mod content;
mod growth;
mod path;

pub use bundle::{BundleError, ENTRY_BYTES, encode_bundle, parse_bundle};
pub use content::{Tiles, TilesError, tile_content};
pub use growth::Growth;
pub use path::PathError;

use crate::merkle::Node;

/// The most hashes of a tile, and the most entries of a bundle.
pub const TILE_WIDTH: u16 = 256;

/// The highest level that a path can name.
pub const TILE_LEVEL_MAX: u8 = 63;

/// What a file of a log holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The records themselves: an entry bundle.
    Entries,
    /// The hashes of this level; at level 0 those of the records, above it those of full tiles one level below.
    Hashes(u8),
}

/// The coordinates of a file: what it holds, its position among those, and how far it is filled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tile {
    kind: Kind,
    index: u64,
    width: u16,
}

impl Tile {
    /// The coordinates; `None` where the level is above [`TILE_LEVEL_MAX`] or the width is not 1 to [`TILE_WIDTH`].
    #[must_use]
    pub const fn new(kind: Kind, index: u64, width: u16) -> Option<Self> {
        let level = match kind {
            Kind::Entries => 0,
            Kind::Hashes(level) => level,
        };
        if level > TILE_LEVEL_MAX || width == 0 || width > TILE_WIDTH {
            return None;
        }
        Some(Self { kind, index, width })
    }

    /// The widest tile of a tree of `size` records at this position; `None` where the tree has none there.
    #[must_use]
    pub fn in_tree(kind: Kind, index: u64, size: u64) -> Option<Self> {
        let level = match kind {
            Kind::Entries => 0,
            Kind::Hashes(level) => level,
        };
        let hashes = hashes_of_level(level, size).checked_sub(index.checked_mul(u64::from(TILE_WIDTH))?)?;
        Self::new(kind, index, u16::try_from(hashes).unwrap_or(TILE_WIDTH).min(TILE_WIDTH))
    }

    /// The narrowest tile from which the hash of `node` follows.
    #[must_use]
    pub fn of_node(node: Node) -> Self {
        let (level, within) = (node.level() / 8, node.level() % 8);
        // The first of the hashes of the tile's own level below the node; a node has no records beyond the largest `u64`.
        let first = node.index() << within;
        let width = (first & 255) + (1 << within);
        let width = u16::try_from(width).unwrap_or(TILE_WIDTH);
        Self { kind: Kind::Hashes(level), index: first >> 8, width }
    }

    /// What it holds.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Its position among those of its kind.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }

    /// How many hashes or entries it has.
    #[must_use]
    pub const fn width(self) -> u16 {
        self.width
    }

    /// Whether it can never change.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.width == TILE_WIDTH
    }
}

/// How many hashes of a level of tiles a tree has.
const fn hashes_of_level(level: u8, size: u64) -> u64 {
    if level < 8 { size >> (8 * level) } else { 0 }
}
