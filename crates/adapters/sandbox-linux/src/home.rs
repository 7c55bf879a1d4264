//! What a lease has on disk: the record by which any process can end it, and the staged files.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, Incarnation, LeaseId};
use serde::{Deserialize, Serialize};

use crate::cgroup::Group;
use crate::identity::Outer;
use crate::process::ProcessIdentity;

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

    /// Makes it. Fails where it exists: then another life has it, or its end is unproven.
    pub(crate) fn create(&self, owner: Outer) -> io::Result<()> {
        for directory in [self.0.clone(), self.0.join("trees"), self.0.join("fixtures")] {
            make_directory(&directory, owner)?;
        }
        Ok(())
    }

    /// Writes the record, whole or not at all.
    pub(crate) fn write_record(&self, record: &Record) -> io::Result<()> {
        let bytes = ambit_canonical::encode(record).map_err(io::Error::other)?;
        let fresh = self.0.join("record.new");
        fs::write(&fresh, bytes.as_bytes())?;
        fs::rename(fresh, self.0.join("record"))
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

    /// Removes it with everything in it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        remove_all(&self.0)
    }

    /// Whether anything of it is there.
    pub(crate) fn exists(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok()
    }
}

fn remove_all(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes a directory that the sandbox's user can read.
pub(crate) fn make_directory(path: &Path, owner: Outer) -> io::Result<()> {
    const MODE: u32 = 0o755;
    fs::DirBuilder::new().mode(MODE).create(path)?;
    // The process may mask what new directories allow.
    if fs::symlink_metadata(path)?.mode() & 0o777 != MODE {
        fs::set_permissions(path, Permissions::from_mode(MODE))?;
    }
    if owner.foreign {
        chown(path, Some(owner.uid), Some(owner.gid))?;
    }
    Ok(())
}
