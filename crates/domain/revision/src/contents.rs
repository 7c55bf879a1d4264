use std::collections::BTreeMap;
use std::fmt;

use ambit_ids::{Content, Digest};

/// Contents of files under their digests. Bytes are filed under the digest that they have and under no other, so what
/// is read here is always what was asked for. A clone shares the bytes.
#[derive(Clone, Default)]
pub struct Contents(BTreeMap<Digest, Content>);

impl Contents {
    /// No contents.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds `bytes` and answers their digest.
    pub fn insert(&mut self, bytes: Vec<u8>) -> Digest {
        let content = Content::of(bytes);
        let digest = content.digest();
        self.extend([content]);
        digest
    }

    /// Adds all of `other`.
    pub fn include(&mut self, other: &Self) {
        self.extend(other.each().cloned());
    }

    /// The bytes with this digest, if they were added.
    #[must_use]
    pub fn get(&self, digest: &Digest) -> Option<&[u8]> {
        self.0.get(digest).map(Content::bytes)
    }

    /// All contents, sorted by digest.
    pub fn iter(&self) -> impl Iterator<Item = (&Digest, &[u8])> {
        self.0.iter().map(|(digest, content)| (digest, content.bytes()))
    }

    /// The same with what was hashed to know their digests, to be kept beyond this value.
    pub fn each(&self) -> impl Iterator<Item = &Content> {
        self.0.values()
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

impl Extend<Content> for Contents {
    fn extend<I: IntoIterator<Item = Content>>(&mut self, contents: I) {
        self.0.extend(contents.into_iter().map(|content| (content.digest(), content)));
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
