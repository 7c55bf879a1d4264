//! Writes the files of a batch to disk, where a backend mounts them read-only.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown, fchown, lchown,
    symlink,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_ids::{ByteCount, Digest, RepoPath, Scope, limits};
use ambit_ports::blobs::BlobStore;
use ambit_ports::sandbox::{BatchFile, BatchFileKind, SandboxError};
use bytes::Bytes;

/// How much is read from the blobs before it is written out.
const CHUNK_BYTES: u64 = 8 << 20;
const CHUNK_FILES: usize = 512;
/// What is written without leaving the thread.
const FEW_FILES: usize = 16;
const FEW_BYTES: usize = 256 << 10;

/// Whose the files become: a user and a group of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Whether it is another user than this process's own.
    pub foreign: bool,
}

/// Where staged files come from and whose they become.
pub struct Stage<'a> {
    /// Who owns the blobs.
    pub scope: &'a Scope,
    /// Where the contents are read from.
    pub blobs: &'a Arc<dyn BlobStore>,
    /// Whose the files become.
    pub owner: Owner,
}

/// Names everything in a batch. Two batches under one tree digest must have the same.
#[must_use]
pub fn batch_digest(files: &[BatchFile]) -> Digest {
    let mut bytes = Vec::new();
    for file in files {
        let kind = match file.kind {
            BatchFileKind::File => 0,
            BatchFileKind::Executable => 1,
            BatchFileKind::Link => 2,
        };
        let path = file.path.as_bytes();
        bytes.extend((path.len() as u64).to_le_bytes());
        bytes.extend(path);
        bytes.push(kind);
        bytes.extend(file.content.as_bytes());
        bytes.extend(file.size.get().to_le_bytes());
    }
    Digest::of(&bytes)
}

/// Refuses a batch in which one path lies below another that is not a directory, or that is not sorted.
fn check(files: &[BatchFile]) -> Result<(), SandboxError> {
    let refuse = |why: &str| {
        let source = io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
        Err(SandboxError::Io { what: "reading the list of files".into(), source })
    };
    if files.len() > limits::TREE_ENTRIES {
        return refuse("it has more files than a tree can have");
    }
    if files.windows(2).any(|pair| pair[0].path >= pair[1].path) {
        return refuse("it is not sorted by path, or names one path twice");
    }
    if files.iter().any(|file| file.size.get() > limits::FILE_BYTES) {
        return refuse("a file is larger than a tree can hold");
    }
    let leaves: BTreeSet<&RepoPath> = files.iter().map(|file| &file.path).collect();
    let below_a_leaf = |file: &BatchFile| {
        std::iter::successors(file.path.parent(), RepoPath::parent).any(|ancestor| leaves.contains(&ancestor))
    };
    if files.iter().any(below_a_leaf) {
        return refuse("a path lies below a file or a link");
    }
    Ok(())
}

impl Stage<'_> {
    /// Writes the files below `into`, which must not exist; answers the sum of their sizes.
    ///
    /// # Errors
    /// [`SandboxError`] where the list is not one of a tree, a content is not what its digest says, or the disk refuses.
    /// Then what was written so far is still there.
    pub async fn write(&self, files: &[BatchFile], into: &Path) -> Result<ByteCount, SandboxError> {
        check(files)?;
        let mut writer = Writer { root: into.to_path_buf(), owner: self.owner, directories: BTreeSet::new() };
        let owner = self.owner;
        make_directory(into, owner).map_err(SandboxError::during("making a directory for the files"))?;
        let mut total = 0;
        let mut rest = files;
        while !rest.is_empty() {
            let (chunk, left) = rest.split_at(chunk_len(rest));
            rest = left;
            let mut contents = Vec::with_capacity(chunk.len());
            for file in chunk {
                contents.push((file.clone(), self.content(file).await?));
                total += file.size.get();
            }
            writer = write(writer, contents).await.map_err(SandboxError::during("writing the files"))?;
        }
        Ok(ByteCount::new(total))
    }

    async fn content(&self, file: &BatchFile) -> Result<Bytes, SandboxError> {
        let content = self.blobs.get(self.scope, file.content, file.size).await?;
        if content.len() as u64 != file.size.get() {
            let source = io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{} has {} bytes, not {}", file.path, content.len(), file.size.get()),
            );
            return Err(SandboxError::Io { what: "reading the files".into(), source });
        }
        Ok(content)
    }
}

/// Writes a few small files at once, and more of them where blocking is allowed: a switch of threads costs more than they.
async fn write(mut writer: Writer, contents: Vec<(BatchFile, Bytes)>) -> io::Result<Writer> {
    let bytes: usize = contents.iter().map(|(_, content)| content.len()).sum();
    if contents.len() <= FEW_FILES && bytes <= FEW_BYTES {
        return writer.write_all(&contents).map(|()| writer);
    }
    tokio::task::spawn_blocking(move || writer.write_all(&contents).map(|()| writer))
        .await
        .map_err(io::Error::other)?
}

/// How many of these files are read before they are written.
fn chunk_len(files: &[BatchFile]) -> usize {
    let mut bytes = 0;
    let fitting = files.iter().take(CHUNK_FILES).take_while(|file| {
        let fits = bytes < CHUNK_BYTES;
        bytes += file.size.get();
        fits
    });
    fitting.count().max(1)
}

struct Writer {
    root: PathBuf,
    owner: Owner,
    /// Directories that this writer made. No other can be among the parents: the root is fresh and private.
    directories: BTreeSet<RepoPath>,
}

impl Writer {
    fn write_all(&mut self, contents: &[(BatchFile, Bytes)]) -> io::Result<()> {
        for (file, content) in contents {
            self.make_parents(&file.path)?;
            let path = self.place(&file.path);
            match file.kind {
                BatchFileKind::File => self.write_file(&path, content, 0o644)?,
                BatchFileKind::Executable => self.write_file(&path, content, 0o755)?,
                BatchFileKind::Link => {
                    symlink(OsStr::from_bytes(content), &path)?;
                    if self.owner.foreign {
                        lchown(&path, Some(self.owner.uid), Some(self.owner.gid))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn place(&self, path: &RepoPath) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_bytes()))
    }

    fn make_parents(&mut self, path: &RepoPath) -> io::Result<()> {
        let missing: Vec<RepoPath> = std::iter::successors(path.parent(), RepoPath::parent)
            .take_while(|parent| !self.directories.contains(parent))
            .collect();
        for parent in missing.into_iter().rev() {
            make_directory(&self.place(&parent), self.owner)?;
            self.directories.insert(parent);
        }
        Ok(())
    }

    fn write_file(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        let mut file: File = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        file.write_all(content)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        if self.owner.foreign {
            fchown(&file, Some(self.owner.uid), Some(self.owner.gid))?;
        }
        Ok(())
    }
}

/// A place beside another one, where files are written until they are whole. Whoever else writes for the same place has
/// another one. What is there goes with this value, unless it was [kept](Self::keep): an attempt that fails or is given up
/// is not in the way of the next.
#[derive(Debug)]
pub struct Fresh(PathBuf);

impl Fresh {
    /// One beside `place`, which has no extension. Nothing is there yet.
    #[must_use]
    pub fn beside(place: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self(place.with_extension(format!("fresh-{}", COUNT.fetch_add(1, Ordering::Relaxed))))
    }

    /// One of this name, which nobody else has.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives what is there its place.
    ///
    /// # Errors
    /// The kernel's, among them that another one has the place.
    pub fn keep(self, place: &Path) -> io::Result<()> {
        fs::rename(&self.0, place)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // After it was kept, nothing is there.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a directory that the sandbox's user can read.
///
/// # Errors
/// The kernel's, among them that it is there already.
pub fn make_directory(path: &Path, owner: Owner) -> io::Result<()> {
    const MODE: u32 = 0o755;
    fs::DirBuilder::new().mode(MODE).create(path)?;
    // The process may mask what new directories allow.
    if fs::symlink_metadata(path)?.mode() & 0o777 != MODE {
        fs::set_permissions(path, Permissions::from_mode(MODE))?;
    }
    if owner.foreign {
        chown(path, Some(owner.uid), Some(owner.gid))?;
    }
    Ok(())
}
