//! One layer of an image: what it has, and what it hides of the layers below it (OCI image specification, "Layer").

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ambit_ports::images::ImageError;

use crate::import::archive::{Archive, Fault, Kind, Member};
use crate::import::bounds::{Allowance, Passed};
use crate::import::error::EntryFault;
use crate::import::member_path::{climbs_out, parts};
use crate::import::spool::{Content, Spool, Unspooled};
use crate::limits;

const WHITEOUT: &[u8] = b".wh.";
const OPAQUE: &[u8] = b".wh..wh..opq";
const SET_ID: u32 = 0o6000;

/// Something that a layer has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    Directory,
    File(Content),
    Link(PathBuf),
    HardLink(PathBuf),
}

/// A layer that was read. No path is in it twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    /// Directories of which nothing below is seen.
    pub(crate) opaque: Vec<PathBuf>,
    /// Paths that are not seen.
    pub(crate) hidden: Vec<PathBuf>,
    /// In the order of the archive.
    pub(crate) entries: Vec<(PathBuf, Put)>,
    seen: BTreeSet<PathBuf>,
}

/// Whether an archive lies over others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    Layers,
    Nothing,
}

/// Why a layer is not taken.
#[derive(Debug)]
pub(crate) enum Untaken {
    Archive(Fault),
    Passed(Passed),
    Store(ImageError),
}

impl From<Passed> for Untaken {
    fn from(passed: Passed) -> Self {
        Self::Passed(passed)
    }
}

impl Layer {
    /// Reads an archive to its end. Contents go to the spool.
    pub(crate) fn read(
        archive: &mut Archive<impl Read>,
        below: Below,
        spool: &mut Spool,
        allowance: &mut Allowance,
    ) -> Result<Self, Untaken> {
        let mut layer = Self::default();
        while let Some(member) = archive.next().map_err(Untaken::Archive)? {
            allowance.entry()?;
            allowance.names(member.path.len() + member.link.len())?;
            let refused = |fault| Untaken::Archive(Fault::Entry(member.path.clone(), fault));
            let path = parts(&member.path).map_err(refused)?;
            if path.iter().count() > allowance.bounds.depth {
                return Err(refused(EntryFault::TooDeep));
            }
            let Some(name) = path.file_name() else {
                // The root itself is there anyway.
                if member.kind == Kind::Directory { continue } else { return Err(refused(EntryFault::Name)) }
            };
            if !layer.seen.insert(path.clone()) {
                return Err(refused(EntryFault::Twice));
            }
            if name.as_bytes().starts_with(WHITEOUT) {
                layer.hide(&path, name, &member, below).map_err(refused)?;
                continue;
            }
            let put = match member.kind {
                Kind::Directory => Put::Directory,
                Kind::Link => Put::Link(link(&path, &member.link).map_err(refused)?),
                Kind::HardLink => Put::HardLink(hard_link(&member.link).map_err(refused)?),
                Kind::File => {
                    allowance.content(member.size_bytes)?;
                    Put::File(content(&member, archive, spool)?)
                }
            };
            layer.entries.push((path, put));
        }
        Ok(layer)
    }

    /// Whether the layer has something of its own at a path.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.seen.contains(path)
    }

    /// Whether the layer has something of its own below a path.
    pub(crate) fn has_below(&self, path: &Path) -> bool {
        // Paths are sorted by their parts, so that what lies below one follows it at once.
        let mut after = self.seen.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
        after.next().is_some_and(|next| next.starts_with(path))
    }

    fn hide(&mut self, path: &Path, name: &OsStr, member: &Member, below: Below) -> Result<(), EntryFault> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let hidden = &name.as_bytes()[WHITEOUT.len()..];
        if below == Below::Nothing || member.kind != Kind::File || member.size_bytes != 0 {
            return Err(EntryFault::Whiteout);
        }
        if name.as_bytes() == OPAQUE {
            self.opaque.push(directory.to_path_buf());
            return Ok(());
        }
        if matches!(hidden, b"" | b"." | b"..") || hidden.starts_with(WHITEOUT) {
            return Err(EntryFault::Whiteout);
        }
        self.hidden.push(directory.join(OsStr::from_bytes(hidden)));
        Ok(())
    }
}

fn content(member: &Member, archive: &mut Archive<impl Read>, spool: &mut Spool) -> Result<Content, Untaken> {
    let id = spool.take(archive).map_err(|error| match error {
        Unspooled::Read(error) => Untaken::Archive(error.into()),
        Unspooled::Write(error) => Untaken::Store(error),
    })?;
    Ok(Content {
        id,
        size_bytes: member.size_bytes,
        is_executable: member.mode & 0o111 != 0,
        had_set_id: member.mode & SET_ID != 0,
        had_attributes: member.has_attributes,
    })
}

fn link(path: &Path, target: &[u8]) -> Result<PathBuf, EntryFault> {
    if target.is_empty() || target.contains(&0) || target.len() > limits::IMPORTED_PATH_BYTES {
        return Err(EntryFault::Name);
    }
    let target = PathBuf::from(OsStr::from_bytes(target));
    if climbs_out(path, &target) { Err(EntryFault::LinkLeaves) } else { Ok(target) }
}

fn hard_link(target: &[u8]) -> Result<PathBuf, EntryFault> {
    parts(target).map_err(|fault| match fault {
        EntryFault::Absolute | EntryFault::Climbs => EntryFault::HardLinkLeaves,
        other => other,
    })
}
