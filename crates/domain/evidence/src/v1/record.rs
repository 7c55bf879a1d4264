use ambit_ids::{Digest, OrganizationId, ProjectId, RunId};
use serde::{Deserialize, Serialize};

use super::body::RunBody;
use super::project::ProjectBody;
use crate::StreamName;

/// One row: a material action or decision, with its actor, scope, precondition, artifact, time and environment.
///
/// Its canonical bytes are the leaf of the chain. Payloads lie in blobs; here are their digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// 1.
    pub v: Version,
    /// The organisation that owns the stream.
    pub org: OrganizationId,
    /// The project that owns the stream.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<ProjectId>,
    /// The run whose stream it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<RunId>,
    /// The position in the stream, gapless from 0.
    pub seq: u64,
    /// The leaf hash of the record before. For the first record of a run, that of the project's newest record when the
    /// run was admitted; for the first record of any other stream, the hash of the stream's name.
    pub prev: Digest,
    /// 16 random bytes in base64, so that nobody can guess a record of few possible contents from its hash.
    pub salt: String,
    /// When: RFC 3339 in UTC with exactly three decimals, by the clock of the control plane. Never used for order.
    pub ts: String,
    /// Who acted or decided.
    pub actor: Actor,
    /// What held before, as far as the action depends on it.
    pub precondition: Precondition,
    /// The digest of the exact object that was acted on or decided about, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub artifact: Option<Digest>,
    /// Where it happened.
    pub environment: Environment,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// The version of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(1)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(serde::de::Error::custom(format_args!("records of version {other} are not known"))),
        }
    }
}

/// Who acted: an identity that the control plane authenticated or is, never a text that an agent gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Actor {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: ActorKind,
    /// Which one.
    pub id: String,
}

/// What an actor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActorKind {
    /// A run, acting through its agent.
    Run,
    /// A person.
    Human,
    /// A part of the control plane.
    Service,
}

/// What held before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Precondition {
    /// The digest of the run's tree.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<Digest>,
    /// The phase of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase: Option<String>,
    /// The last record of the project that was known then, where what happened depends on the project as it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<Digest>,
}

/// Where it happened, by digest of everything that it depended on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Environment {
    /// The program and its version.
    pub program: String,
    /// The blueprint.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blueprint: Option<Digest>,
    /// The policy set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<Digest>,
    /// The execution profile, by name and digest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub profile: Option<String>,
    /// The sandbox image.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<Digest>,
    /// The volumes that the commands of the run name, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<Digest>,
    /// The measured capability manifest of the sandbox in hand. It says what the machine lacks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub manifest: Option<Digest>,
}

impl Environment {
    /// Where something happened that depends on nothing but the program.
    #[must_use]
    pub fn of_program(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            blueprint: None,
            policy: None,
            profile: None,
            image: None,
            volumes: Vec::new(),
            manifest: None,
        }
    }
}

/// What happened, in a run or in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// In a run.
    Run(Box<RunBody>),
    /// In a project.
    Project(Box<ProjectBody>),
}

impl Record {
    /// The stream that the record says it belongs to.
    #[must_use]
    pub fn stream(&self) -> StreamName {
        StreamName { organization: self.org.clone(), project: self.project.clone(), run: self.run.clone() }
    }

    /// The kind, as it is listed.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.body {
            Body::Run(body) => body.kind(),
            Body::Project(body) => body.kind(),
        }
    }
}
