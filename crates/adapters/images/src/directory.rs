//! The layout of the store, and how an image comes into it.
//!
//! ```text
//! ROOT/lock                       held while an image is written
//! ROOT/staging/                   images that are being written; whatever lies here without the lock is debris
//! ROOT/sha256-HEX/rootfs/         an image, sealed
//! ROOT/sha256-HEX/image.json      its record, in canonical form
//! ROOT/sha256-HEX/origin.json     where it came from, in canonical form; images of before there were imports have none
//! ROOT/names/NAME                 the digest that the name stands for, and a line feed
//! ROOT/volumes/                   volumes, in the same layout
//! ```

mod prune;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{Digest, ImageName};
use ambit_ports::images::{Image, ImageError};
use rustix::fs::{FlockOperation, flock, syncfs};
use serde::Serialize;

pub use self::prune::{NamedImages, PruneReport, PruneRequest, Pruned};
use crate::capture::{CaptureReport, CaptureRequest};
use crate::error::CaptureError;
use crate::import::{ImportError, ImportReport, ImportRequest};
use crate::manifest::Tree;
use crate::origin::{CapturedOrigin, Origin};
use crate::regular::{failed_at, open_regular};
use crate::{capture, import, limits, stage};

/// The blocking half of [`DirectoryImages`](crate::DirectoryImages).
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    /// The images whose content this process has held against their digests.
    verified: Arc<Mutex<BTreeSet<Digest>>>,
}

impl Directory {
    pub(crate) fn open(root: &Path) -> Result<Self, ImageError> {
        let make =
            |path: &Path| DirBuilder::new().recursive(true).mode(0o755).create(path).map_err(failed_at(path));
        make(root)?;
        // The answer of `root` must not depend on where this process stands later.
        let directory =
            Self { root: root.canonicalize().map_err(failed_at(root))?, verified: Arc::default() };
        make(&directory.staging())?;
        make(&directory.names())?;
        Ok(directory)
    }

    pub(crate) fn capture(&self, request: &CaptureRequest) -> Result<CaptureReport, CaptureError> {
        let planned = capture::plan(request)?;
        let _lock = self.lock()?;
        self.clear_staging()?;
        let tools = planned.tools.iter().map(|tool| tool.name.clone()).collect();
        let origin = Origin::Captured(CapturedOrigin::of(&planned.tools, &planned.left_out));
        let outcome = self.store(&request.name, tools, &origin, |root| {
            stage::write(root, &planned.plan, &planned.index_directories)
        });
        // A failure to tidy up must not hide the outcome; the next capture tidies again.
        let _ = self.clear_staging();
        let (image, reused) = outcome?;
        Ok(CaptureReport { image, reused, tools: planned.tools, left_out: planned.left_out })
    }

    pub(crate) fn import(&self, request: &ImportRequest) -> Result<ImportReport, ImportError> {
        let _lock = self.lock()?;
        self.clear_staging()?;
        let outcome = self.import_staged(request);
        let _ = self.clear_staging();
        outcome
    }

    fn import_staged(&self, request: &ImportRequest) -> Result<ImportReport, ImportError> {
        let imported = import::read(request, &self.staging())?;
        let origin = Origin::Imported(imported.origin.clone());
        let (image, reused) = self.store(&request.name, imported.tools.clone(), &origin, |root| {
            imported.write(root).map_err(ImportError::Store)
        })?;
        Ok(ImportReport { image, reused, origin: imported.origin, left_out: imported.left_out })
    }

    /// Has an image written where nobody looks, reads its digest from there, and moves it into place in one step.
    fn store<E: From<ImageError>>(
        &self,
        name: &ImageName,
        tools: Vec<String>,
        origin: &Origin,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(Image, bool), E> {
        let staged = self.staging().join("image");
        DirBuilder::new().mode(0o755).create(&staged).map_err(failed_at(&staged))?;
        let root = staged.join("rootfs");
        write(&root)?;
        let tree = Tree::read(&root)?;
        let home = self.home(tree.digest);
        if home.symlink_metadata().is_ok() {
            let image = self.verify(tree.digest)?;
            self.bind(name, tree.digest)?;
            return Ok((image, true));
        }
        let image = Image {
            digest: tree.digest,
            name: name.to_string(),
            tools,
            entries: tree.entries,
            size_bytes: tree.size_bytes,
        };
        write_record(&staged.join("image.json"), &image)?;
        write_record(&staged.join("origin.json"), origin)?;
        let open = File::open(&staged).map_err(failed_at(&staged))?;
        // One flush of the file system instead of one for each of some thousand files.
        syncfs(&open).map_err(|error| failed_at(&staged)(error.into()))?;
        fs::rename(&staged, &home).map_err(failed_at(&home))?;
        self.sync(&self.root)?;
        self.bind(name, tree.digest)?;
        Ok((image, false))
    }

    /// Lets `name` stand for `digest` from now on.
    pub(crate) fn bind(&self, name: &ImageName, digest: Digest) -> Result<(), ImageError> {
        let staged = self.staging().join("name");
        write_new(&staged, format!("{digest}\n").as_bytes())?;
        let target = self.names().join(name.as_str());
        fs::rename(&staged, &target).map_err(failed_at(&target))?;
        self.sync(&self.names())
    }

    pub(crate) fn named(&self, name: &ImageName) -> Result<Option<Digest>, ImageError> {
        let path = self.names().join(name.as_str());
        let bytes = match read_small(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed_at(&path)(error)),
        };
        let text = str::from_utf8(&bytes).ok().and_then(|text| text.strip_suffix('\n'));
        match text.map(str::parse) {
            Some(Ok(digest)) => Ok(Some(digest)),
            Some(Err(_)) | None => Err(failed_at(&path)(invalid("not the digest of an image"))),
        }
    }

    pub(crate) fn list(&self) -> Result<Vec<Image>, ImageError> {
        let images: Result<Vec<Image>, ImageError> =
            self.digests()?.into_iter().map(|digest| self.find(digest)).collect();
        let mut images = images?;
        images.sort_by(|a, b| (&a.name, a.digest).cmp(&(&b.name, b.digest)));
        Ok(images)
    }

    /// The digests under which something lies here, whether or not it is whole.
    pub(crate) fn digests(&self) -> Result<BTreeSet<Digest>, ImageError> {
        let mut digests = BTreeSet::new();
        for child in fs::read_dir(&self.root).map_err(failed_at(&self.root))? {
            let name = child.map_err(failed_at(&self.root))?.file_name();
            let digest = name
                .to_str()
                .and_then(|name| name.strip_prefix("sha256-"))
                .map(|hex| format!("sha256:{hex}"));
            digests.extend(digest.and_then(|digest| digest.parse::<Digest>().ok()));
        }
        Ok(digests)
    }

    /// Every name with what it stands for.
    pub(crate) fn all_names(&self) -> Result<BTreeMap<ImageName, Digest>, ImageError> {
        let mut names = BTreeMap::new();
        for child in fs::read_dir(self.names()).map_err(failed_at(&self.names()))? {
            let name = child.map_err(failed_at(&self.names()))?.file_name();
            let Some(Ok(name)) = name.to_str().map(str::parse::<ImageName>) else { continue };
            if let Some(digest) = self.named(&name)? {
                names.insert(name, digest);
            }
        }
        Ok(names)
    }

    /// Where an image came from; `None` where that was not kept.
    pub(crate) fn origin(&self, digest: Digest) -> Result<Option<Origin>, ImageError> {
        self.find(digest)?;
        let path = self.home(digest).join("origin.json");
        let bytes = match read_within(&path, limits::ORIGIN_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed_at(&path)(error)),
        };
        let limit = usize::try_from(limits::ORIGIN_BYTES).unwrap_or(usize::MAX);
        ambit_canonical::decode(&bytes, limit).map(Some).map_err(|error| failed_at(&path)(invalid(error)))
    }

    pub(crate) fn find(&self, digest: Digest) -> Result<Image, ImageError> {
        let path = self.home(digest).join("image.json");
        let bytes = match read_small(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ImageError::NotFound(digest));
            }
            Err(error) => return Err(failed_at(&path)(error)),
        };
        let limit = usize::try_from(limits::RECORD_BYTES).unwrap_or(usize::MAX);
        let image: Image =
            ambit_canonical::decode(&bytes, limit).map_err(|error| failed_at(&path)(invalid(error)))?;
        if image.digest != digest {
            return Err(ImageError::Corrupt { expected: digest, found: image.digest });
        }
        Ok(image)
    }

    /// The tree of an image, whose content is held against the digest when this process first asks for it: what ran is
    /// recorded under that digest.
    pub(crate) fn root(&self, digest: Digest) -> Result<PathBuf, ImageError> {
        if !self.is_verified(digest) {
            self.verify(digest)?;
            self.note_verified(digest);
        }
        self.tree(digest)
    }

    /// Whether this process has held it against its digest.
    pub(crate) fn is_verified(&self, digest: Digest) -> bool {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).contains(&digest)
    }

    pub(crate) fn note_verified(&self, digest: Digest) {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
    }

    fn tree(&self, digest: Digest) -> Result<PathBuf, ImageError> {
        self.find(digest)?;
        let root = self.home(digest).join("rootfs");
        let metadata = root.symlink_metadata().map_err(failed_at(&root))?;
        if metadata.is_dir() { Ok(root) } else { Err(failed_at(&root)(invalid("not a directory"))) }
    }

    pub(crate) fn verify(&self, digest: Digest) -> Result<Image, ImageError> {
        let image = self.find(digest)?;
        let root = self.tree(digest)?;
        let tree = Tree::read(&root)?;
        if tree.digest != digest {
            return Err(ImageError::Corrupt { expected: digest, found: tree.digest });
        }
        if (tree.entries, tree.size_bytes) != (image.entries, image.size_bytes) {
            return Err(failed_at(&self.home(digest).join("image.json"))(invalid(
                "not the record of this image",
            )));
        }
        Ok(image)
    }

    /// The error for work that the runtime dropped while it was shutting down.
    pub(crate) fn interrupted(
        &self,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ImageError {
        failed_at(&self.root)(io::Error::new(io::ErrorKind::Interrupted, error))
    }

    pub(crate) fn lock(&self) -> Result<File, ImageError> {
        let path = self.root.join("lock");
        let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = open.map_err(failed_at(&path))?;
        rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))
            .map_err(|error| failed_at(&path)(error.into()))?;
        Ok(file)
    }

    /// Removes what a capture left that did not come to its end. Only under the lock.
    pub(crate) fn clear_staging(&self) -> Result<(), ImageError> {
        let staging = self.staging();
        for child in fs::read_dir(&staging).map_err(failed_at(&staging))? {
            let child = child.map_err(failed_at(&staging))?;
            let path = child.path();
            if child.file_type().map_err(failed_at(&path))?.is_dir() {
                stage::remove_tree(&path)?;
            } else {
                fs::remove_file(&path).map_err(failed_at(&path))?;
            }
        }
        Ok(())
    }

    /// Makes a rename into the store last.
    pub(crate) fn sync_root(&self) -> Result<(), ImageError> {
        self.sync(&self.root)
    }

    fn sync(&self, directory: &Path) -> Result<(), ImageError> {
        File::open(directory).and_then(|open| open.sync_all()).map_err(failed_at(directory))
    }

    pub(crate) fn home(&self, digest: Digest) -> PathBuf {
        self.root.join(format!("sha256-{}", digest.to_hex()))
    }

    pub(crate) fn staging(&self) -> PathBuf {
        self.root.join("staging")
    }

    fn names(&self) -> PathBuf {
        self.root.join("names")
    }
}

pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), ImageError> {
    let open = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path);
    let written = open.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(failed_at(path))
}

fn write_record<T: Serialize>(path: &Path, record: &T) -> Result<(), ImageError> {
    let bytes = ambit_canonical::encode(record).map_err(|error| failed_at(path)(invalid(error)))?;
    write_new(path, bytes.as_bytes())
}

pub(crate) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    read_within(path, limits::RECORD_BYTES)
}

fn read_within(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
