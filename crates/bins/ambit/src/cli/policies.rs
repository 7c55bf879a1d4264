//! The verbs of policies, which need no home and no project.

use std::path::PathBuf;
use std::str::FromStr;

use ambit_policy::{Capability, FactKind, ToolName};
use clap::{Args, Subcommand};

/// How bundles are named, and what the verbs end with.
const ANSWER: &str = "\
A bundle is a file, or the reference of one that comes along: policy://generation-tools/v2.

Examples:
  ambit policy check policy://generation-tools/v2 --cedar
  ambit policy test rules.yaml cases.yaml
  ambit policy explain rules.yaml apply_project_patch --fact dependency-added
  ambit policy diff policy://generation-tools/v1 policy://generation-tools/v2";

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Check a bundle: its form, its policies in Cedar, its own examples, and that what must be denied is.
    #[command(after_help = ANSWER)]
    Check {
        /// The bundle.
        bundle: String,
        /// Show the policies, those around every bundle included, as Cedar text.
        #[arg(long)]
        cedar: bool,
    },
    /// Decide the examples of a bundle, and cases of one's own. The exit code is 3 where one comes out otherwise.
    #[command(after_help = ANSWER)]
    Test {
        /// The bundle.
        bundle: String,
        /// A file with `cases`, each an example of a rule, and `by` with the rules that must determine it.
        cases: Option<PathBuf>,
    },
    /// Say what a bundle answers to a call, by which rules, why, and what is possible instead. The exit code is 4 where the
    /// call may not proceed.
    #[command(after_help = ANSWER)]
    Explain {
        /// The bundle.
        bundle: String,
        #[command(flatten)]
        call: CallArgs,
    },
    /// Compare what two bundles answer. The exit code is 4 where the new one lets more through.
    #[command(after_help = ANSWER)]
    Diff {
        /// The bundle as it was.
        old: String,
        /// The bundle as it would be.
        new: String,
    },
}

/// A call, by what rules look at.
#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    /// The tool that is called.
    #[arg(value_parser = tool)]
    pub(crate) tool: ToolName,
    /// The kind of a fact that is true of the call; once for each.
    #[arg(long = "fact", value_name = "KIND", value_parser = fact)]
    pub(crate) facts: Vec<FactKind>,
    /// What `request_scoped_approval` asks for.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    pub(crate) asked: Option<Capability>,
    /// What was approved for exactly this call.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    pub(crate) approved: Option<Capability>,
}

fn tool(text: &str) -> Result<ToolName, String> {
    word(text, ToolName::ALL.iter().map(|word| word.as_str()))
}

fn fact(text: &str) -> Result<FactKind, String> {
    word(text, FactKind::ALL.iter().map(|word| word.as_str()))
}

fn capability(text: &str) -> Result<Capability, String> {
    word(text, Capability::ALL.iter().map(|word| word.as_str()))
}

fn word<W: FromStr>(text: &str, known: impl Iterator<Item = &'static str>) -> Result<W, String> {
    text.parse().map_err(|_| format!("it is one of {}", known.collect::<Vec<_>>().join(", ")))
}
