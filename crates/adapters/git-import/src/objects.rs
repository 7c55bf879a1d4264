use std::io;

use crate::import_error::Absence;
use crate::inflate::{TooCostly, Unpacking};
use crate::limits::{COMMIT_BYTES, INDIRECTIONS, PACKS};
use crate::object::{target_of_tag, tree_of_commit};
use crate::pack::{Bases, Pack};
use crate::place::Place;
use crate::reading::Reading;
use crate::refs::{Refs, is_long_name};
use crate::repository::Repository;
use crate::{CommitId, ImportError, ObjectId, ObjectKind, Rev, loose};

/// The most entries of the directory of packs that are looked through.
const PACK_FILES: usize = 16 * PACKS;
/// The most objects that may begin with the same digits; of more, none is looked at.
const CANDIDATES: usize = 4_096;
/// The most commits that are told to begin with the same digits.
const TOLD_CANDIDATES: usize = 16;

/// The objects of a repository, loose and packed.
pub(crate) struct Objects<'a> {
    repository: &'a Repository,
    packs: Packs,
    bases: Bases,
    unpacking: Unpacking,
}

#[derive(Default)]
struct Packs {
    place: Option<Place>,
    packs: Vec<Pack>,
    /// Whether git would fetch what is missing.
    is_partial: bool,
}

/// Where an object is wanted, for messages.
pub(crate) struct Wanted<'a> {
    pub(crate) id: ObjectId,
    pub(crate) kind: ObjectKind,
    pub(crate) path: &'a str,
    /// The most bytes that it may have. A larger blob is refused by whoever reads it.
    pub(crate) limit_bytes: u64,
}

impl Wanted<'_> {
    pub(crate) fn corrupt(&self, source: io::Error) -> ImportError {
        let is_too_costly = match source.get_ref() {
            Some(inner) => inner.is::<TooCostly>(),
            None => false,
        };
        if is_too_costly {
            return ImportError::TooCostly { path: self.path.to_owned() };
        }
        ImportError::Corrupt { id: self.id, kind: self.kind, path: self.path.to_owned(), source }
    }
}

impl<'a> Objects<'a> {
    pub(crate) fn open(repository: &'a Repository) -> Result<Self, ImportError> {
        let packs = Packs::open(&repository.objects)?;
        Ok(Self { repository, packs, bases: Bases::default(), unpacking: Unpacking::default() })
    }

    /// Opens an object that must be there and of its kind.
    pub(crate) fn read(&mut self, wanted: &Wanted<'_>) -> Result<Reading, ImportError> {
        let reading = match self.find(wanted)? {
            Some(reading) => reading,
            // Git may have moved it into another pack meanwhile.
            None => {
                self.packs = Packs::open(&self.repository.objects)?;
                self.bases = Bases::default();
                self.find(wanted)?.ok_or_else(|| self.missing(wanted))?
            }
        };
        if reading.kind() != wanted.kind {
            let found = format!("it is a {}", reading.kind());
            return Err(wanted.corrupt(io::Error::new(io::ErrorKind::InvalidData, found)));
        }
        if wanted.kind != ObjectKind::Blob && reading.size_bytes() > wanted.limit_bytes {
            return Err(wanted.corrupt(io::Error::new(io::ErrorKind::InvalidData, "it is too large")));
        }
        Ok(reading)
    }

    fn find(&mut self, wanted: &Wanted<'_>) -> Result<Option<Reading>, ImportError> {
        let corrupt = |source| wanted.corrupt(source);
        if let Some(place) = &self.packs.place {
            for pack in &self.packs.packs {
                let Some(offset) = pack.index().offset(wanted.id).map_err(corrupt)? else { continue };
                let (bases, unpacking) = (&mut self.bases, &self.unpacking);
                match pack.read(place, wanted.id, offset, wanted.limit_bytes, bases, unpacking) {
                    Ok(reading) => return Ok(Some(reading)),
                    // The pack went away after its index was opened.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(corrupt(error)),
                }
            }
        }
        loose::open(&self.repository.objects, wanted.id, &self.unpacking).map_err(corrupt)
    }

    fn missing(&self, wanted: &Wanted<'_>) -> ImportError {
        let common = self.repository.common();
        let is_there = |name: &[u8]| common.file(name).is_ok_and(|file| file.is_some());
        let absence = if self.packs.is_partial {
            Absence::PartialClone
        } else if is_there(b"objects/info/alternates") {
            Absence::Alternates
        } else if wanted.kind == ObjectKind::Commit && is_there(b"shallow") {
            Absence::Shallow
        } else {
            Absence::Unexplained
        };
        ImportError::Missing { id: wanted.id, kind: wanted.kind, path: wanted.path.to_owned(), absence }
    }

    /// The commit that somebody named, and its tree.
    pub(crate) fn resolve(
        &mut self,
        refs: &Refs<'_>,
        rev: &Rev,
    ) -> Result<(CommitId, ObjectId), ImportError> {
        let not_found = || ImportError::RevisionNotFound { rev: rev.to_string() };
        let id = match rev {
            Rev::Head => refs.head()?.ok_or(ImportError::NoCommit)?,
            Rev::Exact(id) => *id,
            Rev::Name(name) => match refs.named(name)?.as_slice() {
                [] if is_long_name(name.as_bytes()) => {
                    return Err(ImportError::Format { format: "names of SHA-256" });
                }
                [] => return self.abbreviated(name)?.ok_or_else(not_found),
                [(_, id)] => *id,
                several => {
                    let found = several.iter().map(|(name, _)| name.clone()).collect();
                    return Err(ImportError::Ambiguous { rev: rev.to_string(), found });
                }
            },
        };
        self.peel(id)
    }

    /// The one commit, or tag of one, whose name begins with these digits.
    fn abbreviated(&mut self, name: &str) -> Result<Option<(CommitId, ObjectId)>, ImportError> {
        let Some(digits) = Rev::digits(name) else { return Ok(None) };
        let mut found = Vec::new();
        let objects = &self.repository.objects;
        let unreadable = |source| ImportError::Unreadable { path: objects.path().to_owned(), source };
        for pack in &self.packs.packs {
            pack.index().with_prefix(&digits, CANDIDATES + 1, &mut found).map_err(unreadable)?;
        }
        loose::with_prefix(objects, &digits, &mut found).map_err(unreadable)?;
        found.sort_unstable();
        found.dedup();
        let ambiguous = |mut names: Vec<String>| {
            names.truncate(TOLD_CANDIDATES);
            Err(ImportError::Ambiguous { rev: name.to_owned(), found: names })
        };
        if found.len() > CANDIDATES {
            return ambiguous(found.iter().take(TOLD_CANDIDATES).map(ToString::to_string).collect());
        }
        let (mut commits, mut names) = (Vec::new(), Vec::new());
        for id in found {
            match self.peel(id) {
                Ok(commit) => {
                    commits.push(commit);
                    names.push(id.to_string());
                }
                Err(ImportError::Corrupt { .. } | ImportError::NotACommit { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        match commits.as_slice() {
            [] => Ok(None),
            [commit] => Ok(Some(*commit)),
            _ => ambiguous(names),
        }
    }

    /// Follows tags to a commit.
    fn peel(&mut self, mut id: ObjectId) -> Result<(CommitId, ObjectId), ImportError> {
        for _ in 0..INDIRECTIONS {
            let wanted = Wanted { id, kind: ObjectKind::Commit, path: "", limit_bytes: COMMIT_BYTES };
            let reading = match self.find(&wanted)? {
                Some(reading) if reading.kind() == ObjectKind::Tag => reading,
                Some(reading) if reading.kind() != ObjectKind::Commit => {
                    return Err(ImportError::NotACommit { id, kind: reading.kind() });
                }
                Some(_) | None => {
                    let bytes = self.read(&wanted)?.whole().map_err(|source| wanted.corrupt(source))?;
                    let malformed = || wanted.corrupt(io::ErrorKind::InvalidData.into());
                    return Ok((CommitId(id), tree_of_commit(&bytes).ok_or_else(malformed)?));
                }
            };
            let wanted = Wanted { kind: ObjectKind::Tag, ..wanted };
            if reading.size_bytes() > wanted.limit_bytes {
                return Err(wanted.corrupt(io::ErrorKind::InvalidData.into()));
            }
            let bytes = reading.whole().map_err(|source| wanted.corrupt(source))?;
            let (target, kind) =
                target_of_tag(&bytes).ok_or_else(|| wanted.corrupt(io::ErrorKind::InvalidData.into()))?;
            if !matches!(kind, ObjectKind::Commit | ObjectKind::Tag) {
                return Err(ImportError::NotACommit { id: target, kind });
            }
            id = target;
        }
        Err(ImportError::NotACommit { id, kind: ObjectKind::Tag })
    }
}

impl Packs {
    fn open(objects: &Place) -> Result<Self, ImportError> {
        let unreadable =
            |name: &[u8], source| ImportError::Unreadable { path: objects.path_of(name), source };
        let place = objects.directory(b"pack").map_err(|source| unreadable(b"pack", source))?;
        let Some(place) = place else { return Ok(Self::default()) };
        let mut packs = Vec::new();
        let mut is_partial = false;
        for name in place.names(PACK_FILES).map_err(|source| unreadable(b"pack", source))? {
            is_partial |= name.ends_with(b".promisor");
            let Some(stem) = name.strip_suffix(b".idx") else { continue };
            if packs.len() == PACKS {
                return Err(ImportError::TooManyPacks);
            }
            let pack = Pack::open(&place, packs.len(), stem)
                .map_err(|source| ImportError::Unreadable { path: place.path_of(&name), source })?;
            packs.extend(pack);
        }
        Ok(Self { place: Some(place), packs, is_partial })
    }
}
