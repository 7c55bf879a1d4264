use super::{Kind, TILE_WIDTH, Tile, hashes_of_level};

/// A tree that grew from one size to another. The files that this writes are counted out one by one, since a first
/// publication may have very many of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    old: u64,
    new: u64,
}

impl Growth {
    /// The growth; `None` where the tree would shrink, which no log does.
    #[must_use]
    pub const fn new(old: u64, new: u64) -> Option<Self> {
        if old <= new { Some(Self { old, new }) } else { None }
    }

    /// The tiles of hashes that are new or wider than before, lowest level first.
    pub fn tiles(self) -> impl Iterator<Item = Tile> {
        // Eight levels of 256 hold every `u64`.
        (0..8_u8).flat_map(move |level| self.of(Kind::Hashes(level), level))
    }

    /// The entry bundles that are new or longer than before.
    pub fn bundles(self) -> impl Iterator<Item = Tile> {
        self.of(Kind::Entries, 0)
    }

    fn of(self, kind: Kind, level: u8) -> impl Iterator<Item = Tile> {
        let width = u64::from(TILE_WIDTH);
        let (old, new) = (hashes_of_level(level, self.old), hashes_of_level(level, self.new));
        let indices = if old == new { 0..0 } else { old / width..new.div_ceil(width) };
        indices.filter_map(move |index| Tile::in_tree(kind, index, self.new))
    }
}
