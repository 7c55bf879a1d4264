use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::mount::{OpenTreeFlags, open_tree};

/// A directory of the host, as the guest takes it.
pub(crate) struct HostDirectory {
    /// Empty where there is a mount.
    pub(crate) path: CString,
    pub(crate) mount: Option<OwnedFd>,
}

impl HostDirectory {
    pub(crate) fn of(path: &Path, by_path: bool) -> io::Result<Self> {
        let path = path.canonicalize()?;
        if by_path {
            return Ok(Self { path: CString::new(path.as_os_str().as_bytes())?, mount: None });
        }
        Ok(Self { path: CString::default(), mount: Some(detached(&path)?) })
    }
}

/// A mount of its own of what lies at `path`. Root hands it over, because the sandbox's user could not reach the directory
/// by its path. An ordinary user cannot make one, and the sandboxes of an ordinary user have that user's own rights.
pub(crate) fn detached(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(rustix::fs::CWD, path, flags)?)
}
