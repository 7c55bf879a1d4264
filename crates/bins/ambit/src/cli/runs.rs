//! The verbs of runs.

use std::path::PathBuf;

use ambit_ids::{BlueprintId, CaseId, Digest, MicroUsd, RunName};
use clap::{Args, Subcommand};

use super::ProfileArg;
use crate::backends::BackendName;

/// The profile of a run whose start names none.
pub(crate) const DEFAULT_PROFILE: &str = "secure-generation-v1";

/// What only a run of a blueprint takes. Nothing is required of an option that conflicts with what is there, so that each
/// is named.
const OF_BLUEPRINT: [&str; 6] = ["blueprint", "digest", "base", "catalog", "profile", "request"];

#[derive(Debug, Subcommand)]
pub(crate) enum RunVerb {
    /// Start a run and stay with it until it is over.
    Start(Box<StartArgs>),
    /// List the runs of the project.
    List,
    /// Show a run.
    Show {
        /// The run, by name or id.
        run: String,
    },
    /// Watch a run until it is over.
    Watch {
        /// The run, by name or id.
        run: String,
    },
    /// End a run.
    Cancel {
        /// The run, by name or id.
        run: String,
    },
    /// Drive on a run whose process ended.
    Resume {
        /// The run, by name or id.
        run: String,
        /// The agent that the run was started with [default: agent.yaml in the user's configuration of ambit].
        #[arg(long, value_name = "FILE")]
        agent: Option<PathBuf>,
    },
    /// Ask for a change of a run's revision, within a case of the same blueprint.
    Revise(ReviseArgs),
    /// Name the records and artifacts that show each item of the completion checklist.
    Checklist {
        /// The run, by name or id.
        run: String,
    },
    /// Write everything about a run to a new directory.
    Export {
        /// The run, by name or id.
        run: String,
        /// The directory, which must not exist.
        #[arg(long, short, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct StartArgs {
    /// What is to be reached, in words, in the repository that this is. With --blueprint: a name for the run.
    #[arg(value_name = "GOAL|NAME")]
    pub(crate) words: Option<String>,
    /// A name for the run of a goal. Starting twice under one name is one run.
    #[arg(long, conflicts_with_all = OF_BLUEPRINT)]
    pub(crate) name: Option<RunName>,
    /// Agree to what a goal needs before its run can start: nothing is asked.
    #[arg(long, short, conflicts_with_all = OF_BLUEPRINT)]
    pub(crate) yes: bool,
    /// The approved blueprint, in the place of a goal.
    #[arg(long, requires = "base")]
    pub(crate) blueprint: Option<BlueprintId>,
    /// The digest of the blueprint that is meant [default: the newest that is registered].
    #[arg(long, requires = "blueprint")]
    pub(crate) digest: Option<Digest>,
    /// The revision that a blueprint starts from, or a directory to import first. A goal starts from the work tree.
    #[arg(long, requires = "blueprint", value_name = "REV|DIR")]
    pub(crate) base: Option<String>,
    /// The catalog of commands to register first.
    #[arg(long, requires = "blueprint", value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// The execution profile, or the file of one to register first (with a `/`, or ending in .yaml, .yml or .json).
    #[arg(long, requires = "blueprint", value_name = "PROFILE|FILE", default_value = DEFAULT_PROFILE)]
    pub(crate) profile: ProfileArg,
    /// The agent [default: agent.yaml in the user's configuration of ambit].
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// The backend that makes the sandbox, `linux` or `oci:RUNTIME`, for the whole life of the run [default: linux].
    #[arg(long, env = "AMBIT_BACKEND", value_name = "BACKEND")]
    pub(crate) backend: Option<BackendName>,
    /// The most model steps.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
    /// The most money, in US dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost_usd: Option<MicroUsd>,
    /// The revision request that the run answers.
    #[arg(long, requires = "blueprint", value_name = "DIGEST")]
    pub(crate) request: Option<Digest>,
}

#[derive(Args, Debug)]
pub(crate) struct ReviseArgs {
    /// The run whose revision is to be changed, by name or id.
    pub(crate) run: String,
    /// What is wanted.
    pub(crate) text: String,
    /// The acceptance case that it belongs to.
    #[arg(long)]
    pub(crate) case: CaseId,
}
