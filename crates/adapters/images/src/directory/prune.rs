//! The removal of images that nobody refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use ambit_ids::{ByteCount, Digest, ImageName};
use ambit_ports::images::ImageError;

use super::{Directory, failed_at, stage};

/// Which images to remove.
#[derive(Clone, Debug, Default)]
pub struct PruneRequest {
    /// Images that something outside of the store refers to: they stay.
    pub kept: BTreeSet<Digest>,
    /// Whether images that have a name go too.
    pub named: NamedImages,
    /// Remove at most these; `None` for all that nothing protects.
    pub only: Option<BTreeSet<Digest>>,
    /// Whether to answer what would be removed, and remove nothing.
    pub is_rehearsal: bool,
}

/// What becomes of images that have a name and that nothing refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamedImages {
    /// They stay.
    #[default]
    Stay,
    /// They go, and their names with them.
    Go,
}

/// What was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// The images, by digest.
    pub removed: Vec<Pruned>,
    /// What was left of work that did not come to its end: files and directories of no image.
    pub debris: u64,
}

/// An image that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Its digest.
    pub digest: Digest,
    /// The names that stood for it.
    pub names: Vec<ImageName>,
    /// The sum of its file sizes, as its record has it; `None` where there is no record to read.
    pub size_bytes: Option<ByteCount>,
}

impl Directory {
    /// Removes images. Each is taken out of sight in one step, before anything of it is removed.
    pub(crate) fn prune(&self, request: &PruneRequest) -> Result<PruneReport, ImageError> {
        let _lock = self.lock()?;
        let staging = self.staging();
        let debris = fs::read_dir(&staging).map_err(failed_at(&staging))?.count() as u64;
        let mut names: BTreeMap<Digest, Vec<ImageName>> = BTreeMap::new();
        for (name, digest) in self.all_names()? {
            names.entry(digest).or_default().push(name);
        }
        let mut removed = Vec::new();
        for digest in self.digests()? {
            let names = names.remove(&digest).unwrap_or_default();
            let is_wanted = request.kept.contains(&digest)
                || (request.named == NamedImages::Stay && !names.is_empty())
                || request.only.as_ref().is_some_and(|only| !only.contains(&digest));
            if !is_wanted {
                let size_bytes = self.find(digest).ok().map(|image| image.size_bytes);
                removed.push(Pruned { digest, names, size_bytes });
            }
        }
        if !request.is_rehearsal {
            self.clear_staging()?;
            for image in &removed {
                self.remove(image)?;
            }
        }
        Ok(PruneReport { removed, debris })
    }

    /// Takes the names away, then the image out of sight, and removes it where nobody looks. What an interruption leaves
    /// there is cleared like anything else that did not come to its end.
    fn remove(&self, image: &Pruned) -> Result<(), ImageError> {
        for name in &image.names {
            let path = self.names().join(name.as_str());
            fs::remove_file(&path).map_err(failed_at(&path))?;
        }
        self.sync(&self.names())?;
        let (home, out) = (self.home(image.digest), self.staging().join("pruned"));
        fs::rename(&home, &out).map_err(failed_at(&home))?;
        self.sync(&self.root)?;
        if out.is_symlink() || !out.is_dir() {
            return fs::remove_file(&out).map_err(failed_at(&out));
        }
        stage::remove_tree(&out)
    }
}
