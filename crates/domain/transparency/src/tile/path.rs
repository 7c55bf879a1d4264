use std::fmt;
use std::str::FromStr;

use super::{Kind, TILE_WIDTH, Tile};
use crate::spelling::decimal;

/// Seven elements of three digits hold every `u64`.
const INDEX_ELEMENTS: usize = 7;

/// Why a text is not the path of a file of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "this is no path of a tile; nothing was read. Ask for `tile/LEVEL/INDEX` or `tile/entries/INDEX`, with `.p/WIDTH` behind a partial one"
)]
pub struct PathError;

impl PathError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "TILE_PATH"
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Entries => f.write_str("tile/entries/")?,
            Kind::Hashes(level) => write!(f, "tile/{level}/")?,
        }
        let mut elements = Vec::with_capacity(INDEX_ELEMENTS);
        let mut rest = self.index;
        elements.push(rest % 1000);
        while rest >= 1000 {
            rest /= 1000;
            elements.push(rest % 1000);
        }
        for element in elements.iter().skip(1).rev() {
            write!(f, "x{element:03}/")?;
        }
        write!(f, "{:03}", elements.first().copied().unwrap_or_default())?;
        if self.is_full() { Ok(()) } else { write!(f, ".p/{}", self.width) }
    }
}

impl FromStr for Tile {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        read(text).ok_or(PathError)
    }
}

fn read(text: &str) -> Option<Tile> {
    let (kind, rest) = text.strip_prefix("tile/")?.split_once('/')?;
    let kind =
        if kind == "entries" { Kind::Entries } else { Kind::Hashes(u8::try_from(decimal(kind)?).ok()?) };
    let (index, width) = match rest.split_once(".p/") {
        Some((index, width)) => {
            (index, u16::try_from(decimal(width)?).ok().filter(|width| *width < TILE_WIDTH)?)
        }
        None => (rest, TILE_WIDTH),
    };
    Tile::new(kind, read_index(index)?, width)
}

fn read_index(text: &str) -> Option<u64> {
    let mut elements = text.split('/').rev();
    let last = three_digits(elements.next()?)?;
    let before: Vec<&str> = elements.take(INDEX_ELEMENTS).collect();
    // The first element of several is what the index is longer than three digits for.
    if before.len() == INDEX_ELEMENTS || before.last() == Some(&"x000") {
        return None;
    }
    let high = before.iter().rev().try_fold(0_u64, |index, element| {
        index.checked_mul(1000)?.checked_add(three_digits(element.strip_prefix('x')?)?)
    })?;
    high.checked_mul(1000)?.checked_add(last)
}

fn three_digits(text: &str) -> Option<u64> {
    let plain = text.len() == 3 && text.bytes().all(|digit| digit.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
