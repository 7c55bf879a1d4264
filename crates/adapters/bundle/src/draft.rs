use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, Digest};
use ambit_ports::store::{RunRef, StreamId};

use crate::error::BundleError;
use crate::manifest::{Manifest, ManifestKind, Member};
use crate::name::{self, Names, refused};
use crate::noted::NotedStream;
use crate::store::places;
use crate::{MANIFEST, blobs, head_file, limits};

/// A bundle that is being written to a directory.
#[derive(Debug)]
pub struct Draft {
    dir: PathBuf,
    names: Names,
    members: BTreeMap<String, Member>,
    total: u64,
}

impl Draft {
    /// Begins one in a new directory.
    ///
    /// # Errors
    /// [`BundleError::Unreachable`] where it cannot be made.
    pub fn begin(dir: &Path) -> Result<Self, BundleError> {
        fs::create_dir_all(dir)
            .map_err(|source| BundleError::Unreachable { path: dir.to_owned(), source })?;
        Ok(Self { dir: dir.to_owned(), names: Names::default(), members: BTreeMap::new(), total: 0 })
    }

    /// Whether it has a member of this name already.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Writes a member, within the bounds of who reads it.
    ///
    /// # Errors
    /// [`BundleError`]: the name is none or taken, it is too large, or it cannot be written.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
        let member = name::read(name.as_bytes())?;
        self.names.take(&member).map_err(|fault| refused(name.as_bytes(), fault))?;
        let size = ByteCount::new(bytes.len() as u64);
        if size > limits::MEMBER_BYTES {
            return Err(BundleError::TooLarge {
                name: name.to_owned(),
                found: size,
                most: limits::MEMBER_BYTES,
            });
        }
        self.total += size.get();
        if self.total > limits::TOTAL_BYTES.get() {
            return Err(BundleError::TooMuch {
                what: "bytes of all members",
                most: limits::TOTAL_BYTES.get(),
            });
        }
        if self.members.len() + 2 > limits::MEMBERS {
            return Err(BundleError::TooMuch { what: "members", most: limits::MEMBERS as u64 });
        }
        let path = self.dir.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes)).map_err(|error| BundleError::io(name, error))?;
        let digest = Digest::of(bytes);
        self.members.insert(name.to_owned(), Member { name: name.to_owned(), digest, size_bytes: size });
        Ok(())
    }

    /// Writes a blob under its digest.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn blob(&mut self, digest: Digest, bytes: &[u8]) -> Result<(), BundleError> {
        self.put(&blobs::place(digest), bytes)
    }

    /// Writes a stream, the records exactly as they are kept, one a line. One that no bundle of the run holds is left out.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn stream(
        &mut self,
        run: &RunRef,
        stream: &StreamId,
        noted: &NotedStream,
    ) -> Result<(), BundleError> {
        let Some([records, head]) = places(run, stream) else { return Ok(()) };
        let mut lines = Vec::new();
        for record in noted.records.values() {
            lines.extend_from_slice(record);
            lines.push(b'\n');
        }
        self.put(&records, &lines)?;
        let Some(signed) = &noted.head else { return Ok(()) };
        let bytes = head_file::to_bytes(stream, signed)
            .map_err(|why| BundleError::Altered { name: head.clone(), why })?;
        self.put(&head, &bytes)
    }

    /// Writes the list of members, with which the bundle is whole.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn finish(mut self, run: &RunRef) -> Result<(), BundleError> {
        let members = std::mem::take(&mut self.members).into_values().collect();
        let manifest = Manifest {
            kind: ManifestKind::V1,
            organization: run.scope.organization.clone(),
            project: run.scope.project.clone(),
            run: run.run.clone(),
            members,
        };
        let bytes = manifest.to_bytes()?;
        if bytes.len() > limits::MANIFEST_BYTES {
            return Err(BundleError::TooMuch {
                what: "bytes of the list of members",
                most: limits::MANIFEST_BYTES as u64,
            });
        }
        self.put(MANIFEST, &bytes)
    }
}
