use std::collections::BTreeMap;
use std::fmt;

use ambit_ids::Digest;

/// Contents of files under their digests. Bytes are filed under the digest that they have and under no other, so what
/// is read here is always what was asked for.
#[derive(Clone, Default)]
pub struct Contents(BTreeMap<Digest, Vec<u8>>);

impl Contents {
    /// No contents.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds `bytes` and answers their digest.
    pub fn insert(&mut self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        self.0.insert(digest, bytes);
        digest
    }

    /// The bytes with this digest, if they were added.
    #[must_use]
    pub fn get(&self, digest: &Digest) -> Option<&[u8]> {
        self.0.get(digest).map(Vec::as_slice)
    }

    /// All contents, sorted by digest.
    pub fn iter(&self) -> impl Iterator<Item = (&Digest, &[u8])> {
        self.0.iter().map(|(digest, bytes)| (digest, bytes.as_slice()))
    }

    /// How many contents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<Vec<u8>> for Contents {
    fn extend<I: IntoIterator<Item = Vec<u8>>>(&mut self, contents: I) {
        for bytes in contents {
            self.insert(bytes);
        }
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
