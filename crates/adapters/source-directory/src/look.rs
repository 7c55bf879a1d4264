use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::path::Path;

use ambit_ids::{ByteCount, RepoPath, limits};
use ambit_revision::tree::EntryName;
use ambit_revision::{Contents, FileKind, Listing, Sight, TreeFile};
use rustix::fs::FileType;

use crate::ignore::IgnoreRules;
use crate::limits::LOOKED_BYTES;
use crate::open::{self, Fault, Listed, OpenFile};
use crate::walk::{IGNORE_FILE, open_top, read_ignore_file, special_file, twice, type_of};
use crate::{EntryPath, IgnoreFiles, ImportError, ImportOptions, made};

/// What was seen of a directory.
#[derive(Clone, Debug)]
pub struct Looked {
    /// The directory, and those below it on the way to the paths.
    pub listings: Vec<Listing>,
    /// The contents of the files and links that stand at the paths or in their way.
    pub contents: Contents,
}

/// Looks at what stands at some paths of a directory, as an import would find it: it lists the directories on the way
/// to them, reads the files and links that stand there, and opens nothing else but `.gitignore` files on the way.
///
/// What it costs grows with what is in those directories, not with all that there is. The directory is only read, and no
/// link is followed.
///
/// # Errors
/// [`ImportError`] names the first entry that cannot be read. Entries that the paths do not name are not asked.
pub fn look(dir: &Path, paths: &BTreeSet<RepoPath>, options: ImportOptions) -> Result<Looked, ImportError> {
    let top = open_top(dir)?;
    let mut look = Look {
        options,
        rules: IgnoreRules::default(),
        met: 0,
        content_bytes: 0,
        looked: Looked { listings: Vec::new(), contents: Contents::new() },
    };
    let wanted = paths.iter().map(RepoPath::as_bytes).collect();
    look.directory(&top, &EntryPath::top(), None, wanted)?;
    Ok(look.looked)
}

struct Look {
    options: ImportOptions,
    rules: IgnoreRules,
    met: usize,
    content_bytes: u64,
    looked: Looked,
}

/// What is wanted of one name: the rests of the paths that go on below it. It is empty where the name itself is wanted.
type Wanted<'a> = BTreeMap<&'a [u8], Vec<&'a [u8]>>;

impl Look {
    fn directory(
        &mut self,
        directory: &OwnedFd,
        path: &EntryPath,
        place: Option<&RepoPath>,
        wanted: Vec<&[u8]>,
    ) -> Result<(), ImportError> {
        let listed = self.list(directory, path)?;
        self.enter_rules(directory, path, &listed)?;
        let wanted = by_first_component(wanted);
        let mut entries = Vec::with_capacity(listed.len());
        for entry in &listed {
            // What no path of a tree can name is no part of one; an import counts or refuses it.
            let Ok(name) = EntryName::new(entry.name.to_bytes()) else { continue };
            let below = wanted.get(entry.name.to_bytes());
            let path = path.below(entry.name.to_bytes());
            let found = twice(|anew| self.entry(directory, &path, entry, below, anew))?;
            let sight = match found {
                Found::Nothing => continue,
                Found::Seen(sight) => sight,
                Found::Directory(directory, below) => {
                    let place = RepoPath::from_bytes(path.as_bytes())
                        .map_err(|source| ImportError::PathRefused { path: path.clone(), source })?;
                    self.directory(&directory, &path, Some(&place), below.clone())?;
                    Sight::Directory
                }
            };
            entries.push((name, sight));
        }
        self.rules.leave();
        self.looked.listings.push(Listing { directory: place.cloned(), entries });
        Ok(())
    }

    fn list(&mut self, directory: &OwnedFd, path: &EntryPath) -> Result<Vec<Listed>, ImportError> {
        let failed = |errno: rustix::io::Errno| Fault::from(errno).at(path);
        let mut entries = Vec::new();
        for entry in open::list(directory).map_err(failed)? {
            self.met += 1;
            if self.met > self.options.entry_limit {
                return Err(ImportError::TooManyEntries { limit: self.options.entry_limit });
            }
            entries.push(entry.map_err(failed)?);
        }
        Ok(entries)
    }

    fn enter_rules(
        &mut self,
        directory: &OwnedFd,
        path: &EntryPath,
        listed: &[Listed],
    ) -> Result<(), ImportError> {
        let is_honoured = self.options.ignore_files == IgnoreFiles::Honoured;
        let entry = listed.iter().find(|entry| is_honoured && entry.name.as_c_str() == IGNORE_FILE);
        let file = path.below(IGNORE_FILE.to_bytes());
        let rules = entry.map(|entry| twice(|anew| read_ignore_file(directory, &file, entry, anew)));
        self.rules.enter(path, rules.transpose()?.unwrap_or_default())
    }

    fn entry<'w, 'p>(
        &mut self,
        parent: &OwnedFd,
        path: &EntryPath,
        entry: &Listed,
        below: Option<&'w Vec<&'p [u8]>>,
        anew: bool,
    ) -> Result<Found<'w, 'p>, ImportError> {
        let failed = |fault: Fault| fault.at(path);
        let file_type = type_of(parent, entry, anew).map_err(failed)?;
        if self.rules.leave_out(path, file_type == FileType::Directory) {
            return Ok(Found::Nothing);
        }
        match (file_type, below) {
            (FileType::Directory, None) => Ok(Found::Seen(Sight::Directory)),
            (_, None) => Ok(Found::Seen(Sight::Unread)),
            (FileType::Directory, Some(below)) => {
                let directory = open::directory(parent, entry.name.as_c_str());
                let directory = directory.map_err(|errno| failed(errno.into()))?;
                let is_honoured = self.options.ignore_files == IgnoreFiles::Honoured;
                if is_honoured && made::is_made(&entry.name, &directory) {
                    return Ok(Found::Nothing);
                }
                let goes_on = below.iter().any(|rest| !rest.is_empty());
                Ok(if goes_on { Found::Directory(directory, below) } else { Found::Seen(Sight::Directory) })
            }
            (FileType::RegularFile, Some(_)) => {
                let (kind, bytes) = self.file(parent, path, entry)?;
                Ok(Found::Seen(self.keep(kind, bytes)))
            }
            (FileType::Symlink, Some(_)) => {
                let target = open::link_target(parent, &entry.name).map_err(failed)?;
                Ok(Found::Seen(self.keep(FileKind::Link, target)))
            }
            (special, Some(_)) => Err(special_file(path, special)),
        }
    }

    fn file(
        &mut self,
        parent: &OwnedFd,
        path: &EntryPath,
        entry: &Listed,
    ) -> Result<(FileKind, Vec<u8>), ImportError> {
        let failed = |fault: Fault| fault.at(path);
        let mut file = OpenFile::open(parent, &entry.name).map_err(failed)?;
        let size_bytes = file.size_bytes();
        if size_bytes > limits::FILE_BYTES {
            return Err(ImportError::FileTooLarge { path: path.clone(), size: ByteCount::new(size_bytes) });
        }
        self.content_bytes = self.content_bytes.saturating_add(size_bytes);
        if self.content_bytes > LOOKED_BYTES {
            let limit = ByteCount::new(LOOKED_BYTES);
            return Err(ImportError::TooMuchContent { path: path.clone(), limit });
        }
        let kind = if file.is_executable() { FileKind::Executable } else { FileKind::File };
        let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        Ok((kind, file.whole(size).map_err(failed)?))
    }

    fn keep(&mut self, kind: FileKind, bytes: Vec<u8>) -> Sight {
        let size = ByteCount::new(bytes.len() as u64);
        Sight::Read(TreeFile { kind, size, content: self.looked.contents.insert(bytes) })
    }
}

/// What was found under a name.
enum Found<'w, 'p> {
    /// Something that is no part of the tree.
    Nothing,
    Seen(Sight),
    /// A directory, with the rests of the paths that lead through it.
    Directory(OwnedFd, &'w Vec<&'p [u8]>),
}

fn by_first_component(paths: Vec<&[u8]>) -> Wanted<'_> {
    let mut wanted = Wanted::new();
    for path in paths.into_iter().filter(|path| !path.is_empty()) {
        let slash = path.iter().position(|byte| *byte == b'/');
        let (name, rest) = slash.map_or((path, &[][..]), |at| (&path[..at], &path[at + 1..]));
        wanted.entry(name).or_default().push(rest);
    }
    wanted
}
