//! The verb that says what a patch does to tests, checks and guarantees.

use ambit_ids::PathPattern;
use clap::{Args, Subcommand};

use super::GroundArgs;

/// What counts as a test file where nobody says it.
pub(crate) const TESTS: [&str; 11] = [
    "**/tests/**",
    "**/test/**",
    "**/__tests__/**",
    "**/spec/**",
    "**/test_*.py",
    "**/*_test.py",
    "**/*_test.go",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*Test.java",
    "**/*Tests.java",
];

/// What the verb answers.
const ANSWER: &str = "\
The answer is a page at a terminal, and one JSON object elsewhere or with --json: `verdict` is what the built-in policy of \
runs answers to the patch (allow, needs-approval, deny-call, deny-terminating), `facts` are what it answers to, and `rules` \
say why and what is possible instead. A patch that cannot be judged is refused: it does not apply, or stands there already. \
The exit code is 0 where the policy allows the patch, 4 where it does not or the patch is refused, and 2 where the command \
is wrong.

Examples:
  git diff main | ambit oracle check --base ../shop -
  ambit oracle check --base . --protect 'golden/**' answer.txt";

#[derive(Debug, Subcommand)]
pub(crate) enum OracleVerb {
    /// Say whether a patch weakens what decides whether work is done. Nothing is written, no project is needed.
    #[command(after_help = ANSWER)]
    Check {
        #[command(flatten)]
        ground: GroundArgs,
        #[command(flatten)]
        guarded: GuardedArgs,
    },
}

/// What is said of paths.
#[derive(Args, Debug)]
pub(crate) struct GuardedArgs {
    /// Paths that no patch may touch, beside those that are always protected. May be given more than once.
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    pub(crate) protect: Vec<PathPattern>,
    /// Test files. May be given more than once [default: tests and specs by the names that runners look for].
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    pub(crate) tests: Vec<PathPattern>,
}

fn pattern(text: &str) -> Result<PathPattern, String> {
    PathPattern::new(text).map_err(|error| error.to_string())
}
