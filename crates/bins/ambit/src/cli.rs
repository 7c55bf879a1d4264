mod approvals;
mod backends;
mod documents;
mod export;
mod images;
mod model;
mod oracle;
mod patches;
mod policies;
mod profile_arg;
mod runs;
mod sandboxes;
mod volumes;

use std::path::PathBuf;

use ambit_git_import::Rev;
use ambit_ids::{DocumentName, GateId, OrganizationId, ProjectId, RevisionId};
use clap::{Args, Parser, Subcommand};

use crate::backends::BackendName;

pub(crate) use approvals::{ApproverVerb, CredentialArgs, DecideArgs};
pub(crate) use backends::BackendVerb;
pub(crate) use documents::{BlueprintVerb, CatalogVerb, ProfileVerb};
pub(crate) use export::{ExportArgs, FormArg, MessageArg, OutArg};
pub(crate) use images::{ImageVerb, ImportArgs};
pub(crate) use model::{ModelVerb, UseArgs};
pub(crate) use oracle::{GuardedArgs, OracleVerb, TESTS};
pub(crate) use patches::{AllArg, GroundArgs, PatchVerb, TreeVerb};
pub(crate) use policies::{CallArgs, PolicyVerb};
pub(crate) use profile_arg::ProfileArg;
pub(crate) use runs::{DEFAULT_PROFILE, ReviseArgs, RunVerb, StartArgs};
pub(crate) use sandboxes::{SandboxRunArgs, SandboxScanArgs, SandboxVerb};
pub(crate) use volumes::{KindArg, VolumeVerb};

/// The variable that names the organisation, and the organisation where nothing does.
pub(crate) const ORGANIZATION: (&str, &str) = ("AMBIT_ORG", "local");
/// The variable that names the project, and the project where nothing does.
pub(crate) const PROJECT: (&str, &str) = ("AMBIT_PROJECT", "default");

/// What the exit codes mean, in the words of the README.
const EXIT_CODES: &str = "\
Exit codes:
  0    done; of a run: it completed
  1    something in the program or the machine failed, or nobody drives the run
  2    the command or a document was wrong, or does not fit how things stand
  3    the run ended without its gates passing
  4    the policy denied, a patch was refused, or what must be approved is not
  5    a limit of the budget was reached
  6    a person must decide, and nobody can be asked; the run waits
  7    the run was cancelled
  8    an approval was denied or ran out
  9    the sandbox backend or a capability is not to be had
  10   a trace or an image is refuted, or a revision is not eligible
  11   not found, or not allowed
  12   it could not be verified
  13   something of sandboxes is left that nobody owns
  129  the terminal was closed
  130  interrupted from the keyboard
  131  ended at once from the keyboard
  143  asked to terminate";

/// How a revision is imported.
const IMPORT_USAGE: &str = "ambit revision import [OPTIONS] <DIR>
       ambit revision import [OPTIONS] --git <DIR|URL> [--at <REV>]";

/// Imports as they are written.
const IMPORT_EXAMPLES: &str = "\
Examples:
  ambit revision import .          what stands here, committed or not
  ambit revision import --git .    the commit that is checked out
  ambit revision import --git ../shop --at v2.1
  ambit revision import --git https://example.com/shop.git --at 3f1c2ab";

/// Verifications as they are written.
const VERIFY_EXAMPLES: &str = "\
Exit codes: 0 where every check ran and held, 10 where something is refuted, 12 otherwise.
`ambit-verify` is a program of its own with this verb alone.";

/// Comparisons as they are written.
const DIFF_EXAMPLES: &str = "\
Examples:
  ambit revision diff rev-1 rev-2         what got better or worse in rev-2
  ambit revision diff rev-1 rev-2 --patch | git apply";

/// Runs coding agents as bounded, visible, revisioned jobs.
///
/// An agent only proposes; a policy outside of it decides, gates run in a sandbox without a network, and everything that
/// happened is kept as evidence.
#[derive(Debug, Parser)]
#[command(name = "ambit", version, max_term_width = 100, after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
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
    /// List who may do what in the project, plane by plane.
    Grants,
    /// Begin, check, approve, withdraw and show blueprints.
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
    /// Import, list, compare and export source revisions.
    #[command(subcommand)]
    Revision(RevisionVerb),
    /// Check and apply patches in directories, without a project.
    #[command(subcommand)]
    Patch(PatchVerb),
    /// Say what patches do to tests, checks and guarantees, without a project.
    #[command(subcommand)]
    Oracle(OracleVerb),
    /// Tell the digests of source trees.
    #[command(subcommand)]
    Tree(TreeVerb),
    /// Approve one proposal.
    Approve(DecideArgs),
    /// Deny one proposal.
    Deny(DecideArgs),
    /// List, show and verify evidence.
    #[command(subcommand)]
    Trace(TraceVerb),
    /// Verify an evidence bundle offline: nothing but the bundle and the keys is read.
    Verify(VerifyArgs),
    /// Show what a sandbox backend can do here, and whether it is admitted.
    #[command(subcommand)]
    Backend(BackendVerb),
    /// Run commands in sandboxes by hand. No agent reaches this.
    #[command(subcommand)]
    Sandbox(SandboxVerb),
    /// List the typed tools.
    #[command(subcommand)]
    Tools(ToolsVerb),
    /// Check, test, explain and compare the rules that decide tool calls.
    #[command(subcommand)]
    Policy(PolicyVerb),
    /// Test a blueprint's probes of other kinds of application, without a sandbox.
    #[command(subcommand)]
    Probe(ProbeVerb),
    /// Find out what is missing on this machine, and how to mend it.
    Doctor {
        /// The backend that is looked at, `linux` or `oci:RUNTIME`.
        #[arg(long, env = "AMBIT_BACKEND", value_name = "BACKEND", default_value = "linux")]
        backend: BackendName,
    },
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

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// The repository [default: the one that this directory is in].
    pub(crate) dir: Option<PathBuf>,
    /// Agree to what is proposed and take every default: nothing is asked but a passphrase for a new credential.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Ask for no passphrase: whatever runs as you can then read the new credential, and approve.
    #[arg(long)]
    pub(crate) unsealed: bool,
    /// Write the documents anew in the place of those that are there.
    #[arg(long)]
    pub(crate) replace: bool,
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

#[derive(Debug, Args)]
#[command(override_usage = IMPORT_USAGE, after_help = IMPORT_EXAMPLES)]
pub(crate) struct RevisionImportArgs {
    /// The directory, as it is now.
    #[arg(required_unless_present = "git", conflicts_with = "git")]
    pub(crate) dir: Option<PathBuf>,
    /// The repository of which a commit is imported: the directory that holds `.git`, a bare one, or a URL (file, https,
    /// ssh). Nothing of it is run.
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) git: Option<PathBuf>,
    /// The commit: a branch, a tag, or four or more digits of the commit. A URL needs seven or more, and no name will do.
    #[arg(long, value_name = "REV", default_value = "HEAD", conflicts_with = "dir", requires = "git")]
    pub(crate) at: Rev,
    /// The branch of a URL that is searched first where the URL does not hand out the commit by its digits [default: main].
    #[arg(long, value_name = "BRANCH", conflicts_with = "dir", requires = "git")]
    pub(crate) branch: Option<String>,
    /// Leave submodules out instead of refusing them.
    #[arg(long, conflicts_with = "dir", requires = "git")]
    pub(crate) without_submodules: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RevisionVerb {
    /// Make a directory, or a commit of a git repository, the next revision of the project.
    Import(RevisionImportArgs),
    /// List the revisions.
    Log,
    /// Show a revision.
    Show {
        /// The revision.
        revision: RevisionId,
    },
    /// Compare two revisions: their files, gates and acceptance cases.
    Diff(DiffArgs),
    /// Write a revision for people who live in git: nothing is merged or pushed.
    Export(Box<ExportArgs>),
    /// Derive from the evidence whether a revision may be previewed.
    Eligible {
        /// The revision.
        revision: RevisionId,
    },
}

#[derive(Args, Debug)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The revision to compare with, such as `rev-1`.
    pub(crate) before: RevisionId,
    /// The revision whose gains and losses are told.
    pub(crate) after: RevisionId,
    /// Leave out the lines that differ.
    #[arg(long, conflicts_with = "patch")]
    pub(crate) stat: bool,
    /// Write the patch that leads from BEFORE to AFTER, and nothing else.
    #[arg(long)]
    pub(crate) patch: bool,
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

#[derive(Args, Debug)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// The directory that `run export --out` wrote, or the file of its `--tar`.
    pub(crate) bundle: PathBuf,
    /// The keys that are trusted, from whoever runs Ambit. Those in the bundle never are.
    #[arg(long, value_name = "FILE")]
    pub(crate) trust_root: PathBuf,
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
