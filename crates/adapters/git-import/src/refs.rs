use std::io;

use crate::limits::{INDIRECTIONS, PACKED_REFS_BYTES};
use crate::place::Place;
use crate::repository::Repository;
use crate::rev::is_reference_name;
use crate::{ImportError, ObjectId};

/// The longest file of one reference: a name and the word before it.
const REFERENCE_BYTES: u64 = 2 << 10;

/// Where the references lie that each work tree has for itself. Git packs none of them.
const OWN: [&[u8]; 3] = [b"refs/bisect/", b"refs/rewritten/", b"refs/worktree/"];

/// The references of a repository, as they were when it was opened, or later.
pub(crate) struct Refs<'a> {
    repository: &'a Repository,
    packed: Vec<u8>,
}

/// What a reference says.
enum Said {
    Object(ObjectId),
    Reference(Vec<u8>),
}

impl<'a> Refs<'a> {
    pub(crate) fn open(repository: &'a Repository) -> Result<Self, ImportError> {
        let name = b"packed-refs";
        let packed = repository.common().read(name, PACKED_REFS_BYTES);
        let packed = packed.map_err(|source| unreadable(repository.common(), name, source))?;
        Ok(Self { repository, packed: packed.unwrap_or_default() })
    }

    /// The object that `HEAD` names; `None` where its branch has no commit yet.
    pub(crate) fn head(&self) -> Result<Option<ObjectId>, ImportError> {
        self.follow(b"HEAD")
    }

    /// What git would take the name for, in its order, each with the whole name of the reference.
    pub(crate) fn named(&self, name: &str) -> Result<Vec<(String, ObjectId)>, ImportError> {
        let mut found = Vec::new();
        let whole = name.starts_with("refs/").then(|| name.to_owned());
        let short = ["refs/tags/", "refs/heads/", "refs/remotes/"].map(|above| format!("{above}{name}"));
        for candidate in whole
            .into_iter()
            .chain(short)
            .chain([format!("refs/{name}"), format!("refs/remotes/{name}/HEAD")])
        {
            if let Some(id) = self.follow(candidate.as_bytes())? {
                found.push((candidate, id));
            }
        }
        Ok(found)
    }

    fn follow(&self, name: &[u8]) -> Result<Option<ObjectId>, ImportError> {
        let mut name = name.to_vec();
        for _ in 0..INDIRECTIONS {
            match self.look(&name)? {
                Some(Said::Object(id)) => return Ok(Some(id)),
                Some(Said::Reference(next)) => name = next,
                None => return Ok(None),
            }
        }
        let source = io::Error::other("references name each other without an end");
        Err(unreadable(self.repository.common(), &name, source))
    }

    fn look(&self, name: &[u8]) -> Result<Option<Said>, ImportError> {
        let is_own = name == b"HEAD" || OWN.iter().any(|above| name.starts_with(above));
        let place = if is_own { &self.repository.own } else { self.repository.common() };
        match place.read(name, REFERENCE_BYTES).map_err(|source| unreadable(place, name, source))? {
            Some(content) => said(content.trim_ascii_end(), place, name).map(Some),
            None if is_own => Ok(None),
            None => Ok(self.packed(name)?.map(Said::Object)),
        }
    }

    fn packed(&self, name: &[u8]) -> Result<Option<ObjectId>, ImportError> {
        for line in self.packed.split(|byte| *byte == b'\n') {
            if let Some(digits) = line.strip_suffix(name).and_then(|rest| rest.strip_suffix(b" ")) {
                return object(digits, self.repository.common(), b"packed-refs").map(Some);
            }
        }
        Ok(None)
    }
}

fn said(content: &[u8], place: &Place, name: &[u8]) -> Result<Said, ImportError> {
    match content.strip_prefix(b"ref: ") {
        Some(next) if next.starts_with(b"refs/") && is_reference_name(next) => {
            Ok(Said::Reference(next.to_vec()))
        }
        Some(_) => Err(unreadable(place, name, io::Error::other("it names no reference"))),
        None => object(content, place, name).map(Said::Object),
    }
}

fn object(digits: &[u8], place: &Place, name: &[u8]) -> Result<ObjectId, ImportError> {
    if is_long_name(digits) {
        return Err(ImportError::Format { format: "names of SHA-256" });
    }
    ObjectId::from_hex(digits).ok_or_else(|| unreadable(place, name, io::Error::other("it is no reference")))
}

/// Whether these are the digits of a name in a repository that uses SHA-256.
pub(crate) fn is_long_name(digits: &[u8]) -> bool {
    digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit)
}

fn unreadable(place: &Place, name: &[u8], source: io::Error) -> ImportError {
    ImportError::Unreadable { path: place.path_of(name), source }
}
