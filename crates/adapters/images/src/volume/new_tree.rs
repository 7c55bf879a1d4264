//! A tree that is being written where nobody looks, within the bounds of a volume.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::error::VolumeCaptureError;
use crate::limits;
use crate::regular::failed_at;
use crate::stage::{DIRECTORY_MODE, create, finish_file, set_time};

/// A tree below a directory of its own. Every path is relative to it and goes through no link: a name is made once, and
/// what is made below it is made below the directory that was made for it.
pub(super) struct NewTree {
    root: PathBuf,
    directories: BTreeSet<PathBuf>,
    entries: usize,
    left_bytes: u64,
}

impl NewTree {
    /// Begins a tree. `root` must not exist.
    pub(super) fn begin(root: &Path) -> Result<Self, VolumeCaptureError> {
        Self::bounded(root, limits::VOLUME_BYTES)
    }

    fn bounded(root: &Path, bytes: u64) -> Result<Self, VolumeCaptureError> {
        make(root)?;
        Ok(Self { root: root.to_path_buf(), directories: BTreeSet::new(), entries: 0, left_bytes: bytes })
    }

    /// Makes a directory.
    pub(super) fn directory(&mut self, path: &Path) -> Result<(), VolumeCaptureError> {
        self.admit(path)?;
        make(&self.root.join(path))?;
        self.directories.insert(path.to_path_buf());
        Ok(())
    }

    /// Makes a directory, and those that lead to it, where they are not there yet.
    pub(super) fn directories_to(&mut self, path: &Path) -> Result<(), VolumeCaptureError> {
        let mut above: Vec<&Path> = path.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
        above.reverse();
        for path in above {
            if !self.directories.contains(path) {
                self.directory(path)?;
            }
        }
        Ok(())
    }

    /// Makes a file of what can be read from `content`. `failed` makes an error of its failure.
    pub(super) fn file(
        &mut self,
        path: &Path,
        executable: bool,
        content: impl Read,
        failed: impl FnOnce(io::Error) -> VolumeCaptureError,
    ) -> Result<(), VolumeCaptureError> {
        self.admit(path)?;
        let target = self.root.join(path);
        let mut file = create(&target)?;
        let mut content = Told { inner: content.take(self.left_bytes.saturating_add(1)), error: None };
        let copied = io::copy(&mut content, &mut file);
        if let Some(error) = content.error {
            return Err(failed(error));
        }
        let size_bytes = copied.map_err(failed_at(&target))?;
        self.left_bytes = self.left_bytes.checked_sub(size_bytes).ok_or_else(|| {
            VolumeCaptureError::TooLarge { limit: format!("{} bytes", limits::VOLUME_BYTES) }
        })?;
        Ok(finish_file(&file, &target, executable)?)
    }

    /// Makes a symbolic link, which must not lead out of the tree.
    pub(super) fn link(&mut self, path: &Path, target: &Path) -> Result<(), VolumeCaptureError> {
        self.admit(path)?;
        let place = self.root.join(path);
        symlink(target, &place).map_err(failed_at(&place))?;
        Ok(set_time(&place)?)
    }

    /// Gives every directory its mode and time, children first: what is sealed takes no more entries.
    pub(super) fn seal(self) -> Result<(), VolumeCaptureError> {
        let below = self.directories.iter().rev().map(|path| self.root.join(path));
        for directory in below.chain([self.root.clone()]) {
            let mode = Permissions::from_mode(DIRECTORY_MODE);
            fs::set_permissions(&directory, mode).map_err(failed_at(&directory))?;
            set_time(&directory)?;
        }
        Ok(())
    }

    fn admit(&mut self, path: &Path) -> Result<(), VolumeCaptureError> {
        let too_large = |limit| Err(VolumeCaptureError::TooLarge { limit });
        if path.as_os_str().len() > limits::VOLUME_PATH_BYTES {
            return too_large(format!("{} bytes in one path", limits::VOLUME_PATH_BYTES));
        }
        self.entries += 1;
        if self.entries > limits::VOLUME_ENTRIES {
            return too_large(format!("{} files, links and directories", limits::VOLUME_ENTRIES));
        }
        Ok(())
    }
}

fn make(directory: &Path) -> Result<(), VolumeCaptureError> {
    Ok(DirBuilder::new().mode(0o700).create(directory).map_err(failed_at(directory))?)
}

/// Keeps the error of reading apart from that of writing.
struct Told<R> {
    inner: R,
    error: Option<io::Error>,
}

impl<R: Read> Read for Told<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.error = Some(error);
                Err(io::ErrorKind::Other.into())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_bounded_in_bytes_and_in_the_length_of_its_paths() {
        let directory = tempfile::tempdir().unwrap();
        let mut tree = NewTree::bounded(&directory.path().join("tree"), 10).unwrap();
        let failed = |error| panic!("{error}");
        tree.file(Path::new("fits"), false, &b"0123456"[..], failed).unwrap();
        tree.file(Path::new("exact"), false, &b"789"[..], failed).unwrap();
        tree.file(Path::new("empty"), false, &b""[..], failed).unwrap();
        for bomb in [&b"x"[..], &[0; 100_000]] {
            let error =
                tree.file(Path::new(&format!("over{}", bomb.len())), false, bomb, failed).unwrap_err();
            assert_eq!(error.code(), "VOLUME_TOO_LARGE", "{error}");
        }
        let long = "d/".repeat(limits::VOLUME_PATH_BYTES);
        assert_eq!(tree.directory(Path::new(&long)).unwrap_err().code(), "VOLUME_TOO_LARGE");
    }

    #[test]
    fn a_name_is_made_once_and_directories_where_they_are_needed() {
        let directory = tempfile::tempdir().unwrap();
        let mut tree = NewTree::begin(&directory.path().join("tree")).unwrap();
        tree.directories_to(Path::new("a/b/c")).unwrap();
        tree.directories_to(Path::new("a/b/d")).unwrap();
        assert!(directory.path().join("tree/a/b/c").is_dir());
        tree.link(Path::new("a/link"), Path::new("b")).unwrap();
        for again in ["a/link", "a/b"] {
            assert!(tree.directory(Path::new(again)).is_err(), "{again}");
            assert!(tree.link(Path::new(again), Path::new("b")).is_err(), "{again}");
        }
    }
}
