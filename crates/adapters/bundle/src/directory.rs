//! The members of a directory. No link is followed on the way to any of them.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, openat};

use crate::archive::admit;
use crate::error::BundleError;
use crate::name::{MemberName, Names, refused};
use crate::source::{Entry, Place};
use crate::{NameFault, limits, name};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::DIRECTORY);
/// What turns out to be a pipe must not be waited for.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// Every member below a directory, sorted by name.
pub(crate) fn list(root: &File) -> Result<Vec<Entry>, BundleError> {
    let (mut entries, mut names, mut total) = (Vec::new(), Names::default(), 0);
    let mut folders = vec![String::new()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let opened = open_folder(root, &folder)?;
        let failed = |error: rustix::io::Errno| BundleError::io(shown(&folder), error.into());
        for found in Dir::read_from(&opened).map_err(failed)? {
            let found = found.map_err(failed)?;
            let own = found.file_name().to_bytes();
            if matches!(own, b"." | b"..") {
                continue;
            }
            seen += 1;
            if seen > 2 * limits::MEMBERS {
                return Err(BundleError::TooMuch { what: "entries", most: 2 * limits::MEMBERS as u64 });
            }
            let path = join(&folder, own)?;
            match kind_of(&opened, found.file_name(), &path)? {
                FileType::Directory => folders.push(path.to_string()),
                FileType::RegularFile => {
                    let (_, size) = open(root, &path)?;
                    admit(&mut entries, &mut names, &mut total, path, size, Place::Own)?;
                }
                other => return Err(BundleError::Entry { name: path.to_string(), what: told(other) }),
            }
        }
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

fn join(folder: &str, own: &[u8]) -> Result<MemberName, BundleError> {
    let path = if folder.is_empty() { own.to_vec() } else { [folder.as_bytes(), own].join(&b'/') };
    if own.contains(&b'/') {
        return Err(refused(&path, NameFault::NotNormal));
    }
    name::read(&path)
}

fn shown(folder: &str) -> String {
    if folder.is_empty() { "the bundle".to_owned() } else { folder.to_owned() }
}

fn kind_of(folder: impl AsFd, own: &std::ffi::CStr, path: &MemberName) -> Result<FileType, BundleError> {
    let found = rustix::fs::statat(folder, own, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    let found = found.map_err(|error| BundleError::io(path.as_str(), error.into()))?;
    Ok(FileType::from_raw_mode(found.st_mode))
}

const fn told(kind: FileType) -> &'static str {
    match kind {
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "an entry of an unknown kind",
    }
}

fn open_folder(root: &File, path: &str) -> Result<File, BundleError> {
    let failed = |error: rustix::io::Errno| BundleError::io(shown(path), error.into());
    let mut folder = File::from(openat(root, ".", FOLDER, Mode::empty()).map_err(failed)?);
    for component in path.split('/').filter(|component| !component.is_empty()) {
        folder = File::from(openat(&folder, component, FOLDER, Mode::empty()).map_err(failed)?);
    }
    Ok(folder)
}

/// A member, component by component, and its size.
pub(crate) fn open(root: &File, path: &MemberName) -> Result<(File, u64), BundleError> {
    let failed = |error: rustix::io::Errno| BundleError::io(path.as_str(), error.into());
    let (folder, own) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
    let folder = open_folder(root, folder)?;
    let file = File::from(openat(&folder, own, FILE, Mode::empty()).map_err(failed)?);
    let found = fstat(&file).map_err(failed)?;
    let kind = FileType::from_raw_mode(found.st_mode);
    if kind != FileType::RegularFile {
        return Err(BundleError::Entry { name: path.to_string(), what: told(kind) });
    }
    Ok((file, u64::try_from(found.st_size).unwrap_or_default()))
}
