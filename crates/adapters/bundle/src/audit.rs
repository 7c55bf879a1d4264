use std::collections::BTreeMap;
use std::io::Read as _;

use ambit_ids::Digest;
use sha2::{Digest as _, Sha256};

use crate::MANIFEST;
use crate::error::BundleError;
use crate::manifest::Manifest;
use crate::source::{Contents, Entry};

/// How much of a member is read at a time.
const CHUNK: usize = 64 << 10;

/// The members of a bundle beside the list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// What is there, each with the digest of what it holds. The list itself is not among them.
    pub present: BTreeMap<String, Digest>,
    /// What is listed and not there.
    pub missing: Vec<String>,
    /// What is there and not what is listed.
    pub altered: Vec<String>,
    /// What is there and not listed.
    pub unlisted: Vec<String>,
}

impl Audit {
    pub(crate) fn of(contents: &Contents, manifest: &Manifest) -> Result<Self, BundleError> {
        let mut audit = Self::default();
        for entry in contents.entries() {
            if entry.name.as_str() != MANIFEST {
                audit.present.insert(entry.name.to_string(), digest(contents, entry)?);
            }
        }
        for member in &manifest.members {
            match audit.present.get(&member.name) {
                None => audit.missing.push(member.name.clone()),
                Some(found) if *found == member.digest => {}
                Some(_) => audit.altered.push(member.name.clone()),
            }
        }
        let listed = |name: &String| {
            manifest.members.binary_search_by(|member| member.name.as_str().cmp(name)).is_ok()
        };
        audit.unlisted = audit.present.keys().filter(|name| !listed(name)).cloned().collect();
        Ok(audit)
    }
}

fn digest(contents: &Contents, entry: &Entry) -> Result<Digest, BundleError> {
    let mut hash = Sha256::new();
    let mut reader = contents.read(entry)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = reader.read(&mut chunk).map_err(|error| BundleError::io(entry.name.as_str(), error))?;
        if read == 0 {
            return Ok(Digest::from_bytes(hash.finalize().into()));
        }
        hash.update(&chunk[..read]);
    }
}
