mod documents;
mod model;
mod profile_arg;
mod volumes;

use std::path::PathBuf;

use ambit_ids::{
    ApproverId, BlueprintId, CaseId, Digest, DocumentName, GateId, ImageName, MicroUsd, OrganizationId,
    ProjectId, ProposalId, RevisionId, RunName,
};
use ambit_images::Platform;
use clap::{Args, Parser, Subcommand};

pub(crate) use documents::{BlueprintVerb, CatalogVerb, ProfileVerb};
pub(crate) use model::{ModelVerb, UseArgs};
pub(crate) use profile_arg::ProfileArg;
pub(crate) use volumes::{KindArg, VolumeVerb};

/// The variable that names the organisation, and the organisation where nothing does.
pub(crate) const ORGANIZATION: (&str, &str) = ("AMBIT_ORG", "local");
/// The variable that names the project, and the project where nothing does.
pub(crate) const PROJECT: (&str, &str) = ("AMBIT_PROJECT", "default");

/// Runs coding agents as bounded, visible, revisioned jobs.
///
/// An agent only proposes; a policy outside of it decides, gates run in a sandbox without a network, and everything that
/// happened is kept as evidence.
#[derive(Debug, Parser)]
#[command(name = "ambit", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Answer in JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing while working.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Never wait for a person: a run that needs one is left waiting, and can be driven on once the person decided.
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Where state is kept [default: $AMBIT_HOME, or ambit in the user's data directory].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The organisation.
    #[arg(long, global = true, env = ORGANIZATION.0, default_value = ORGANIZATION.1, value_name = "ORG")]
    pub(crate) org: OrganizationId,
    /// The project [default: the one of the repository that this is, or `default`].
    #[arg(long, global = true, env = PROJECT.0, value_name = "PROJECT")]
    pub(crate) project: Option<ProjectId>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Look at a repository, and propose what runs on it may do.
    Init(InitArgs),
    /// Say who may approve.
    #[command(subcommand)]
    Approver(ApproverVerb),
    /// Begin, check, approve and show blueprints.
    #[command(subcommand)]
    Blueprint(BlueprintVerb),
    /// List, show and check execution profiles.
    #[command(subcommand)]
    Profile(ProfileVerb),
    /// List and show the commands that gates name.
    #[command(subcommand)]
    Catalog(CatalogVerb),
    /// Capture, import, show, verify and remove sandbox images.
    #[command(subcommand)]
    Image(ImageVerb),
    /// Capture, list and verify volumes: the packages that gates find offline.
    #[command(subcommand)]
    Volume(VolumeVerb),
    /// Start, watch and end runs.
    #[command(subcommand)]
    Run(RunVerb),
    /// Say which model answers where no agent is named.
    #[command(subcommand)]
    Model(ModelVerb),
    /// Show what a gate said.
    #[command(subcommand)]
    Gate(GateVerb),
    /// Import, list and compare source revisions.
    #[command(subcommand)]
    Revision(RevisionVerb),
    /// Approve one proposal.
    Approve(DecideArgs),
    /// Deny one proposal.
    Deny(DecideArgs),
    /// List, show and verify evidence.
    #[command(subcommand)]
    Trace(TraceVerb),
    /// Show what the sandbox backend can do here.
    #[command(subcommand)]
    Backend(BackendVerb),
    /// List the typed tools.
    #[command(subcommand)]
    Tools(ToolsVerb),
    /// Test a blueprint's probes of other kinds of application, without a sandbox.
    #[command(subcommand)]
    Probe(ProbeVerb),
    /// Find out what is missing on this machine, and how to mend it.
    Doctor,
    /// Give editors the JSON Schemas of the documents.
    #[command(subcommand)]
    Schema(SchemaVerb),
    /// Write what a shell needs to complete command lines.
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    Man {
        /// The directory, which is made where there is none.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Play the whole story on the example application.
    Lab(LabArgs),
    /// Try the four attacks that must never work.
    Smoke,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApproverVerb {
    /// Make a credential and register who holds it. It is shown once and kept nowhere.
    Init {
        /// The name of the person.
        #[arg(long, default_value = "approver")]
        name: ApproverId,
        /// Write the credential to this new file instead of showing it.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct CredentialArgs {
    /// The file with the approver's credential; without it, it is asked for at the terminal.
    #[arg(long, value_name = "FILE")]
    pub(crate) credential_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImageVerb {
    /// Take tools of this machine, with everything they need, into an image.
    Capture {
        /// The name of the image.
        #[arg(long)]
        name: ImageName,
        /// Tools, by name or absolute path.
        #[arg(required = true)]
        tools: Vec<String>,
    },
    /// Take somebody else's image: an OCI image layout, or a tar of a root file system.
    Import(ImportArgs),
    /// List the images of this machine.
    List,
    /// Show what is in an image, and where it came from.
    Show {
        /// The image, by name or digest.
        image: String,
    },
    /// Read every byte of an image, and hold it against its digest.
    Verify {
        /// The image, by name or digest [default: all of them].
        image: Option<String>,
        /// Verify all of them.
        #[arg(long, conflicts_with = "image")]
        all: bool,
    },
    /// Remove images that have no name and that no catalog and no open run of any project needs.
    Prune {
        /// Also those that have a name.
        #[arg(long)]
        unused: bool,
        /// Only tell what would be removed.
        #[arg(long)]
        dry_run: bool,
        /// Remove without asking.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The name of the image.
    #[arg(long)]
    pub(crate) name: ImageName,
    /// The platform, of an image for several [default: this machine's].
    #[arg(long, value_name = "OS/ARCH")]
    pub(crate) platform: Option<Platform>,
    /// What the layout calls the image, where it has several.
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// The directory of a layout, or the tar of one or of a root file system, which may be compressed with gzip.
    pub(crate) source: PathBuf,
}

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
pub(crate) struct InitArgs {
    /// The repository [default: the one that this directory is in].
    pub(crate) dir: Option<PathBuf>,
    /// Agree to what is proposed and take every default: nothing is asked.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Write the documents anew in the place of those that are there.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StartArgs {
    /// What is to be reached, in words, in the repository that this is. With --blueprint: a name for the run.
    #[arg(value_name = "GOAL|NAME")]
    pub(crate) words: Option<String>,
    /// A name for the run of a goal. Starting twice under one name is one run.
    #[arg(long, conflicts_with = "blueprint")]
    pub(crate) name: Option<RunName>,
    /// Agree to what a goal needs before its run can start: nothing is asked.
    #[arg(long, short, conflicts_with = "blueprint")]
    pub(crate) yes: bool,
    /// The approved blueprint, in the place of a goal.
    #[arg(long, requires_all = ["base", "agent"])]
    pub(crate) blueprint: Option<BlueprintId>,
    /// The digest of the blueprint that is meant [default: the newest that is registered].
    #[arg(long, requires = "blueprint")]
    pub(crate) digest: Option<Digest>,
    /// The revision to start from, or a directory to import first.
    #[arg(long, requires = "blueprint", value_name = "REV|DIR")]
    pub(crate) base: Option<String>,
    /// The catalog of commands to register first.
    #[arg(long, requires = "blueprint", value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// The execution profile, or the file of one to register first (with a `/`, or ending in .yaml, .yml or .json).
    #[arg(long, requires = "blueprint", value_name = "PROFILE|FILE", default_value = "secure-generation-v1")]
    pub(crate) profile: ProfileArg,
    /// The agent [default, of a goal: agent.yaml in the user's configuration of ambit].
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum GateVerb {
    /// Show an execution of a gate.
    Show {
        /// The run, by name or id.
        run: String,
        /// The gate.
        gate: GateId,
        /// Which execution, counted from 1 [default: the newest].
        #[arg(long)]
        attempt: Option<u32>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RevisionVerb {
    /// Make a directory the next revision of the project.
    Import {
        /// The directory.
        dir: PathBuf,
    },
    /// List the revisions.
    Log,
    /// Show a revision.
    Show {
        /// The revision.
        revision: RevisionId,
    },
    /// Compare two revisions.
    Diff {
        /// The one.
        before: RevisionId,
        /// The other.
        after: RevisionId,
    },
    /// Derive from the evidence whether a revision may be previewed.
    Eligible {
        /// The revision.
        revision: RevisionId,
    },
}

#[derive(Args, Debug)]
pub(crate) struct DecideArgs {
    /// The proposal.
    pub(crate) proposal: ProposalId,
    /// The digest of what was seen.
    #[arg(long)]
    pub(crate) digest: Digest,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceVerb {
    /// List the records of the project, or its refusals and denials.
    List {
        /// Only denials and refusals, of all runs too.
        #[arg(long)]
        denials: bool,
    },
    /// Show the records of a run.
    Show {
        /// The run, by name or id.
        run: String,
    },
    /// Verify a run, or all of the project.
    Verify {
        /// The run, by name or id.
        run: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackendVerb {
    /// Measure the backend and show what was found.
    Inspect,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsVerb {
    /// List the typed tools with their contracts.
    List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProbeVerb {
    /// Run the probes of a blueprint.
    Run {
        /// The blueprint.
        #[arg(value_name = "FILE")]
        archetypes: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchemaVerb {
    /// List the kinds of documents.
    List,
    /// Show the schema of a kind.
    Show {
        /// The kind, as a document names it.
        kind: String,
    },
    /// Write all of them to a directory.
    Write {
        /// The directory, which is made where there is none.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct LabArgs {
    /// Keep everything that the lab produced in this new directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The execution profile [default: secure-generation-v1, or laptop-v1 where this machine cannot limit a sandbox as a
    /// whole].
    #[arg(long)]
    pub(crate) profile: Option<DocumentName>,
    /// Leave the seeded bug out, so that the story does not hold.
    #[arg(long, hide = true)]
    pub(crate) without_bug: bool,
}
