//! What a lease has on disk: the record by which any process can end it, the staged files, and the running container.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, Incarnation, LeaseId};
use ambit_ownership::{MakerLink, ProcessIdentity, leases};
use ambit_ports::sandbox::Maker;
use ambit_staging::{Owner, make_directory};
use serde::{Deserialize, Serialize};

use crate::groups::Groups;

/// The largest record that is read.
const RECORD_BYTES: usize = 64 << 10;

/// Everything that is needed to end one life of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Record {
    /// Which life.
    pub(crate) incarnation: Incarnation,
    /// Whether it was ended; nothing starts in it any more.
    pub(crate) ended: bool,
    /// The groups of the container that runs, or ran last.
    pub(crate) groups: Option<Groups>,
    /// Its keeper, where an ordinary user made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keeper: Option<ProcessIdentity>,
}

/// The directory of a lease.
#[derive(Clone, Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// The directory of `lease` below the adapter's own.
    pub(crate) fn of(root: &Path, lease: &LeaseId) -> Self {
        Self(root.join("leases").join(lease.as_str()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Where a tree lies.
    pub(crate) fn tree(&self, tree: Digest) -> PathBuf {
        self.0.join("trees").join(tree.to_hex())
    }

    /// Where the fixtures lie.
    pub(crate) fn fixtures(&self) -> PathBuf {
        self.0.join("fixtures")
    }

    /// Where the files of a container lie while it runs.
    pub(crate) fn container(&self, id: &str) -> PathBuf {
        self.0.join("containers").join(id)
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

    /// The containers of which something is on the disk.
    pub(crate) fn containers(&self) -> Vec<String> {
        let place = self.0.join("containers");
        // A link is nothing of this program's.
        let is_own = fs::symlink_metadata(&place).is_ok_and(|place| place.is_dir());
        let entries = is_own.then(|| fs::read_dir(place)).into_iter().flatten().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Makes it. Fails where it exists: then another life has it, or its end is unproven.
    pub(crate) fn create(&self, owner: Owner) -> io::Result<()> {
        // Before anything else, so that whatever is left of it has a maker.
        self.maker_link().write()?;
        fs::create_dir(&self.0)?;
        fs::create_dir(self.0.join("containers"))?;
        make_directory(&self.0.join("trees"), owner)?;
        make_directory(&self.fixtures(), owner)
    }

    /// Changes the record; `None` where there is none. Nobody else changes it meanwhile, in whatever process.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Record) -> T) -> io::Result<Option<T>> {
        let directory = match fs::File::open(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        directory.lock()?;
        let Some(mut record) = self.read_record()? else { return Ok(None) };
        let answer = change(&mut record);
        self.write_record(&record)?;
        Ok(Some(answer))
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

    /// Removes it with everything in it, and at the very last the name of its maker.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.maker_link().remove(),
        }
    }

    /// Whether anything of it is there.
    pub(crate) fn exists(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok() || self.maker_link().exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_leads_to_is_no_container() {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = directory.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("kept")).unwrap();
        let [own, forged] = ["own", "forged"].map(|name| Home(directory.path().join(name)));
        fs::create_dir_all(own.0.join("containers/kept")).unwrap();
        fs::create_dir(&forged.0).unwrap();
        std::os::unix::fs::symlink(&elsewhere, forged.0.join("containers")).unwrap();
        assert_eq!(own.containers(), ["kept"]);
        assert_eq!(forged.containers(), [""; 0]);
    }
}
