//! Copies a directory whose content nobody vouches for.
//!
//! Each directory is opened below the one that holds it, and no link is followed on the way: what is renamed or
//! replaced while it is read leads nowhere else. What came of it is told by its digest, which is computed from the copy.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use super::error::{VolumeCaptureError, unreadable};
use super::new_tree::NewTree;
use crate::left_out::LeftOut;
use crate::limits;

/// Copies everything below `from` but what `unwanted` gives a reason against. Answers what was left out.
pub(super) fn tree(
    from: &Path,
    into: &mut NewTree,
    unwanted: fn(&Path) -> Option<&'static str>,
) -> Result<Vec<LeftOut>, VolumeCaptureError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = rustix::fs::open(from, flags, Mode::empty())
        .map_err(|error| unreadable(from.to_path_buf())(error.into()))?;
    let mut copying = Copying { from, into, unwanted, left_out: Vec::new() };
    copying.children(top.as_fd(), Path::new(""), 0)?;
    copying.left_out.sort();
    Ok(copying.left_out)
}

struct Copying<'a> {
    from: &'a Path,
    into: &'a mut NewTree,
    unwanted: fn(&Path) -> Option<&'static str>,
    left_out: Vec<LeftOut>,
}

impl Copying<'_> {
    fn children(
        &mut self,
        directory: BorrowedFd<'_>,
        path: &Path,
        depth: usize,
    ) -> Result<(), VolumeCaptureError> {
        if depth > limits::VOLUME_DEPTH {
            let limit = format!("{} directories in each other", limits::VOLUME_DEPTH);
            return Err(VolumeCaptureError::TooLarge { limit });
        }
        for name in names(directory).map_err(self.failed_at(path))? {
            let path = path.join(&name);
            if let Some(why) = (self.unwanted)(&path) {
                self.left_out.push(LeftOut { what: self.from.join(&path), why: why.to_owned() });
                continue;
            }
            let stat = statat(directory, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(self.failed_at(&path))?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    let below = open(directory, &name, OFlags::DIRECTORY);
                    let below = below.map_err(self.failed_at(&path))?;
                    self.into.directory(&path)?;
                    self.children(below.as_fd(), &path, depth + 1)?;
                }
                FileType::RegularFile => self.file(directory, &name, &path)?,
                FileType::Symlink => {
                    let target =
                        readlinkat(directory, name.as_os_str(), Vec::new()).map_err(self.failed_at(&path))?;
                    let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                    if leaves(&path, &target) {
                        return Err(VolumeCaptureError::LinkLeaves { path: self.from.join(path), target });
                    }
                    self.into.link(&path, &target)?;
                }
                _ => return Err(VolumeCaptureError::Special { path: self.from.join(path) }),
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> Result<(), VolumeCaptureError> {
        // Not waiting matters where a pipe took the place of the file.
        let file = open(directory, name, OFlags::NONBLOCK).map_err(self.failed_at(path))?;
        let stat = fstat(&file).map_err(self.failed_at(path))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(VolumeCaptureError::Special { path: self.from.join(path) });
        }
        let executable = stat.st_mode & 0o111 != 0;
        let full = self.from.join(path);
        self.into.file(path, executable, File::from(file), unreadable(full))
    }

    fn failed_at(&self, path: &Path) -> impl FnOnce(Errno) -> VolumeCaptureError + use<> {
        let path = self.from.join(path);
        move |error| unreadable(path)(error.into())
    }
}

fn open(directory: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat(directory, name, flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// The names in a directory, sorted, so that the first thing that is refused is the same every time.
fn names(directory: BorrowedFd<'_>) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_os_string());
        }
        if names.len() > limits::VOLUME_ENTRIES {
            return Err(Errno::TOOBIG);
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a link leads out of the tree in which it lies at `path`. Each component of its target counts as a directory,
/// so that a link through other links may be refused although it would stay.
fn leaves(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

/// Opens a regular file and reads it whole, if it has at most `limit` bytes.
pub(super) fn read_whole(path: &Path, limit: u64) -> Result<Vec<u8>, VolumeCaptureError> {
    use std::io::Read;
    let file = crate::regular::open_regular(path).map_err(unreadable(path.to_path_buf()))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable(path.to_path_buf()))?;
    if bytes.len() as u64 > limit {
        let too_large = io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {limit} bytes"));
        return Err(unreadable(path.to_path_buf())(too_large));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_known_by_where_it_leads() {
        for (path, target) in [
            ("link", "file"),
            ("link", "./deep/file"),
            (".bin/tool", "../tool/cli.js"),
            ("a/b/c", "../.."),
            ("a/b/c", "../../x"),
            ("link", "no/such/file"),
            ("link", "a/../b"),
        ] {
            assert!(!leaves(Path::new(path), Path::new(target)), "{path} -> {target}");
        }
        for (path, target) in [
            ("link", ".."),
            ("link", "../link"),
            ("link", "/etc/passwd"),
            ("link", "/"),
            (".bin/tool", "../../x"),
            ("a/b/c", "../../../a/b"),
            ("link", "a/../../b"),
        ] {
            assert!(leaves(Path::new(path), Path::new(target)), "{path} -> {target}");
        }
    }
}
