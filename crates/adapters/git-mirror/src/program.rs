use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The program, found once, by an absolute path.
#[derive(Clone, Debug)]
pub(crate) struct Program(PathBuf);

impl Program {
    /// The first `git` in the absolute directories of a search path.
    pub(crate) fn find(search_path: &OsStr) -> Option<Self> {
        std::env::split_paths(search_path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join("git"))
            .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
            .map(Self)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}
