use ambit_ids::{AgentId, BackendId, BlueprintId, Digest, DocumentName, RevisionId, RunId};
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType, all_refer};
use crate::statement::ResourceDescriptor;
use crate::wording::{Moment, Name, Uri, WordingError};

/// The build type: a run. What its parameters mean stands with [`ExternalParameters`] and [`InternalParameters`].
pub const RUN_BUILD_TYPE: &str = "urn:ambit:build:run:v1";

/// How a revision came to be (SLSA provenance, version 1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// What went in.
    pub build_definition: BuildDefinition,
    /// What happened.
    pub run_details: RunDetails,
}

/// What went into a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildDefinition {
    /// [`RUN_BUILD_TYPE`].
    pub build_type: Uri,
    /// What people asked for: all of it, and nothing that is not named here.
    pub external_parameters: ExternalParameters,
    /// What the platform chose.
    pub internal_parameters: InternalParameters,
    /// Every content that either of them names, by digest.
    pub resolved_dependencies: Vec<ResourceDescriptor>,
}

/// What people asked for. A member that is not known here is one that a reader cannot judge, so it is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalParameters {
    /// The blueprint, by name. Its digest is a dependency.
    pub blueprint: BlueprintId,
    /// The revision that the run started from. Its tree is a dependency.
    pub base_revision: RevisionId,
    /// The execution profile, by name. Its digest is a dependency.
    pub profile: DocumentName,
    /// The digest of the request that the run answers, where it answers one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revision_request: Option<Digest>,
}

/// What the platform chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InternalParameters {
    /// Who answered the turns.
    pub agent: AgentId,
    /// The digest of the agent's definition.
    pub agent_definition: Digest,
    /// What made the sandbox.
    pub backend: BackendId,
    /// The program and its version.
    pub program: Name,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDetails {
    /// The deployment.
    pub builder: Builder,
    /// Which run, and when.
    pub metadata: BuildMetadata,
    /// What else it made: its trace, its patches, the manifest of its sandbox.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub byproducts: Vec<ResourceDescriptor>,
}

/// Everything that must be trusted for the statement to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Builder {
    /// The deployment.
    pub id: Uri,
}

/// Which run, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildMetadata {
    /// The run.
    pub invocation_id: RunId,
    /// When it was admitted.
    pub started_on: Moment,
    /// When it ended.
    pub finished_on: Moment,
}

/// What the records of a run say of how its revision came to be.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The deployment.
    pub deployment: Uri,
    /// The run.
    pub run: RunId,
    /// When it was admitted.
    pub started: Moment,
    /// When it ended.
    pub finished: Moment,
    /// The program and its version.
    pub program: Name,
    /// The blueprint.
    pub blueprint: (BlueprintId, Digest),
    /// The revision that it started from, and its tree.
    pub base: (RevisionId, Digest),
    /// The execution profile.
    pub profile: (DocumentName, Digest),
    /// The request that it answers.
    pub request: Option<Digest>,
    /// Who answered the turns, and the digest of what that is.
    pub agent: (AgentId, Digest),
    /// What made the sandbox.
    pub backend: BackendId,
    /// The catalog of named commands.
    pub catalog: Digest,
    /// The policy set.
    pub policy: Digest,
    /// The sandbox image.
    pub image: Digest,
    /// Every other content that it took in: volumes, schemas, lock files, what it fetched.
    pub others: Vec<ResourceDescriptor>,
    /// What else it made.
    pub byproducts: Vec<ResourceDescriptor>,
}

impl Provenance {
    /// What these facts make of it.
    ///
    /// # Errors
    /// [`WordingError`] where a part of them cannot be named.
    pub fn of_run(facts: RunFacts) -> Result<Self, WordingError> {
        let mut resolved_dependencies = Vec::new();
        let known = [
            ("agent", facts.agent.1),
            ("base-revision", facts.base.1),
            ("blueprint", facts.blueprint.1),
            ("catalog", facts.catalog),
            ("image", facts.image),
            ("policy", facts.policy),
            ("profile", facts.profile.1),
        ];
        for (name, digest) in
            known.into_iter().chain(facts.request.map(|digest| ("revision-request", digest)))
        {
            resolved_dependencies.push(ResourceDescriptor::named(Name::new(name)?, digest));
        }
        resolved_dependencies.extend(facts.others);
        let build_definition = BuildDefinition {
            build_type: Uri::new(RUN_BUILD_TYPE)?,
            external_parameters: ExternalParameters {
                blueprint: facts.blueprint.0,
                base_revision: facts.base.0,
                profile: facts.profile.0,
                revision_request: facts.request,
            },
            internal_parameters: InternalParameters {
                agent: facts.agent.0,
                agent_definition: facts.agent.1,
                backend: facts.backend,
                program: facts.program,
            },
            resolved_dependencies,
        };
        let metadata = BuildMetadata {
            invocation_id: facts.run,
            started_on: facts.started,
            finished_on: facts.finished,
        };
        let builder = Builder { id: facts.deployment };
        let run_details = RunDetails { builder, metadata, byproducts: facts.byproducts };
        Ok(Self { build_definition, run_details })
    }
}

impl Predicate for Provenance {
    const TYPE: PredicateType = PredicateType::Provenance;

    fn check(&self) -> Result<(), &'static str> {
        if self.build_definition.build_type.as_str() != RUN_BUILD_TYPE {
            return Err("the build type is none that is read here");
        }
        if self.run_details.metadata.finished_on < self.run_details.metadata.started_on {
            return Err("the run ends before it begins");
        }
        all_refer(&self.build_definition.resolved_dependencies)?;
        all_refer(&self.run_details.byproducts)
    }

    fn deployment(&self) -> Option<&Uri> {
        Some(&self.run_details.builder.id)
    }
}
