use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_ports::blobs::BlobError;
use bytes::Bytes;

use crate::ExportError;
use crate::object::{ObjectKind, ObjectName};

/// Where the contents of trees come from, and what is known of their names in git.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The bytes with a digest.
    pub content: &'a dyn Fn(&Digest) -> Result<Bytes, BlobError>,
    /// The name in git of what has a digest here: the content of a file or the target of a link
    /// ([`ObjectKind::Blob`]), or a whole directory ([`ObjectKind::Tree`]). It is believed: whoever hands in a wrong one
    /// gets a bundle that git refuses.
    pub known: &'a dyn Fn(ObjectKind, &Digest) -> Option<ObjectName>,
}

impl<'a> Source<'a> {
    /// Contents of which no name is known.
    #[must_use]
    pub fn of(content: &'a dyn Fn(&Digest) -> Result<Bytes, BlobError>) -> Self {
        Self { content, known: &|_, _| None }
    }

    pub(crate) fn read(
        &self,
        path: &RepoPath,
        digest: &Digest,
        size: ByteCount,
    ) -> Result<Bytes, ExportError> {
        let bytes = (self.content)(digest)
            .map_err(|source| ExportError::Content { path: path.clone(), source: Box::new(source) })?;
        let found = ByteCount::new(bytes.len() as u64);
        if found != size {
            return Err(ExportError::ContentSize { path: path.clone(), stated: size, found });
        }
        Ok(bytes)
    }
}
