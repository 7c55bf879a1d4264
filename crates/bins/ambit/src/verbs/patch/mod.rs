//! Patches and directories, without a home or a project.

mod decide;
mod given;
mod judgeable;
pub(super) mod page;
mod verdict;
mod write;

use crate::answer::Answer;
use crate::cli::PatchVerb;
use crate::failure::Failure;
use decide::{Asked, decide};
use given::Given;
pub(super) use judgeable::{Judgeable, Unjudged, judgeable};

/// What is asked of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Whether it applies.
    Check,
    /// That it is applied.
    Apply,
    /// What is to be thought of it.
    Judge,
}

impl Aim {
    /// The verdict on a patch that fits the directory.
    const fn verdict(self) -> &'static str {
        match self {
            Self::Check | Self::Judge => "applies",
            Self::Apply => "applied",
        }
    }

    /// What became of the command where something could not be read.
    const fn kept(self) -> &'static str {
        match self {
            Self::Check => "the patch was not checked",
            Self::Judge => "the patch was not judged",
            Self::Apply => "the patch was not applied, and nothing was written",
        }
    }
}

pub(crate) fn run(verb: &PatchVerb, json: bool) -> Result<Answer, Failure> {
    match verb {
        PatchVerb::Check { ground, tree } => {
            let given = Given::read(&ground.patch, Aim::Check)?;
            let asked = Asked { ground, aim: Aim::Check, wants_tree: *tree };
            Ok(decide(&asked, &given)?.verdict.answer(json))
        }
        PatchVerb::Apply { ground, tree, out, changed_only } => {
            let given = Given::read(&ground.patch, Aim::Apply)?;
            let asked = Asked { ground, aim: Aim::Apply, wants_tree: *tree || !changed_only };
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
