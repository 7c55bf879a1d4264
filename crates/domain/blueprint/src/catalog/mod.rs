//! The catalog of named commands: what a gate's name means, fixed before any agent runs.

mod environment;
mod output;
mod read;
mod report;
mod resources;
mod unit;

use ambit_ids::{Digest, GateId, MicroUsd, RepoPath, VolumeMount, vocabulary};
use serde::Serialize;

pub use environment::{Environment, EnvironmentName, EnvironmentNameError};
pub use output::CommandOutput;
pub use report::CommandReport;
pub use resources::CommandResources;

use crate::envelope::{DocumentKind, Metadata, document};
use crate::one_word_name::FixtureName;

/// The commands that gates name. An agent chooses a name and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCommandCatalog {
    /// Its name and version, as `policyRefs.commands` spells them.
    pub metadata: Metadata,
    /// The commands.
    pub spec: CatalogSpec,
}

/// The commands of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CatalogSpec {
    /// The commands, each with its own id.
    pub commands: Vec<CatalogCommand>,
}

/// One command, complete: nothing of it is taken from an agent, from the host or from a running sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogCommand {
    /// The gate that it is.
    pub id: GateId,
    /// What it checks, for people.
    pub summary: String,
    /// The program and its arguments, passed as they are. There is no shell unless one is named here.
    pub argv: Vec<String>,
    /// The image that it runs in. Only a digest names one.
    pub image: Digest,
    /// The whole environment of the command.
    pub environment: Environment,
    /// The working directory within the workspace; `None` is its top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workdir: Option<RepoPath>,
    /// What it may use.
    pub resources: CommandResources,
    /// What one execution costs the run.
    #[serde(rename = "costMicroUsd")]
    pub cost: MicroUsd,
    /// The files and directories that are kept from its workspace after it ended.
    pub outputs: Vec<CommandOutput>,
    /// Directories of the base revision that are mounted read-only below `/fixtures`.
    pub fixtures: Vec<CommandFixture>,
    /// The volumes that it finds below `/volumes`, read-only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<VolumeMount>,
    /// What decides whether it passed.
    pub verdict: CommandVerdict,
    /// What its runner reports for machines. It can take a pass away, and give none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<CommandReport>,
}

/// Synthetic data that a command finds beside its workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandFixture {
    /// The name under `/fixtures`.
    pub name: FixtureName,
    /// The directory of the base revision that it is taken from. A patch does not change it.
    pub from: RepoPath,
}

vocabulary!(
    /// What decides whether a command passed. There is no word for the judgement of a model.
    CommandVerdict {
        /// Exit code 0, read from the wait status.
        ExitStatus = "exit-status",
    }
);

document!(NamedCommandCatalog, DocumentKind::NamedCommandCatalog);

impl NamedCommandCatalog {
    /// The command of this name.
    #[must_use]
    pub fn command(&self, id: &GateId) -> Option<&CatalogCommand> {
        self.spec.commands.iter().find(|command| command.id == *id)
    }
}
