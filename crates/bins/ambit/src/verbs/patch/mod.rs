//! Patches and directories, without a home or a project.

mod decide;
mod given;
pub(super) mod page;
mod verdict;
mod write;

use crate::answer::Answer;
use crate::cli::PatchVerb;
use crate::failure::Failure;
use decide::{Asked, decide};
use given::Given;

/// What is asked of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Whether it applies.
    Check,
    /// That it is applied.
    Apply,
}

impl Aim {
    /// The verdict on a patch that fits the directory.
    const fn verdict(self) -> &'static str {
        match self {
            Self::Check => "applies",
            Self::Apply => "applied",
        }
    }

    /// What became of the command where something could not be read.
    const fn kept(self) -> &'static str {
        match self {
            Self::Check => "the patch was not checked",
            Self::Apply => "the patch was not applied, and nothing was written",
        }
    }
}

pub(crate) fn run(verb: &PatchVerb, json: bool) -> Result<Answer, Failure> {
    match verb {
        PatchVerb::Check { ground } => {
            let given = Given::read(&ground.patch, Aim::Check)?;
            let asked = Asked { ground, aim: Aim::Check, wants_tree: ground.tree };
            Ok(decide(&asked, &given)?.verdict.answer(json))
        }
        PatchVerb::Apply { ground, out, changed_only } => {
            let given = Given::read(&ground.patch, Aim::Apply)?;
            let asked = Asked { ground, aim: Aim::Apply, wants_tree: ground.tree || !changed_only };
            let decided = decide(&asked, &given)?;
            let mut verdict = decided.verdict;
            if let Some(outcome) = decided.outcome {
                write::write(outcome, &ground.base, out, *changed_only)?;
                verdict = verdict.written_to(out, *changed_only);
            }
            Ok(verdict.answer(json))
        }
    }
}
