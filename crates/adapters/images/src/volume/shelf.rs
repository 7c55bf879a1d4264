//! Where volumes lie beside images, in the same layout but for two names.
//!
//! ```text
//! ROOT/volumes/lock, staging/, names/     as for images
//! ROOT/volumes/sha256-HEX/tree/           a volume, sealed
//! ROOT/volumes/sha256-HEX/volume.json     its record, in canonical form
//! ```
//!
//! The digest of a volume is computed like that of an image, from a manifest that begins with `ambit volume 1`. So no
//! digest is of both, and neither is found where the other is looked for.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName, VolumeName};
use ambit_ports::images::ImageError;
use ambit_ports::volumes::{Volume, VolumeError};
use rustix::fs::syncfs;

use super::error::of_store;
use super::new_tree::NewTree;
use super::{VolumeCaptureError, VolumeReport, VolumeRequest, source};
use crate::directory::{Directory, invalid, read_small, write_new};
use crate::limits;
use crate::manifest::Tree;
use crate::regular::failed_at;

/// The blocking half of the volumes of [`DirectoryImages`](crate::DirectoryImages).
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    /// The directory of images.
    store: PathBuf,
    place: Directory,
}

impl Shelf {
    /// Opens the volumes beside the images in `store`.
    pub(crate) fn open(store: &Path) -> Result<Self, ImageError> {
        let place = Directory::open(&store.join("volumes"))?;
        Ok(Self { store: store.canonicalize().map_err(failed_at(store))?, place })
    }

    pub(crate) fn capture(&self, request: &VolumeRequest) -> Result<VolumeReport, VolumeCaptureError> {
        let _lock = self.place.lock()?;
        self.place.clear_staging()?;
        let outcome = self.write(request);
        // A failure to tidy up must not hide the outcome; the next capture tidies again.
        let _ = self.place.clear_staging();
        outcome
    }

    /// Writes a volume where nobody looks, reads its digest from there, and moves it into place in one step.
    fn write(&self, request: &VolumeRequest) -> Result<VolumeReport, VolumeCaptureError> {
        let staged = self.place.staging().join("volume");
        DirBuilder::new().mode(0o755).create(&staged).map_err(failed_at(&staged))?;
        let root = staged.join("tree");
        let mut tree = NewTree::begin(&root)?;
        let left_out = source::write(&request.source, &self.store, &mut tree)?;
        tree.seal()?;
        let tree = Tree::read_volume(&root)?;
        let home = self.place.home(tree.digest);
        if home.symlink_metadata().is_ok() {
            let volume = self.verify(tree.digest)?;
            self.place.bind(&name_of(&request.name)?, tree.digest)?;
            return Ok(VolumeReport { volume, reused: true, left_out });
        }
        let volume = Volume {
            digest: tree.digest,
            name: request.name.clone(),
            kind: request.source.kind(),
            entries: tree.entries,
            size_bytes: tree.size_bytes,
        };
        let record = staged.join("volume.json");
        let bytes = ambit_canonical::encode(&volume).map_err(|error| failed_at(&record)(invalid(error)))?;
        write_new(&record, bytes.as_bytes())?;
        let open = File::open(&staged).map_err(failed_at(&staged))?;
        // One flush of the file system instead of one for each of some thousand files.
        syncfs(&open).map_err(|error| failed_at(&staged)(error.into()))?;
        fs::rename(&staged, &home).map_err(failed_at(&home))?;
        self.place.sync_root()?;
        self.place.bind(&name_of(&request.name)?, tree.digest)?;
        Ok(VolumeReport { volume, reused: false, left_out })
    }

    pub(crate) fn named(&self, name: &VolumeName) -> Result<Option<Digest>, VolumeError> {
        name_of(name).and_then(|name| self.place.named(&name)).map_err(of_store)
    }

    pub(crate) fn list(&self) -> Result<Vec<Volume>, VolumeError> {
        let mut volumes = Vec::new();
        for digest in self.place.digests().map_err(of_store)? {
            volumes.push(self.find(digest)?);
        }
        volumes.sort_by(|a, b| (&a.name, a.digest).cmp(&(&b.name, b.digest)));
        Ok(volumes)
    }

    pub(crate) fn find(&self, digest: Digest) -> Result<Volume, VolumeError> {
        let path = self.place.home(digest).join("volume.json");
        let bytes = match read_small(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(VolumeError::NotFound(digest));
            }
            Err(error) => return Err(of_store(failed_at(&path)(error))),
        };
        let limit = usize::try_from(limits::RECORD_BYTES).unwrap_or(usize::MAX);
        let volume: Volume = ambit_canonical::decode(&bytes, limit)
            .map_err(|error| of_store(failed_at(&path)(invalid(error))))?;
        if volume.digest != digest {
            return Err(VolumeError::Corrupt { expected: digest, found: volume.digest });
        }
        Ok(volume)
    }

    /// The tree of a volume, whose content is held against the digest when this process first asks for it.
    pub(crate) fn root(&self, digest: Digest) -> Result<PathBuf, VolumeError> {
        if !self.place.is_verified(digest) {
            self.verify(digest)?;
            self.place.note_verified(digest);
        }
        self.tree(digest)
    }

    fn tree(&self, digest: Digest) -> Result<PathBuf, VolumeError> {
        self.find(digest)?;
        let root = self.place.home(digest).join("tree");
        let failed = |error| of_store(failed_at(&root)(error));
        let metadata = root.symlink_metadata().map_err(failed)?;
        if metadata.is_dir() { Ok(root) } else { Err(failed(invalid("not a directory"))) }
    }

    pub(crate) fn verify(&self, digest: Digest) -> Result<Volume, VolumeError> {
        let volume = self.find(digest)?;
        let tree = Tree::read_volume(&self.tree(digest)?).map_err(of_store)?;
        if tree.digest != digest {
            return Err(VolumeError::Corrupt { expected: digest, found: tree.digest });
        }
        if (tree.entries, tree.size_bytes) != (volume.entries, volume.size_bytes) {
            let record = self.place.home(digest).join("volume.json");
            return Err(of_store(failed_at(&record)(invalid("not the record of this volume"))));
        }
        Ok(volume)
    }

    /// The error for work that the runtime dropped while it was shutting down.
    pub(crate) fn interrupted(
        &self,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> VolumeError {
        of_store(self.place.interrupted(error))
    }
}

/// Every name of a volume could be one of an image; which of the two it is, its directory says.
fn name_of(name: &VolumeName) -> Result<ImageName, ImageError> {
    name.as_str().parse().map_err(|error| failed_at(Path::new(name.as_str()))(invalid(error)))
}
