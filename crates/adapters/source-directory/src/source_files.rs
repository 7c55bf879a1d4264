use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;

use ambit_ids::{Digest, RepoPath};
use ambit_revision::{FileKind, TreeFile};
use rustix::io::Errno;

use crate::open::{self, Fault, OpenFile};
use crate::walk::open_top;
use crate::{EntryPath, ImportError};

/// The files of a directory that was measured, read once more.
///
/// A file that is not what it was then is refused: what is read is always what the tree says.
#[derive(Debug)]
pub struct SourceFiles {
    top: OwnedFd,
    /// The directories from the top to the file that was read last, each with its name.
    open: Vec<(Vec<u8>, OwnedFd)>,
}

impl SourceFiles {
    /// Opens the directory.
    ///
    /// # Errors
    /// [`ImportError`] where it is none, or cannot be read.
    pub fn open(dir: &Path) -> Result<Self, ImportError> {
        Ok(Self { top: open_top(dir)?, open: Vec::new() })
    }

    /// The bytes of `file`, or the target of the link, which stands at `path`. No link is followed.
    ///
    /// # Errors
    /// [`ImportError`] where it cannot be read, or has changed.
    pub fn read(&mut self, path: &RepoPath, file: &TreeFile) -> Result<Vec<u8>, ImportError> {
        let failed = |fault: Fault| fault.at(&EntryPath::from(path));
        let bytes = self.read_at(path, file).map_err(failed)?;
        if Digest::of(&bytes) == file.content { Ok(bytes) } else { Err(failed(Fault::Changed)) }
    }

    fn read_at(&mut self, path: &RepoPath, file: &TreeFile) -> Result<Vec<u8>, Fault> {
        let name = CString::new(path.file_name()).map_err(|_| Fault::Changed)?;
        let directory = self.enter(path)?;
        if file.kind == FileKind::Link {
            return open::link_target(directory, &name);
        }
        let mut opened = OpenFile::open(directory, &name)?;
        if opened.size_bytes() != file.size.get() {
            return Err(Fault::Changed);
        }
        opened.whole(usize::try_from(file.size.get()).unwrap_or(usize::MAX))
    }

    fn enter(&mut self, path: &RepoPath) -> Result<&OwnedFd, Errno> {
        let mut names: Vec<&[u8]> = path.components().collect();
        names.pop();
        let shared = self.open.iter().zip(&names).take_while(|((open, _), name)| open == *name).count();
        self.open.truncate(shared);
        for name in &names[shared..] {
            let above = self.open.last().map_or(&self.top, |(_, directory)| directory);
            let directory = open::directory(above, *name)?;
            self.open.push((name.to_vec(), directory));
        }
        Ok(self.open.last().map_or(&self.top, |(_, directory)| directory))
    }
}
