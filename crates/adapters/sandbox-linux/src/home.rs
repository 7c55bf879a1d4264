//! What a lease has on disk: the record by which any process can end it, and the staged files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ambit_control_groups::Group;
use ambit_ids::{Digest, Incarnation, LeaseId};
use ambit_ownership::{MakerLink, ProcessIdentity, leases};
use ambit_ports::sandbox::Maker;
use ambit_staging::{Owner, make_directory};
use serde::{Deserialize, Serialize};

/// The largest record that is read.
const RECORD_BYTES: usize = 64 << 10;

/// Everything that is needed to end one life of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Record {
    /// Which life.
    pub(crate) incarnation: Incarnation,
    /// The guest.
    pub(crate) process: ProcessIdentity,
    /// Its control groups.
    pub(crate) group: Group,
}

/// A directory for a lease that there is not yet. It goes with this value.
#[derive(Debug)]
pub(crate) struct Share(PathBuf);

impl Share {
    /// Makes it below `place`.
    pub(crate) fn make(place: &Path, name: &str, owner: Owner) -> io::Result<Self> {
        let share = Self(place.join(name));
        for directory in [share.0.clone(), share.0.join("trees"), share.0.join("fixtures")] {
            make_directory(&directory, owner)?;
        }
        Ok(share)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes ahead what its lease will have: the record of whose it is then, and the name of its maker.
    pub(crate) fn sign(&self, record: &Record) -> io::Result<()> {
        let bytes = ambit_canonical::encode(record).map_err(io::Error::other)?;
        fs::write(self.0.join("record"), bytes.as_bytes())?;
        MakerLink::prepare(&self.maker())
    }

    fn maker(&self) -> PathBuf {
        self.0.join("maker")
    }

    /// Where a tree lies.
    pub(crate) fn tree(&self, tree: Digest) -> PathBuf {
        self.0.join("trees").join(tree.to_hex())
    }

    /// Removes those below `place` that `is_in_use` does not claim by their name.
    pub(crate) fn sweep(place: &Path, is_in_use: impl Fn(&str) -> bool) {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| !is_in_use(name)) {
                let _ = remove_all(&entry.path());
            }
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Self(place) = self;
        let _ = remove_all(place);
    }
}

/// The directory of a lease.
#[derive(Clone, Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// The directory of `lease` below the adapter's own.
    pub(crate) fn of(root: &Path, lease: &LeaseId) -> Self {
        Self(root.join("leases").join(lease.as_str()))
    }

    /// The directory itself. The guest mounts it where no command can reach it.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Where a tree lies.
    pub(crate) fn tree(&self, tree: Digest) -> PathBuf {
        self.0.join("trees").join(tree.to_hex())
    }

    /// Where a fixture lies.
    pub(crate) fn fixture(&self, name: &str) -> PathBuf {
        self.0.join("fixtures").join(name)
    }

    /// Every home below the adapter's directory, and below those of the backends that it keeps beside itself.
    pub(crate) fn all(root: &Path) -> io::Result<Vec<(LeaseId, Self)>> {
        Ok(leases(root)?.into_iter().map(|(lease, path)| (lease, Self(path))).collect())
    }

    /// Who made it.
    pub(crate) fn maker(&self) -> Maker {
        self.maker_link().maker()
    }

    fn maker_link(&self) -> MakerLink {
        MakerLink::of(&self.0)
    }

    /// Takes over what was prepared and [signed](Share::sign). Fails where it exists: then another life has it, or its end is
    /// unproven.
    pub(crate) fn take_over(&self, share: Share) -> io::Result<()> {
        // Before anything else, so that whatever is left of it has a maker.
        self.maker_link().take(&share.maker())?;
        fs::rename(&share.0, &self.0)?;
        std::mem::forget(share);
        Ok(())
    }

    /// Reads the record; `None` where there is none.
    pub(crate) fn read_record(&self) -> io::Result<Option<Record>> {
        match fs::read(self.0.join("record")) {
            Ok(bytes) => ambit_canonical::decode(&bytes, RECORD_BYTES).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes what was staged, and leaves the record.
    pub(crate) fn remove_staged(&self) -> io::Result<()> {
        remove_all(&self.0.join("trees"))?;
        remove_all(&self.0.join("fixtures"))
    }

    /// Removes it with everything in it, and at the very last the name of its maker.
    pub(crate) fn remove(&self) -> io::Result<()> {
        remove_all(&self.0)?;
        self.maker_link().remove()
    }

    /// Whether anything of it is there.
    pub(crate) fn exists(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok() || self.maker_link().exists()
    }
}

fn remove_all(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
