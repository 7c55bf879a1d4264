use super::TILE_WIDTH;

/// The largest entry: its length stands in two bytes.
pub const ENTRY_BYTES: usize = 65_535;

/// Why entries are not written, or bytes not read, as a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BundleError {
    /// An entry is too large.
    #[error(
        "entry {at} has {found} bytes and may have {ENTRY_BYTES}; nothing was written. Log its digest instead"
    )]
    EntryTooLarge {
        /// Its position in the bundle.
        at: usize,
        /// Its size in bytes.
        found: usize,
    },
    /// Not as many entries as the bundle must have.
    #[error("the bundle has {found} entries and must have {wanted}; it is not used. Fetch it again")]
    Count {
        /// How many it has, counted to one more than it may have.
        found: usize,
        /// How many it must have.
        wanted: usize,
    },
    /// It ends inside an entry.
    #[error("the bundle ends inside entry {at}; it is not used. Fetch it again")]
    Truncated {
        /// The position of the entry.
        at: usize,
    },
}

impl BundleError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::EntryTooLarge { .. } => "BUNDLE_ENTRY_TOO_LARGE",
            Self::Count { .. } => "BUNDLE_COUNT",
            Self::Truncated { .. } => "BUNDLE_TRUNCATED",
        }
    }
}

/// The bytes of a bundle: each entry behind its length in two bytes, big end first.
///
/// # Errors
/// [`BundleError`] where there is no entry, where there are more than [`TILE_WIDTH`], or where one is too large.
pub fn encode_bundle(entries: &[&[u8]]) -> Result<Vec<u8>, BundleError> {
    let limit = usize::from(TILE_WIDTH);
    if entries.is_empty() || entries.len() > limit {
        return Err(BundleError::Count { found: entries.len(), wanted: limit });
    }
    let mut bytes = Vec::with_capacity(entries.iter().map(|entry| entry.len() + 2).sum());
    for (at, entry) in entries.iter().enumerate() {
        let found = entry.len();
        let length = u16::try_from(found).map_err(|_| BundleError::EntryTooLarge { at, found })?;
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(entry);
    }
    Ok(bytes)
}

/// The entries of a bundle that must have exactly `width` of them, and nothing behind.
///
/// # Errors
/// [`BundleError`].
pub fn parse_bundle(bytes: &[u8], width: u16) -> Result<Vec<&[u8]>, BundleError> {
    let wanted = usize::from(width);
    let mut entries = Vec::with_capacity(wanted.min(usize::from(TILE_WIDTH)));
    let mut rest = bytes;
    while !rest.is_empty() {
        let at = entries.len();
        if at == wanted {
            return Err(BundleError::Count { found: at + 1, wanted });
        }
        let (length, behind) = rest.split_first_chunk::<2>().ok_or(BundleError::Truncated { at })?;
        let (entry, behind) = behind
            .split_at_checked(usize::from(u16::from_be_bytes(*length)))
            .ok_or(BundleError::Truncated { at })?;
        entries.push(entry);
        rest = behind;
    }
    let found = entries.len();
    if found == wanted && found > 0 { Ok(entries) } else { Err(BundleError::Count { found, wanted }) }
}
