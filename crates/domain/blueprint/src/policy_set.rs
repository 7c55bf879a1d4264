use std::collections::BTreeMap;
use std::fmt;

use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_ids::{Digest, DocumentName, limits, vocabulary};
use serde::{Deserialize, Serialize};

use crate::envelope::API_VERSION;
use crate::policy_ref::PolicyRef;
use crate::profile::ExecutionCapabilityProfile;

vocabulary!(
    /// What a policy document is about. A reference is resolved within its subject alone, so that a retention policy
    /// can never stand where an egress policy is wanted.
    PolicySubject {
        /// The catalog of named commands.
        Commands = "commands",
        /// The rules for tool calls.
        ToolRules = "tool-rules",
        /// What a sandbox may reach.
        Egress = "egress",
        /// How secrets are bound.
        Secrets = "secrets",
        /// How long evidence is kept.
        Retention = "retention",
    }
);

/// What a reference names: one version of one document about one subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyKey {
    /// What the document is about.
    pub subject: PolicySubject,
    /// Its name.
    pub name: DocumentName,
    /// Its version.
    pub version: u32,
}

/// A reference, and the digest of the document that it named when the run was pinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedPolicy {
    /// The reference as the profile spells it.
    #[serde(rename = "ref")]
    pub reference: PolicyRef,
    /// The digest of the document.
    pub digest: Digest,
}

/// Everything that decides about a run besides its blueprint, by digest. Its own digest is the policy digest that the
/// run is pinned to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Shape", try_from = "Shape")]
pub struct PolicySet {
    /// The name of the profile.
    pub profile: DocumentName,
    /// The digest of the profile: what it demands of a backend and the ceilings that it sets belong to the policy.
    pub profile_digest: Digest,
    /// The catalog of named commands.
    pub commands: ResolvedPolicy,
    /// What may be reached.
    pub network: ResolvedPolicy,
    /// How secrets are bound.
    pub secrets: ResolvedPolicy,
    /// How long evidence is kept.
    pub retention: ResolvedPolicy,
    /// The rules for tool calls.
    pub tool_rules: ResolvedPolicy,
}

/// Why a policy set cannot be put together or read back. Nothing was pinned.
#[derive(Debug, thiserror::Error)]
pub enum PolicySetError {
    /// No document is known under a reference.
    #[error("{reference} names no known {subject} document; add the document, or name another version")]
    Unresolved {
        /// What the document would have to be about.
        subject: PolicySubject,
        /// The reference.
        reference: PolicyRef,
    },
    /// The profile has no canonical bytes.
    #[error("the profile has no canonical form")]
    Profile(#[from] EncodeError),
    /// The bytes are not those of a set.
    #[error("the bytes are no policy set in canonical form; nothing of them is used")]
    Malformed(#[source] EncodeError),
}

impl PolicySetError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unresolved { .. } => "POLICY_UNRESOLVED",
            Self::Profile(_) => "PROFILE_NOT_CANONICAL",
            Self::Malformed(_) => "POLICY_SET_MALFORMED",
        }
    }
}

impl PolicySet {
    /// Resolves what a profile refers to, and the rules for tool calls, among the known documents.
    ///
    /// # Errors
    /// [`PolicySetError`] names the first reference under which no document about its subject is known.
    pub fn resolve(
        profile: &ExecutionCapabilityProfile,
        tool_rules: &PolicyRef,
        known: &BTreeMap<PolicyKey, Digest>,
    ) -> Result<Self, PolicySetError> {
        let find = |subject, reference: &PolicyRef| {
            let key = PolicyKey { subject, name: reference.name().clone(), version: reference.version() };
            let reference = reference.clone();
            match known.get(&key) {
                Some(digest) => Ok(ResolvedPolicy { reference, digest: *digest }),
                None => Err(PolicySetError::Unresolved { subject, reference }),
            }
        };
        let refs = &profile.spec.policy_refs;
        Ok(Self {
            profile: profile.metadata.name.clone(),
            profile_digest: profile.digest()?,
            commands: find(PolicySubject::Commands, &refs.commands)?,
            network: find(PolicySubject::Egress, &refs.network)?,
            secrets: find(PolicySubject::Secrets, &refs.secrets)?,
            retention: find(PolicySubject::Retention, &refs.retention)?,
            tool_rules: find(PolicySubject::ToolRules, tool_rules)?,
        })
    }

    /// Reads a set from its canonical bytes. Whatever is accepted has exactly these bytes, and so this digest.
    ///
    /// # Errors
    /// [`PolicySetError::Malformed`] where the bytes are of another shape, version or spelling, or more than
    /// [`limits::DOCUMENT_BYTES`].
    pub fn read(bytes: &[u8]) -> Result<Self, PolicySetError> {
        ambit_canonical::decode(bytes, limits::DOCUMENT_BYTES).map_err(PolicySetError::Malformed)
    }

    /// The canonical bytes of the set.
    ///
    /// # Errors
    /// [`EncodeError`], which no set of these types causes.
    pub fn to_canonical(&self) -> Result<CanonicalBytes, EncodeError> {
        ambit_canonical::encode(self)
    }

    /// The digest of the canonical bytes: the policy digest of a run.
    ///
    /// # Errors
    /// As [`PolicySet::to_canonical`].
    pub fn digest(&self) -> Result<Digest, EncodeError> {
        Ok(self.to_canonical()?.digest())
    }
}

/// The members of a set as its bytes have them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Shape {
    api_version: String,
    kind: String,
    profile: DocumentName,
    profile_digest: Digest,
    commands: ResolvedPolicy,
    network: ResolvedPolicy,
    secrets: ResolvedPolicy,
    retention: ResolvedPolicy,
    tool_rules: ResolvedPolicy,
}

const KIND: &str = "PolicySet";

impl From<PolicySet> for Shape {
    fn from(set: PolicySet) -> Self {
        let PolicySet { profile, profile_digest, commands, network, secrets, retention, tool_rules } = set;
        let (api_version, kind) = (API_VERSION.to_owned(), KIND.to_owned());
        Self { api_version, kind, profile, profile_digest, commands, network, secrets, retention, tool_rules }
    }
}

impl TryFrom<Shape> for PolicySet {
    type Error = &'static str;

    fn try_from(shape: Shape) -> Result<Self, Self::Error> {
        if (shape.api_version.as_str(), shape.kind.as_str()) != (API_VERSION, KIND) {
            return Err("not a policy set of a version that is known here");
        }
        let Shape { profile, profile_digest, commands, network, secrets, retention, tool_rules, .. } = shape;
        Ok(Self { profile, profile_digest, commands, network, secrets, retention, tool_rules })
    }
}

impl fmt::Display for PolicyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} v{}", self.subject, self.name, self.version)
    }
}
