//! Paths and targets of links, as an archive has them.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::import::error::EntryFault;

/// The plain parts of a path of an archive, without `.` and empty ones.
pub(crate) fn parts(bytes: &[u8]) -> Result<PathBuf, EntryFault> {
    use std::os::unix::ffi::OsStrExt;

    if bytes.starts_with(b"/") {
        return Err(EntryFault::Absolute);
    }
    let mut path = PathBuf::new();
    for part in bytes.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        if part == b".." {
            return Err(EntryFault::Climbs);
        }
        if part.contains(&0) || part.len() > crate::limits::NAME_BYTES {
            return Err(EntryFault::Name);
        }
        path.push(OsStr::from_bytes(part));
    }
    if bytes.is_empty() || path.as_os_str().len() > crate::limits::IMPORTED_PATH_BYTES {
        return Err(EntryFault::Name);
    }
    Ok(path)
}

/// Whether the target of a symbolic link climbs above the root, as its text has it.
pub(crate) fn climbs_out(link: &Path, target: &Path) -> bool {
    let mut depth = if target.is_absolute() { 0 } else { link.iter().count().saturating_sub(1) };
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    false
}
