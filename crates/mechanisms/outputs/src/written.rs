//! What a command wrote at watched paths.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use ambit_ids::{PathSet, RepoPath};
use ambit_ports::sandbox::{SandboxError, Watch, Written};
use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use crate::{Layer, Workspace};

/// The most entries that are looked at. Whoever writes more has an execution of which nothing is known.
const ENTRIES: usize = 1 << 20;
const LOOKING: &str = "looking at what the command wrote";

/// Looks at the layer that holds what a command wrote, or where none does at the whole workspace. Nothing where no path is
/// watched.
///
/// # Errors
/// [`SandboxError`] where it cannot be told what was written.
pub async fn written(workspace: &dyn Workspace, watched: &PathSet) -> Result<Option<Written>, SandboxError> {
    if watched.0.is_empty() {
        return Ok(None);
    }
    let failed = SandboxError::during(LOOKING);
    let (layer, watch) = match workspace.open(Layer::Written, None).await {
        Ok(Ok(_)) => (Layer::Written, Watch::Course),
        Ok(Err(Errno::OPNOTSUPP)) => (Layer::Workspace, Watch::End),
        Ok(Err(errno)) => return Err(failed(errno.into())),
        Err(error) => return Err(failed(error)),
    };
    let mut look = Look {
        workspace,
        watched,
        layer,
        left: ENTRIES,
        found: Written { watch, files: Vec::new(), emptied: Vec::new() },
        ahead: vec![None],
    };
    while let Some(place) = look.ahead.pop() {
        look.look_into(place).await.map_err(SandboxError::during(LOOKING))?;
    }
    look.found.files.sort();
    look.found.emptied.sort();
    look.found.emptied.dedup();
    Ok(Some(look.found))
}

/// An entry of a directory, and whether it is a directory itself.
type Entry = (Vec<u8>, bool);

struct Look<'a> {
    workspace: &'a dyn Workspace,
    watched: &'a PathSet,
    layer: Layer,
    /// How many entries may still follow.
    left: usize,
    found: Written,
    /// Directories that were not looked into yet. None is held open: there may be more of them than this process may have.
    ahead: Vec<Option<RepoPath>>,
}

impl Look<'_> {
    async fn look_into(&mut self, place: Option<RepoPath>) -> io::Result<()> {
        let most = self.left;
        let entries = match self.workspace.open(self.layer, place.as_ref()).await? {
            Ok(directory) => {
                let listed = tokio::task::spawn_blocking(move || list(&directory, most));
                listed.await.map_err(io::Error::other)??
            }
            Err(errno) => match place {
                // Somebody did not want it to be looked into.
                Some(place) if errno == Errno::ACCESS => {
                    self.found.emptied.push(place);
                    return Ok(());
                }
                _ => return Err(errno.into()),
            },
        };
        self.left -= entries.len();
        if let (true, Some(place), Watch::Course) = (entries.is_empty(), &place, self.found.watch) {
            self.found.emptied.push(place.clone());
        }
        for (name, is_directory) in entries {
            let path = match &place {
                Some(place) => place.join(&name),
                None => RepoPath::from_bytes(&name),
            };
            match path {
                Ok(path) if is_directory => self.ahead.push(Some(path)),
                Ok(path) if self.watched.contains(&path) => self.found.files.push(path),
                Ok(_) => {}
                Err(_) => self.found.emptied.extend(place.clone()),
            }
        }
        Ok(())
    }
}

/// The entries of a directory, at most so many.
fn list(directory: &OwnedFd, most: usize) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        if entries.len() >= most {
            return Err(io::Error::other(format!("it wrote more than {ENTRIES} files and directories")));
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
            }
            known => known,
        };
        entries.push((name.to_bytes().to_vec(), kind == FileType::Directory));
    }
    Ok(entries)
}
