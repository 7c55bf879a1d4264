//! A directory: first all of it is looked at, within its bounds, and then its files are taken.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;

use ambit_ids::{ByteCount, RepoPath, limits};
use ambit_ports::sandbox::{ExportedOutput, OutputRefusal, RefusedOutput, SandboxError};
use rustix::fs::{AtFlags, Dir, FileType, statat};

use crate::{Taking, blocking, refusal_of};

type Taken = (Vec<ExportedOutput>, Vec<RefusedOutput>);

/// An entry of a directory: its name, and what it is, where that can be told without opening it.
struct Entry {
    name: Vec<u8>,
    kind: Option<FileType>,
}

/// What was found of a directory so far.
struct Found {
    /// How many entries may still follow.
    entries: u32,
    /// How many bytes.
    bytes: u64,
    files: Vec<RepoPath>,
    refused: Vec<RefusedOutput>,
    /// Directories that were not looked into yet, each with its depth, the declared one at 1. None is held open: there may
    /// be more of them than this process may have open.
    ahead: Vec<(RepoPath, usize)>,
}

impl Taking<'_> {
    /// Takes every file below a directory that can be taken, or, where a bound is passed, none.
    pub(crate) async fn directory(
        &self,
        path: &RepoPath,
        bytes: ByteCount,
        entries: u32,
    ) -> Result<Result<Taken, OutputRefusal>, SandboxError> {
        let limit = bytes.get().min(limits::OUTPUT_DIRECTORY_BYTES);
        let mut found = Found {
            entries: entries.min(limits::OUTPUT_DIRECTORY_ENTRIES),
            bytes: limit,
            files: Vec::new(),
            refused: Vec::new(),
            ahead: vec![(path.clone(), 1)],
        };
        match self.open(path).await? {
            Ok(top) if is_directory(&top) => {}
            Ok(_) => return Ok(Err(OutputRefusal::NotADirectory)),
            Err(why) => return Ok(Err(why)),
        }
        while let Some((place, depth)) = found.ahead.pop() {
            let most = found.entries;
            let entries = match self.open(&place).await? {
                Ok(directory) => blocking(move || list(&directory, most)).await?,
                Err(why) => Err(why),
            };
            let entries = match entries {
                Ok(entries) => entries,
                Err(OutputRefusal::TooMany) => return Ok(Err(OutputRefusal::TooMany)),
                Err(why) => {
                    found.refused.push(refusal_of(&place, why));
                    continue;
                }
            };
            found.entries -= u32::try_from(entries.len()).unwrap_or(most);
            for entry in entries {
                if let Err(why) = self.look_at(&place, &entry, depth, &mut found).await? {
                    return Ok(Err(why));
                }
            }
        }
        self.take(found, limit).await
    }

    /// Looks at one entry. What is wrong with it alone is noted; a bound that is passed is the answer.
    async fn look_at(
        &self,
        place: &RepoPath,
        entry: &Entry,
        depth: usize,
        found: &mut Found,
    ) -> Result<Result<(), OutputRefusal>, SandboxError> {
        let Ok(path) = place.join(&entry.name) else {
            let name = Some(entry.name.escape_ascii().to_string());
            found.refused.push(RefusedOutput { path: place.clone(), entry: name, why: OutputRefusal::Name });
            return Ok(Ok(()));
        };
        let refused = match entry.kind {
            Some(FileType::Symlink) => Some(OutputRefusal::Link),
            None | Some(FileType::RegularFile | FileType::Directory) => None,
            Some(_) => Some(OutputRefusal::NotAFile),
        };
        if let Some(why) = refused {
            found.refused.push(refusal_of(&path, why));
            return Ok(Ok(()));
        }
        let opened = match self.open(&path).await? {
            Ok(opened) => opened,
            Err(why) => {
                found.refused.push(refusal_of(&path, why));
                return Ok(Ok(()));
            }
        };
        if is_directory(&opened) {
            if depth >= limits::OUTPUT_DIRECTORY_DEPTH {
                return Ok(Err(OutputRefusal::TooDeep));
            }
            found.ahead.push((path, depth + 1));
            return Ok(Ok(()));
        }
        Ok(found.add_file(path, &File::from(opened)))
    }

    /// Takes what was found.
    async fn take(&self, mut found: Found, limit: u64) -> Result<Result<Taken, OutputRefusal>, SandboxError> {
        found.files.sort();
        let mut kept = Vec::with_capacity(found.files.len());
        let mut left = limit;
        for path in &found.files {
            match self.file(path, left).await? {
                Ok(output) => {
                    left = left.saturating_sub(output.bytes.get());
                    kept.push(output);
                }
                Err(OutputRefusal::TooLarge) => return Ok(Err(OutputRefusal::TooLarge)),
                Err(why) => found.refused.push(refusal_of(path, why)),
            }
        }
        found.refused.sort_by(|left, right| (&left.path, &left.entry).cmp(&(&right.path, &right.entry)));
        Ok(Ok((kept, found.refused)))
    }
}

impl Found {
    fn add_file(&mut self, path: RepoPath, file: &File) -> Result<(), OutputRefusal> {
        let why = match file.metadata() {
            Ok(metadata) if !metadata.is_file() => OutputRefusal::NotAFile,
            Ok(metadata) if metadata.nlink() > 1 => OutputRefusal::HardLink,
            Ok(metadata) => {
                self.bytes = self.bytes.checked_sub(metadata.size()).ok_or(OutputRefusal::TooLarge)?;
                self.files.push(path);
                return Ok(());
            }
            Err(_) => OutputRefusal::Unreadable,
        };
        self.refused.push(refusal_of(&path, why));
        Ok(())
    }
}

fn is_directory(opened: &OwnedFd) -> bool {
    rustix::fs::fstat(opened).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// The entries of a directory, sorted by name, at most so many.
fn list(directory: &OwnedFd, most: u32) -> Result<Vec<Entry>, OutputRefusal> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory).map_err(|_| OutputRefusal::Unreadable)? {
        let name = entry.map_err(|_| OutputRefusal::Unreadable)?.file_name().to_owned();
        if [c".", c".."].contains(&name.as_c_str()) {
            continue;
        }
        if entries.len() as u64 >= u64::from(most) {
            return Err(OutputRefusal::TooMany);
        }
        let stat = statat(directory.as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = stat.ok().map(|stat| FileType::from_raw_mode(stat.st_mode));
        entries.push(Entry { name: name.into_bytes(), kind });
    }
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(entries)
}
