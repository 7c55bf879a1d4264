use ambit_canonical::{decode, encode};
use ambit_ids::{ByteCount, Digest, OrganizationId, ProjectId, RunId, Scope};
use serde::{Deserialize, Serialize};

use crate::error::BundleError;
use crate::name::{MemberName, Names};
use crate::{MANIFEST, limits};

/// The kind and version of the list of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManifestKind {
    /// The first version.
    #[serde(rename = "EvidenceBundle/v1")]
    V1,
}

/// A member that belongs to a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// Its name, `/` between components.
    pub name: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// How many they are.
    pub size_bytes: ByteCount,
}

/// What a bundle is about and which members it has. It is signed by nobody, and proves nothing: it tells what is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// The kind and version.
    pub kind: ManifestKind,
    /// The organisation.
    pub organization: OrganizationId,
    /// The project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// Every other member, sorted by name.
    pub members: Vec<Member>,
}

impl Manifest {
    /// Who owns the run.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope { organization: self.organization.clone(), project: self.project.clone() }
    }

    /// The list in canonical form.
    ///
    /// # Errors
    /// [`BundleError::Manifest`] where a number in it cannot be told.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        encode(self)
            .map(ambit_canonical::CanonicalBytes::into_bytes)
            .map_err(|error| BundleError::Manifest { why: error.to_string() })
    }

    /// Reads a list, which must be in canonical form and name what a bundle can hold.
    ///
    /// # Errors
    /// [`BundleError`] says what is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, BundleError> {
        let malformed = |why: String| BundleError::Manifest { why };
        let manifest: Self =
            decode(bytes, limits::MANIFEST_BYTES).map_err(|error| malformed(error.to_string()))?;
        if manifest.members.len() >= limits::MEMBERS {
            return Err(BundleError::TooMuch { what: "members", most: limits::MEMBERS as u64 });
        }
        let mut names = Names::default();
        for (at, member) in manifest.members.iter().enumerate() {
            let taken = MemberName::of(member.name.as_bytes()).and_then(|name| names.take(&name));
            taken.map_err(|fault| malformed(format!("`{}`: {fault}", member.name)))?;
            if member.name == MANIFEST {
                return Err(malformed("it lists itself".to_owned()));
            }
            if at > 0 && manifest.members[at - 1].name >= member.name {
                return Err(malformed("its members are not sorted by name".to_owned()));
            }
        }
        Ok(manifest)
    }
}
