//! The verbs of sandboxes, for whoever operates this machine. No agent reaches them.

use std::path::PathBuf;
use std::str::FromStr;

use ambit_ids::{ByteCount, DurationMs, ExecutionLimits, RepoPath};
use clap::{Args, Subcommand, builder::RangedU64ValueParser, value_parser};

use super::{DEFAULT_PROFILE, ProfileArg};
use crate::backends::BackendName;

/// Commands as they are written, and how their ends are told.
const RUN_EXAMPLES: &str = "\
Examples:
  ambit sandbox run --image tools -- python3 -c 'print(1)'
  ambit sandbox run --image tools --workspace . --keep report.json -- python3 check.py
  ambit sandbox run --image tools --workspace . --live -- python3 check.py > seen.json

Exit codes:
  0    it exited with 0, and everything that was to be kept is
  3    it exited otherwise, a signal ended it, it could not be started, or something was not kept
  5    a limit ended it
  9    the backend is not to be had, or does not meet the profile
  1    nobody knows how it ended, or it is not proven that nothing of the sandbox is left
  130  interrupted: the command was ended and its sandbox removed (143 and 129 likewise)";

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxVerb {
    /// Run one command in a fresh sandbox, and print what was seen of it as JSON.
    Run(Box<SandboxRunArgs>),
    /// Look for what is left of sandboxes on this machine, and remove what is provably nobody's.
    Scan(SandboxScanArgs),
}

/// How the ends of a scan are told.
const SCAN_ENDS: &str = "\
Exit codes:
  0    nothing is left but what is in use
  9    the backend is not to be had
  13   something is left that nobody owns, or of which nobody is known to";

#[derive(Args, Debug)]
#[command(after_help = SCAN_ENDS)]
pub(crate) struct SandboxScanArgs {
    /// The backend whose sandboxes are looked for, `linux` or `oci:RUNTIME` [default: linux].
    #[arg(long, env = "AMBIT_BACKEND", value_name = "BACKEND")]
    pub(crate) backend: Option<BackendName>,
    /// Remove what a dead process left and no run that goes on owns, and look again. Nothing else is touched.
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct SandboxRunArgs {
    /// The backend that makes the sandbox, `linux` or `oci:RUNTIME` [default: linux].
    #[arg(long, env = "AMBIT_BACKEND", value_name = "BACKEND")]
    pub(crate) backend: Option<BackendName>,
    /// The image, by name or digest.
    #[arg(long)]
    pub(crate) image: String,
    /// The execution profile that the backend must meet: one that comes with the program, or the file of one.
    #[arg(long, value_name = "PROFILE|FILE", default_value = DEFAULT_PROFILE)]
    pub(crate) profile: ProfileArg,
    /// A directory whose files the command finds in its workspace. They are copied in; nothing comes back but what is
    /// kept.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Where in the workspace the command starts [default: its top].
    #[arg(long, value_name = "PATH")]
    pub(crate) workdir: Option<RepoPath>,
    /// A variable of the command's environment; it has no others.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) environment: Vec<Variable>,
    /// A file of the workspace that is kept afterwards, as a blob of at most 64 MiB. One that is not there is no success.
    #[arg(long, value_name = "PATH")]
    pub(crate) keep: Vec<RepoPath>,
    /// A new directory for both streams, whole, and below `kept` for the files that were kept.
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Show its output on standard error while it runs, each row marked `out |` or `err |`. Standard output stays the JSON.
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// The program and its arguments. No shell reads them.
    #[arg(last = true, required = true, value_name = "ARGV")]
    pub(crate) argv: Vec<String>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Memory of all its processes together.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = up_to(256 << 10))]
    memory_mib: u64,
    /// Processes and threads at any one time.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = value_parser!(u32).range(1..=32_768))]
    pids: u32,
    /// Processor time at any one moment, in thousandths of a processor.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = value_parser!(u32).range(10..=1_024_000))]
    cpu_millis: u32,
    /// Processor time in all.
    #[arg(long, value_name = "N", default_value_t = 120_000, value_parser = up_to(86_400_000))]
    cpu_ms: u64,
    /// Time by the clock.
    #[arg(long, value_name = "N", default_value_t = 60_000, value_parser = up_to(86_400_000))]
    wall_ms: u64,
    /// What it writes to the workspace and to its temporary volume, each.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = up_to(1 << 20))]
    disk_mib: u64,
    /// Standard output and standard error together.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = up_to(1 << 20))]
    output_kib: u64,
}

fn up_to(most: u64) -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=most)
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> ExecutionLimits {
        ExecutionLimits {
            memory_bytes: ByteCount::new(self.memory_mib << 20),
            processes: self.pids,
            cpu_millis: self.cpu_millis,
            cpu_time_ms: DurationMs::new(self.cpu_ms),
            wall_ms: DurationMs::new(self.wall_ms),
            disk_bytes: ByteCount::new(self.disk_mib << 20),
            output_bytes: ByteCount::new(self.output_kib << 10),
        }
    }
}

/// A variable and its value.
#[derive(Clone, Debug)]
pub(crate) struct Variable(pub(crate) String, pub(crate) String);

/// A text that sets no variable.
#[derive(Debug, thiserror::Error)]
#[error("a variable is written NAME=VALUE, and neither part holds a NUL")]
pub(crate) struct NoVariable;

impl FromStr for Variable {
    type Err = NoVariable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !text.contains('\0') => {
                Ok(Self(name.to_owned(), value.to_owned()))
            }
            _ => Err(NoVariable),
        }
    }
}
