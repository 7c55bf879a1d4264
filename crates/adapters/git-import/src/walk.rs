use std::io;

use ambit_ids::{ByteCount, RepoPath, limits};
use ambit_revision::FileKind;
use bytes::Bytes;
use tokio::sync::mpsc::{self, Sender};

use crate::finding::{Finding, LFS_POINTER_BYTES, is_lfs_pointer};
use crate::import_error::shown;
use crate::keep::{Entry, Found, Piece};
use crate::limits::{CHUNK_BYTES, FINDINGS, GROUP_BYTES, GROUP_FILES, QUEUED_CHUNKS};
use crate::objects::{Objects, Wanted};
use crate::reading::Reading;
use crate::tree_object::{self, EntryMode, TreeEntry, TreeFault};
use crate::{CommitId, ImportError, ImportOptions, ObjectId, ObjectKind, Submodules};

/// What was met on the way.
#[derive(Debug, Default)]
pub(crate) struct Met {
    pub(crate) findings: Vec<Finding>,
    /// Those beyond [`FINDINGS`].
    pub(crate) more_findings: u64,
}

/// Walks a tree and hands over every file, until whatever takes them is gone.
pub(crate) fn walk(
    objects: &mut Objects<'_>,
    tree: ObjectId,
    options: ImportOptions,
    found: &Sender<Found>,
) -> Result<Met, ImportError> {
    let (group, group_bytes, met) = (Vec::new(), 0, Met::default());
    let mut walk = Walk { objects, options, found, group, group_bytes, entries: 0, content_bytes: 0, met };
    walk.directory(tree, None)?;
    walk.give_group()?;
    Ok(walk.met)
}

struct Walk<'a, 'b> {
    objects: &'a mut Objects<'b>,
    options: ImportOptions,
    found: &'a Sender<Found>,
    /// Small files that are handed over together.
    group: Vec<(Entry, Bytes)>,
    group_bytes: usize,
    entries: usize,
    content_bytes: u64,
    met: Met,
}

impl Walk<'_, '_> {
    /// As deep as a [`RepoPath`] may be.
    fn directory(&mut self, id: ObjectId, path: Option<&RepoPath>) -> Result<(), ImportError> {
        for entry in self.list(id, path)? {
            if self.found.is_closed() {
                return Err(ImportError::Interrupted);
            }
            let place = place(path, &entry)?;
            let kind = match entry.mode {
                EntryMode::Directory => {
                    self.directory(entry.id, Some(&place))?;
                    continue;
                }
                EntryMode::Submodule => {
                    self.submodule(place, CommitId(entry.id))?;
                    continue;
                }
                EntryMode::File => FileKind::File,
                EntryMode::Executable => FileKind::Executable,
                EntryMode::Link => FileKind::Link,
            };
            self.file(place, kind, entry.id)?;
        }
        Ok(())
    }

    fn list(&mut self, id: ObjectId, path: Option<&RepoPath>) -> Result<Vec<TreeEntry>, ImportError> {
        let path = path.map(ToString::to_string).unwrap_or_default();
        let wanted = Wanted { id, kind: ObjectKind::Tree, path: &path, limit_bytes: limits::FILE_BYTES };
        let bytes = self.objects.read(&wanted)?.whole().map_err(|source| wanted.corrupt(source))?;
        let limit = self.options.entry_limit;
        let entries = tree_object::parse(&bytes, limit - self.entries).map_err(|source| match source {
            TreeFault::TooMany => ImportError::TooManyEntries { limit },
            source => ImportError::TreeMalformed { id, path: path.clone(), source },
        })?;
        self.entries += entries.len();
        Ok(entries)
    }

    fn submodule(&mut self, path: RepoPath, commit: CommitId) -> Result<(), ImportError> {
        match self.options.submodules {
            Submodules::Refused => Err(ImportError::Submodule { path, commit }),
            Submodules::LeftOut => {
                self.tell(Finding::Submodule { path, commit });
                Ok(())
            }
        }
    }

    fn tell(&mut self, finding: Finding) {
        if self.met.findings.len() < FINDINGS {
            self.met.findings.push(finding);
        } else {
            self.met.more_findings += 1;
        }
    }

    fn file(&mut self, path: RepoPath, kind: FileKind, id: ObjectId) -> Result<(), ImportError> {
        let text = path.to_string();
        let wanted = Wanted { id, kind: ObjectKind::Blob, path: &text, limit_bytes: limits::FILE_BYTES };
        let corrupt = |source| wanted.corrupt(source);
        let mut reading = self.objects.read(&wanted)?;
        let total_bytes = self.total_with(&path, reading.size_bytes())?;
        if reading.size_bytes() <= CHUNK_BYTES as u64 {
            let bytes = reading.whole().map_err(corrupt)?;
            if kind != FileKind::Link && bytes.len() < LFS_POINTER_BYTES && is_lfs_pointer(&bytes) {
                self.tell(Finding::LfsPointer { path: path.clone() });
            }
            self.group_bytes += bytes.len();
            self.group.push((Entry { path, kind }, bytes.into()));
            if self.group.len() >= GROUP_FILES || self.group_bytes >= GROUP_BYTES {
                self.give_group()?;
            }
        } else {
            let (pieces, receiver) = mpsc::channel(QUEUED_CHUNKS);
            self.give(Found::Streamed(Entry { path, kind }, receiver))?;
            stream(&mut reading, &pieces, corrupt)?;
            reading.finish().map_err(corrupt)?;
            pieces.blocking_send(Piece::End).map_err(|_| ImportError::Interrupted)?;
        }
        self.content_bytes = total_bytes;
        Ok(())
    }

    /// The bytes of all files up to here and this one, which is not read yet.
    fn total_with(&self, path: &RepoPath, size_bytes: u64) -> Result<u64, ImportError> {
        if size_bytes > limits::FILE_BYTES {
            return Err(ImportError::FileTooLarge { path: path.clone(), size: ByteCount::new(size_bytes) });
        }
        let limit = self.options.content_limit;
        match self.content_bytes.checked_add(size_bytes) {
            Some(total) if total <= limit.get() => Ok(total),
            Some(_) | None => Err(ImportError::TooMuchContent { path: path.clone(), limit }),
        }
    }

    fn give_group(&mut self) -> Result<(), ImportError> {
        self.group_bytes = 0;
        let group = std::mem::take(&mut self.group);
        if group.is_empty() { Ok(()) } else { self.give(Found::Several(group)) }
    }

    fn give(&self, found: Found) -> Result<(), ImportError> {
        self.found.blocking_send(found).map_err(|_| ImportError::Interrupted)
    }
}

fn place(above: Option<&RepoPath>, entry: &TreeEntry) -> Result<RepoPath, ImportError> {
    let joined = match above {
        Some(above) => above.join(&entry.name),
        None => RepoPath::from_bytes(&entry.name),
    };
    joined.map_err(|source| {
        let above = above.map(|above| [above.as_bytes(), b"/"].concat()).unwrap_or_default();
        ImportError::PathRefused { path: shown(&[above, entry.name.clone()].concat()), source }
    })
}

fn stream(
    reading: &mut Reading,
    pieces: &Sender<Piece>,
    corrupt: impl Fn(io::Error) -> ImportError,
) -> Result<(), ImportError> {
    loop {
        let bytes = reading.read(CHUNK_BYTES).map_err(&corrupt)?;
        if bytes.is_empty() {
            return Ok(());
        }
        pieces.blocking_send(Piece::Bytes(bytes.into())).map_err(|_| ImportError::Interrupted)?;
    }
}
