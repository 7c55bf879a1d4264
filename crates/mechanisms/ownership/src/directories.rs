//! The directories of leases, each with a link beside it that names its maker.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ambit_ids::LeaseId;
use ambit_ports::sandbox::Maker;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::identity::ProcessIdentity;

/// What the link beside a directory is called that names its maker.
const SUFFIX: &str = ".maker";
/// The longest such link that is read.
const MAKER_BYTES: usize = 4 << 10;

/// The symbolic link beside a directory whose target is not a place, but names the process that made the directory: a link
/// comes with its target at once, where a file is empty for a moment in which its writer can be killed. Made before
/// anything else and removed last, so that whatever is left has a maker.
#[derive(Clone, Debug)]
pub struct MakerLink(PathBuf);

impl MakerLink {
    /// That of a directory, whether or not it is there.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let mut path = directory.as_os_str().to_owned();
        path.push(SUFFIX);
        Self(path.into())
    }

    /// Names this process.
    ///
    /// # Errors
    /// Where another process is named already, which keeps what it has, or the link cannot be made.
    pub fn write(&self) -> io::Result<()> {
        symlink(OsStr::from_bytes(ProcessIdentity::own()?), &self.0)
    }

    /// Likewise, and takes the link that [`prepare`](Self::prepare) made at `prepared`: to give a file another name is many
    /// times cheaper than to make one.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn take(&self, prepared: &Path) -> io::Result<()> {
        match renameat_with(CWD, prepared, CWD, &self.0, RenameFlags::NOREPLACE) {
            // Not every file system can leave alone what has the name already.
            Err(Errno::INVAL | Errno::NOSYS) => {
                self.write()?;
                fs::remove_file(prepared)
            }
            taken => Ok(taken?),
        }
    }

    /// Makes a link that names this process, for a directory that has no name yet.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn prepare(at: &Path) -> io::Result<()> {
        symlink(OsStr::from_bytes(ProcessIdentity::own()?), at)
    }

    /// Who is named; nothing is known where there is no such link, or one that names nobody.
    #[must_use]
    pub fn maker(&self) -> Maker {
        let read = fs::read_link(&self.0).ok().map(|target| target.into_os_string().into_vec());
        let identity = read.and_then(|bytes| ambit_canonical::decode(&bytes, MAKER_BYTES).ok());
        identity.map_or(Maker::Unknown, |identity: ProcessIdentity| identity.maker())
    }

    /// Removes it.
    ///
    /// # Errors
    /// Where it is there and cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Whether it is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok()
    }
}

/// Every directory of a lease below `root/leases`, and below `root/NAME/leases`, where backends beside the first keep
/// theirs. One of which only the name of its maker is left counts as well. Where there is no `root`, there is none.
///
/// # Errors
/// Where `root` cannot be read.
pub fn leases(root: &Path) -> io::Result<Vec<(LeaseId, PathBuf)>> {
    let beside = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?.flatten().map(|entry| entry.path()),
    };
    let mut found = BTreeMap::new();
    for directory in std::iter::once(root.to_owned()).chain(beside).map(|root| root.join("leases")) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_str().map(|name| name.strip_suffix(SUFFIX).unwrap_or(name));
            if let Some(lease) = name.and_then(|name| LeaseId::new(name).ok()) {
                found.insert(entry.path().with_file_name(lease.as_str()), lease);
            }
        }
    }
    Ok(found.into_iter().map(|(path, lease)| (lease, path)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maker_is_named_once_and_found_beside() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("leases/lease_b4189001a03588c6");
        fs::create_dir_all(root.path().join("leases")).unwrap();
        let link = MakerLink::of(&home);
        assert_eq!(link.maker(), Maker::Unknown);
        link.write().unwrap();
        assert!(link.write().is_err(), "another process keeps what it has");
        assert_eq!(link.maker(), Maker::Lives);
        // Its directory is not there yet, and counts.
        assert_eq!(
            leases(root.path()).unwrap(),
            [(LeaseId::new("lease_b4189001a03588c6").unwrap(), home.clone())]
        );
        link.remove().unwrap();
        link.remove().unwrap();
        let prepared = root.path().join("prepared");
        MakerLink::prepare(&prepared).unwrap();
        link.take(&prepared).unwrap();
        assert_eq!((link.maker(), prepared.symlink_metadata().is_ok()), (Maker::Lives, false));
        MakerLink::prepare(&prepared).unwrap();
        assert!(link.take(&prepared).is_err(), "another process keeps what it has");
        link.remove().unwrap();
        assert_eq!(leases(root.path()).unwrap(), []);
        assert_eq!(leases(&root.path().join("absent")).unwrap(), []);
        symlink("/etc", home.with_extension("maker")).unwrap();
        assert_eq!(link.maker(), Maker::Unknown, "a place is nobody");
    }
}
