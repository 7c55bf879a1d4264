use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use ambit_ids::{ByteCount, PathError, RepoPath, limits};
use ambit_revision::FileKind;
use rustix::fs::FileType;
use rustix::io::Errno;
use tokio::sync::mpsc::{self, Sender};

use crate::found::{Content, Found, Piece};
use crate::ignore::{self, IgnoreRules};
use crate::limits::{CHUNK_BYTES, IGNORE_FILE_BYTES, QUEUED_CHUNKS};
use crate::made;
use crate::open::{self, Fault, Listed, OpenFile};
use crate::{EntryPath, IgnoreFiles, ImportError, ImportOptions, SpecialFile};

pub(crate) const IGNORE_FILE: &CStr = c".gitignore";

/// What was met and not taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    pub(crate) git: u64,
    pub(crate) ignored: u64,
}

/// Walks a directory and hands over everything that is found, until whatever takes it is gone.
pub(crate) fn walk(
    dir: &Path,
    options: ImportOptions,
    found: &Sender<Found>,
) -> Result<LeftOut, ImportError> {
    let top = open_top(dir)?;
    let mut walk = Walk {
        options,
        found,
        rules: IgnoreRules::default(),
        met: 0,
        content_bytes: 0,
        left_out: LeftOut::default(),
    };
    walk.directory(&top, &EntryPath::top())?;
    Ok(walk.left_out)
}

/// Opens the directory that is read.
pub(crate) fn open_top(dir: &Path) -> Result<OwnedFd, ImportError> {
    open::top(dir).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {
            ImportError::NotADirectory { path: dir.to_owned(), source: errno.into() }
        }
        _ => ImportError::Unreadable { path: EntryPath::top(), source: errno.into() },
    })
}

struct Walk<'a> {
    options: ImportOptions,
    found: &'a Sender<Found>,
    rules: IgnoreRules,
    met: usize,
    content_bytes: u64,
    left_out: LeftOut,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &OwnedFd, path: &EntryPath) -> Result<(), ImportError> {
        let entries = self.list(directory, path)?;
        self.enter_rules(directory, path, &entries)?;
        for entry in &entries {
            self.entry(directory, path, entry)?;
        }
        self.rules.leave();
        Ok(())
    }

    /// The entries in the order of their names, so that the same directory always fails at the same entry.
    fn list(&mut self, directory: &OwnedFd, path: &EntryPath) -> Result<Vec<Listed>, ImportError> {
        let failed = |errno: Errno| Fault::from(errno).at(path);
        let mut entries = Vec::new();
        for entry in open::list(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.met += 1;
            if self.met > self.options.entry_limit {
                return Err(ImportError::TooManyEntries { limit: self.options.entry_limit });
            }
            entries.push(entry);
        }
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn enter_rules(
        &mut self,
        directory: &OwnedFd,
        above: &EntryPath,
        entries: &[Listed],
    ) -> Result<(), ImportError> {
        let listed = entries.iter().find(|entry| entry.name.as_c_str() == IGNORE_FILE);
        let rules = match listed {
            Some(entry) if self.options.ignore_files == IgnoreFiles::Honoured => {
                let path = above.below(IGNORE_FILE.to_bytes());
                twice(|anew| read_ignore_file(directory, &path, entry, anew))?
            }
            Some(_) | None => Vec::new(),
        };
        self.rules.enter(above, rules)
    }

    fn entry(&mut self, parent: &OwnedFd, above: &EntryPath, entry: &Listed) -> Result<(), ImportError> {
        if self.found.is_closed() {
            return Err(ImportError::Interrupted);
        }
        if RepoPath::from_bytes(entry.name.to_bytes()) == Err(PathError::GitDirectory) {
            self.left_out.git += 1;
            return Ok(());
        }
        let path = above.below(entry.name.to_bytes());
        match twice(|anew| self.take(parent, &path, entry, anew))? {
            Some(directory) => self.directory(&directory, &path),
            None => Ok(()),
        }
    }

    /// Takes a file or link, or opens a directory.
    fn take(
        &mut self,
        parent: &OwnedFd,
        path: &EntryPath,
        entry: &Listed,
        anew: bool,
    ) -> Result<Option<OwnedFd>, ImportError> {
        let failed = |fault: Fault| fault.at(path);
        let file_type = type_of(parent, entry, anew).map_err(failed)?;
        if self.rules.leave_out(path, file_type == FileType::Directory) {
            self.left_out.ignored += 1;
            return Ok(None);
        }
        let place = RepoPath::from_bytes(path.as_bytes())
            .map_err(|source| ImportError::PathRefused { path: path.clone(), source })?;
        match file_type {
            FileType::Directory => {
                let directory = open::directory(parent, entry.name.as_c_str());
                let directory = directory.map_err(|errno| failed(errno.into()))?;
                if self.options.ignore_files == IgnoreFiles::Honoured
                    && made::is_made(&entry.name, &directory)
                {
                    self.left_out.ignored = self.left_out.ignored.saturating_add(1);
                    return Ok(None);
                }
                Ok(Some(directory))
            }
            FileType::RegularFile => self.file(parent, path, place, entry).map(|()| None),
            FileType::Symlink => {
                let target = open::link_target(parent, &entry.name).map_err(failed)?;
                self.give(place, FileKind::Link, Content::Whole(target.into()))?;
                Ok(None)
            }
            special => Err(special_file(path, special)),
        }
    }

    fn file(
        &mut self,
        parent: &OwnedFd,
        path: &EntryPath,
        place: RepoPath,
        entry: &Listed,
    ) -> Result<(), ImportError> {
        let failed = |fault: Fault| fault.at(path);
        let mut file = OpenFile::open(parent, &entry.name).map_err(failed)?;
        let total_bytes = self.total_with(path, file.size_bytes())?;
        let kind = if file.is_executable() { FileKind::Executable } else { FileKind::File };
        if file.size_bytes() <= CHUNK_BYTES as u64 {
            let bytes = file.whole(CHUNK_BYTES).map_err(failed)?;
            self.give(place, kind, Content::Whole(bytes.into()))?;
        } else {
            let (pieces, receiver) = mpsc::channel(QUEUED_CHUNKS);
            self.give(place, kind, Content::Streamed(receiver))?;
            stream(&mut file, path, &pieces)?;
        }
        self.content_bytes = total_bytes;
        Ok(())
    }

    /// The bytes of all files up to here and this one, which is not read yet.
    fn total_with(&self, path: &EntryPath, size_bytes: u64) -> Result<u64, ImportError> {
        let path = path.clone();
        if size_bytes > limits::FILE_BYTES {
            return Err(ImportError::FileTooLarge { path, size: ByteCount::new(size_bytes) });
        }
        let limit = self.options.content_limit;
        match self.content_bytes.checked_add(size_bytes) {
            Some(total) if total <= limit.get() => Ok(total),
            Some(_) | None => Err(ImportError::TooMuchContent { path, limit }),
        }
    }

    fn give(&self, path: RepoPath, kind: FileKind, content: Content) -> Result<(), ImportError> {
        self.found.blocking_send(Found { path, kind, content }).map_err(|_| ImportError::Interrupted)
    }
}

fn stream(file: &mut OpenFile, path: &EntryPath, pieces: &Sender<Piece>) -> Result<(), ImportError> {
    let failed = |fault: Fault| fault.at(path);
    let give = |piece| pieces.blocking_send(piece).map_err(|_| ImportError::Interrupted);
    let mut read_bytes = 0;
    loop {
        let bytes = file.read(CHUNK_BYTES).map_err(failed)?;
        read_bytes += bytes.len() as u64;
        if bytes.is_empty() || read_bytes > file.size_bytes() {
            break;
        }
        give(Piece::Bytes(bytes.into()))?;
    }
    file.unchanged(read_bytes).map_err(failed)?;
    give(Piece::End)
}

pub(crate) fn read_ignore_file(
    directory: &OwnedFd,
    path: &EntryPath,
    entry: &Listed,
    anew: bool,
) -> Result<Vec<ignore::Rule>, ImportError> {
    let failed = |fault: Fault| fault.at(path);
    // A link or a directory of this name holds no rules, as git has it.
    if type_of(directory, entry, anew).map_err(failed)? != FileType::RegularFile {
        return Ok(Vec::new());
    }
    let mut file = OpenFile::open(directory, &entry.name).map_err(failed)?;
    if file.size_bytes() > IGNORE_FILE_BYTES as u64 {
        return Err(ImportError::IgnoreFileTooLarge { path: path.clone() });
    }
    Ok(ignore::parse(&file.whole(IGNORE_FILE_BYTES).map_err(failed)?))
}

/// That an entry is of a kind that no tree can hold.
pub(crate) fn special_file(path: &EntryPath, file_type: FileType) -> ImportError {
    let kind = match file_type {
        FileType::Fifo => SpecialFile::Pipe,
        FileType::Socket => SpecialFile::Socket,
        FileType::CharacterDevice => SpecialFile::CharacterDevice,
        FileType::BlockDevice => SpecialFile::BlockDevice,
        _ => SpecialFile::Unknown,
    };
    ImportError::SpecialFile { path: path.clone(), kind }
}

/// What an entry is: as its directory said where it did, and asked anew where that proved wrong.
pub(crate) fn type_of(parent: &OwnedFd, entry: &Listed, anew: bool) -> Result<FileType, Fault> {
    if anew || entry.file_type == FileType::Unknown {
        return Ok(open::file_type(parent, &entry.name)?);
    }
    Ok(entry.file_type)
}

/// Does something once more where an entry changed meanwhile, and looks anew at what it is then.
pub(crate) fn twice<T>(mut attempt: impl FnMut(bool) -> Result<T, ImportError>) -> Result<T, ImportError> {
    match attempt(false) {
        Err(ImportError::Changed { .. }) => attempt(true),
        outcome => outcome,
    }
}
