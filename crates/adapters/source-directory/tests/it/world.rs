//! A directory, a store, and the words to fill and compare them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ambit_ids::{OrganizationId, ProjectId, Scope};
use ambit_revision::{FileKind, Tree};
use ambit_source_directory::{
    ExportError, Exported, IgnoreFiles, ImportError, ImportOptions, Imported, export, import,
};
use tempfile::TempDir;

use crate::memory::MemoryBlobs;

/// A directory named `project` in a directory of its own, and blobs.
pub(crate) struct World {
    pub(crate) blobs: MemoryBlobs,
    home: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(MemoryBlobs::default())
    }

    pub(crate) fn with(blobs: MemoryBlobs) -> Self {
        Self::at(&std::env::temp_dir(), blobs)
    }

    /// In memory where that can be, for tests that make more files than a disk takes in passing.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let scratch = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self::at(&scratch, MemoryBlobs::default())
    }

    fn at(scratch: &Path, blobs: MemoryBlobs) -> Self {
        let home = tempfile::Builder::new().prefix("source-").tempdir_in(scratch).unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self { blobs, home }
    }

    /// What lies around the project.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.dir().join(OsStr::from_bytes(name.as_ref()))
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn executable(&self, name: &str, mode: u32) {
        self.file(name, "#!/bin/sh\n");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, name: impl AsRef<[u8]>, target: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(OsStr::from_bytes(target.as_ref()), path).unwrap();
    }

    pub(crate) fn import(&self) -> Result<Imported, ImportError> {
        self.import_with(ImportOptions::default())
    }

    pub(crate) fn import_with(&self, options: ImportOptions) -> Result<Imported, ImportError> {
        wait(import(&self.dir(), &scope(), &self.blobs, options))
    }

    pub(crate) fn export(&self, tree: &Tree, name: &str) -> Result<Exported, ExportError> {
        wait(export(tree, &scope(), &self.blobs, &self.home().join(name)))
    }

    /// The code of the refusal and what it says.
    pub(crate) fn refusal(&self) -> (&'static str, String) {
        let error = self.import().unwrap_err();
        (error.code(), error.to_string())
    }

    /// Everything that lies around the project, with everything that a write would change.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Entry> {
        let mut entries = BTreeMap::new();
        look(self.home(), &mut entries);
        entries
    }
}

/// What an entry of a directory is, but for the time at which it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    numbers: [i64; 8],
    content: Vec<u8>,
}

fn look(directory: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    for child in fs::read_dir(directory).unwrap() {
        let path = child.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        let content = match found.file_type() {
            kind if kind.is_file() && found.len() < 1 << 26 => fs::read(&path).unwrap(),
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(),
            _ => Vec::new(),
        };
        let numbers = [
            found.ino().cast_signed(),
            i64::from(found.mode()),
            found.nlink().cast_signed(),
            found.len().cast_signed(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ];
        if found.is_dir() {
            look(&path, entries);
        }
        entries.insert(path, Entry { numbers, content });
    }
}

pub(crate) fn scope() -> Scope {
    Scope { organization: OrganizationId::new("acme").unwrap(), project: ProjectId::new("todo").unwrap() }
}

/// Every file of a tree as text: its kind and its path.
pub(crate) fn listed(tree: &Tree) -> Vec<String> {
    let kind = |kind| match kind {
        FileKind::File => "file",
        FileKind::Executable => "exec",
        FileKind::Link => "link",
    };
    tree.files().map(|(path, file)| format!("{} {path}", kind(file.kind))).collect()
}

pub(crate) fn everything() -> ImportOptions {
    ImportOptions { ignore_files: IgnoreFiles::Disregarded, ..ImportOptions::default() }
}

/// Every future here can be moved to another thread, as a server moves them.
pub(crate) fn wait<T>(future: impl Future<Output = T> + Send) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
