use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::ImportError;
use crate::place::Place;

/// The longest file that leads to another directory.
const POINTER_BYTES: u64 = 8 << 10;

/// The directories of a repository. Its configuration is not among what is read.
pub(crate) struct Repository {
    /// What belongs to one work tree: `HEAD`.
    pub(crate) own: Place,
    /// What all work trees share, where it is another directory: references and objects.
    shared: Option<Place>,
    pub(crate) objects: Place,
}

impl Repository {
    /// Opens the repository whose work tree is `dir`, or a bare one. No directory above is looked at.
    pub(crate) fn open(dir: &Path) -> Result<Self, ImportError> {
        let none = |source| ImportError::NotARepository { path: dir.to_owned(), source };
        let top = Place::open(dir).map_err(|source| none(Some(source)))?;
        let (own, shared) = match top.directory(b".git") {
            Ok(Some(own)) => (own, None),
            Ok(None) => match top.read(b".git", POINTER_BYTES).map_err(|source| none(Some(source)))? {
                Some(pointer) => linked(dir, &pointer)?,
                None => (top, None),
            },
            Err(source) if source.kind() == io::ErrorKind::PermissionDenied => {
                return Err(none(Some(source)));
            }
            // A symbolic link.
            Err(_) => return Err(ImportError::Elsewhere { path: dir.join(".git") }),
        };
        let common = shared.as_ref().unwrap_or(&own);
        let read = |place: &Place, name: &[u8], source| ImportError::Unreadable {
            path: place.path_of(name),
            source,
        };
        let has_head = own.file(b"HEAD").map_err(|source| read(&own, b"HEAD", source))?.is_some();
        let objects = common.directory(b"objects").map_err(|source| read(common, b"objects", source))?;
        let objects = objects.filter(|_| has_head).ok_or_else(|| none(None))?;
        let reftable = common.directory(b"reftable").map_err(|source| read(common, b"reftable", source))?;
        if reftable.is_some() {
            return Err(ImportError::Format { format: "references in a reftable" });
        }
        Ok(Self { own, shared, objects })
    }

    /// What all work trees share.
    pub(crate) fn common(&self) -> &Place {
        self.shared.as_ref().unwrap_or(&self.own)
    }
}

/// The directories of a linked work tree. Anybody can write a `.git` that leads to the repository of somebody else, so
/// that one must know this work tree: it lies in `worktrees` of the repository, and leads back.
fn linked(dir: &Path, pointer: &[u8]) -> Result<(Place, Option<Place>), ImportError> {
    let elsewhere = || ImportError::Elsewhere { path: dir.join(".git") };
    let target = pointer.strip_prefix(b"gitdir: ").ok_or_else(elsewhere)?;
    let opened = || -> io::Result<Option<(Place, Place)>> {
        let own = Place::open(&followed(dir, target))?;
        let Some(back) = own.read(b"gitdir", POINTER_BYTES)? else { return Ok(None) };
        let Some(common) = own.read(b"commondir", POINTER_BYTES)? else { return Ok(None) };
        let back = followed(own.path(), &back).canonicalize()?;
        let common = followed(own.path(), &common).canonicalize()?;
        let known = own.path().canonicalize()?.parent() == Some(&common.join("worktrees"));
        if !known || back != dir.canonicalize()?.join(".git") {
            return Ok(None);
        }
        Ok(Some((own, Place::open(&common)?)))
    };
    match opened() {
        Ok(Some((own, common))) => Ok((own, Some(common))),
        Ok(None) | Err(_) => Err(elsewhere()),
    }
}

fn followed(from: &Path, to: &[u8]) -> PathBuf {
    from.join(OsStr::from_bytes(to.trim_ascii_end()))
}
